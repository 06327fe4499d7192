import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../compiler/format/canonical.ts';
import {
  COLLECTIONS,
  DEMAND_FIELDS,
  DEMAND_MODEL_SINCE,
  isRosterKind,
  type RosterKind,
  rosterCore,
  rosterCoreFields,
  rosterKindOf,
  rosterSubject,
  serviceId,
  trustModel,
} from '../../../compiler/products/collections.ts';
import { sha256Text } from '../../snapshot-folder.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 2000);
const KINDS = COLLECTIONS.map(({ id }) => id).filter(isRosterKind);
const coreOf = (kind: RosterKind): string[] => rosterCoreFields(kind).fields.slice(1);

type Row = Readonly<Record<string, unknown>>;

/** Values that are easily taken for each other, and pairs that are the same in another spelling. */
const near = fc.constantFrom<unknown>(
  null,
  '',
  '0',
  0,
  -0,
  1,
  1.0,
  '1',
  1e21,
  100,
  1e2,
  true,
  'true',
  'é',
  'e\u0301',
  'a',
  'A',
  'a ',
  { a: 1, b: 2 },
  { b: 2, a: 1 },
  { a: 1 },
  [1, 2],
  [2, 1],
  [],
  {},
  '\u2028',
  '\ud83d\ude00',
);

function rowOf(kind: RosterKind): fc.Arbitrary<Row> {
  const names = [...coreOf(kind), ...(kind === 'trust.service' ? DEMAND_FIELDS : [])];
  const model = fc.constantFrom('demand-v1', 'legacy-registry');
  return fc
    .record(Object.fromEntries(names.map((name) => [name, near])))
    .chain((row) => model.map((word) => ('model' in row ? { ...row, model: word } : row)));
}

const hashed = (kind: RosterKind, row: Row): string =>
  sha256Text(canonicalJson(rosterCore(kind, row)));

/** The core as JSON means it: -0 is 0, and the order of members says nothing. */
const meaning = (kind: RosterKind, row: Row): unknown =>
  JSON.parse(JSON.stringify(rosterCore(kind, row)));

describe('rosterCore()', () => {
  it.each(KINDS)('I36: %s: rows share a hash exactly when their facts are equal', (kind) => {
    const changed = fc.tuple(rowOf(kind), fc.nat(), near).map(([row, at, value]) => {
      const names = Object.keys(row);
      return [row, { ...row, [names[at % names.length] ?? '']: value }] as const;
    });
    fc.assert(
      fc.property(changed, ([a, b]) => {
        const equal = isDeepStrictEqual(meaning(kind, a), meaning(kind, b));
        expect(hashed(kind, a) === hashed(kind, b)).toBe(equal);
      }),
      { numRuns: RUNS },
    );
  });

  it('I36: rows of two kinds never share a hash', () => {
    const pairs = fc
      .tuple(fc.constantFrom(...KINDS), fc.constantFrom(...KINDS))
      .filter(([a, b]) => a !== b)
      .chain(([a, b]) => fc.tuple(fc.constant(a), fc.constant(b), rowOf(a), rowOf(b)));
    fc.assert(
      fc.property(pairs, ([a, b, rowA, rowB]) => {
        const both = { ...rowA, ...rowB };
        expect(hashed(a, both)).not.toBe(hashed(b, both));
      }),
      { numRuns: RUNS },
    );
  });

  it.each(KINDS)('I36: %s: the order of members and what is not hashed say nothing', (kind) => {
    fc.assert(
      fc.property(rowOf(kind), (row) => {
        const turned = Object.fromEntries(Object.entries(row).reverse());
        const more = { ...turned, name: 'x', lifecycle: {}, data_age_hours: 9, note: 'y' };
        expect(hashed(kind, more)).toBe(hashed(kind, row));
      }),
      { numRuns: RUNS / 10 },
    );
  });

  it.each(KINDS)('%s: names a member that is missing, and keeps null', (kind) => {
    const names = coreOf(kind);
    const row = Object.fromEntries(names.map((name) => [name, null]));
    expect(rosterCore(kind, row)).toEqual({ hash_core_version: 3, ...row });
    for (const name of names) {
      const { [name]: gone, ...rest } = row;
      expect(() => rosterCore(kind, rest)).toThrow(`"${name}" is missing`);
      expect(rosterKindOf(rest)).not.toBe(kind);
    }
    expect(rosterKindOf(row)).toBe(kind);
  });

  it('hashes demand of demand-v1 rows only', () => {
    const base = Object.fromEntries(coreOf('trust.service').map((name) => [name, null]));
    const demand = Object.fromEntries(DEMAND_FIELDS.map((name) => [name, 1]));
    const now = rosterCore('trust.service', { ...base, ...demand, model: 'demand-v1' });
    expect(now).toMatchObject(demand);
    const old = rosterCore('trust.service', { ...base, ...demand, model: 'legacy-registry' });
    expect(old).not.toHaveProperty('demand_class');
    expect(() => rosterCore('trust.service', { ...base, model: 'demand-v1' })).toThrow('calls_30d');
  });

  it('have identities of their own', () => {
    const identities = KINDS.map((kind) => coreOf(kind)[0]);
    expect(new Set(identities).size).toBe(KINDS.length);
    for (const kind of KINDS) {
      for (const other of KINDS.filter((each) => each !== kind)) {
        expect(coreOf(other)).not.toContain(coreOf(kind)[0]);
      }
    }
  });
});

describe('trustModel()', () => {
  it('changes on the day and not before', () => {
    expect(trustModel('2026-08-15')).toBe('legacy-registry');
    expect(trustModel(DEMAND_MODEL_SINCE)).toBe('demand-v1');
  });
});

describe('serviceId()', () => {
  it('spells dots as hyphens', () => {
    expect(serviceId('food.memory-api.org')).toBe('food-memory-api-org');
  });
});

describe('rosterSubject()', () => {
  it('is the identity of a row, and null for the core of a signal', () => {
    expect(rosterSubject({ server_id: 'a' })).toBe('a');
    expect(rosterSubject({ signal_id: 'a.b', entity: 'c' })).toBeNull();
  });
});
