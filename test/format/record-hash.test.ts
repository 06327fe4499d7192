import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../compiler/format/canonical.ts';
import {
  CORE_FIELDS,
  HASH_CORE_VERSION,
  type HashedRecord,
  hashCore,
  RECORD_HASH,
  recordHashText,
  SOURCE_CORE_FIELDS,
} from '../../compiler/format/record-hash.ts';
import { parseJson } from '../../compiler/format/strict-json.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 2000);

interface Row {
  readonly comment: string;
  readonly input: HashedRecord;
  readonly want?: { readonly core: string; readonly record_hash: string };
  readonly error?: string;
}
const ROWS = JSON.parse(readFileSync('test/vectors/record-hash.json', 'utf8')) as Row[];

describe('hashCore() on the vectors', () => {
  it.each(ROWS)('$comment', ({ input, want, error }) => {
    if (want === undefined) {
      expect(() => hashCore(input)).toThrow(TypeError);
      expect(() => hashCore(input)).toThrow(error);
      return;
    }
    const core = canonicalJson(hashCore(input));
    expect(core).toBe(want.core);
    expect(recordHashText(bytesToHex(sha256(utf8ToBytes(core))))).toBe(want.record_hash);
  });
  it('I36: rows called same share one hash, every other row has its own', () => {
    const hashes = (kind: string) =>
      ROWS.filter((row) => row.comment.startsWith(kind)).map((row) => row.want?.record_hash);
    expect(new Set(hashes('same')).size).toBe(1);
    expect(new Set([...hashes('same'), ...hashes('other')]).size).toBe(hashes('other').length + 1);
  });
});

describe('hashCore()', () => {
  const base = ROWS[0]?.input as HashedRecord;
  it('lists its members in the order of CORE_FIELDS', () => {
    expect(Object.keys(hashCore(base))).toEqual([...CORE_FIELDS]);
    expect(hashCore(base).hash_core_version).toBe(HASH_CORE_VERSION);
  });
  it('reduces a source to SOURCE_CORE_FIELDS', () => {
    const full = { name: 'a', weight: 1, independent: true, relay_of: 'b', value: 1, role: 'c' };
    const { sources } = hashCore({ ...base, sources: [full] });
    expect(Object.keys((sources as object[])[0] ?? {})).toEqual([...SOURCE_CORE_FIELDS]);
  });
  it('refuses a member that is only inherited', () => {
    expect(() => hashCore(Object.create(base) as HashedRecord)).toThrow('"signal_id" is missing');
  });
  it('refuses a member that is undefined', () => {
    expect(() => hashCore({ ...base, lifecycle: undefined })).toThrow('"lifecycle" is missing');
    expect(hashCore({ ...base, lifecycle: null }).lifecycle).toBe(null);
  });
  it('leaves the record as it was', () => {
    const before = structuredClone(base);
    hashCore(base);
    expect(base).toEqual(before);
  });
});

describe('recordHashText()', () => {
  const hex = '0f'.repeat(32);
  it('writes a digest in the spelling of RECORD_HASH', () => {
    expect(recordHashText(hex)).toBe(`sha256:${hex}`);
    expect(RECORD_HASH.test(recordHashText(hex))).toBe(true);
  });
  it.each([hex.toUpperCase(), hex.slice(1), `${hex}0`, `${hex}\n`, `x${hex.slice(1)}`, ''])(
    'I30: refuses %j',
    (digest) => {
      expect(() => recordHashText(digest)).toThrow(TypeError);
    },
  );
});

describe('laws', () => {
  const near = fc.constantFrom<unknown>(
    ...[0, -0, 1, 1.5, 1e-7, 13.6, 13.600000000000001, '0', '1', '13.6', '', null, true, 'null'],
    ...['\u00e9', 'e\u0301', '\u212b', '\u00c5', 'A', 'a', ' a', 'a ', '\uffff', '😀', '[]', '{}'],
    ...[[], {}, [[]], [{}], [0, 1], [1, 0], { a: 1, b: 2 }, { b: 2, a: 1 }, { a: null }, [null]],
  );
  const name = fc.constantFrom('a', 'b', 'A', '\u00e9', 'e\u0301', '');
  const any = fc.oneof(near, fc.dictionary(name, near, { noNullPrototype: true }), fc.array(near));
  const source = fc.record(
    { name: near, weight: near, independent: near, relay_of: near, value: near, role: near },
    { requiredKeys: ['name'], noNullPrototype: true },
  );
  const members = {
    signal_id: fc.constantFrom('a.b', 'a.c'),
    entity: near,
    snapshot_date: fc.constant('2026-01-02T00:00:00Z'),
    observed_at: fc.constantFrom('2026-01-02T00:00:00Z', '2026-01-02T00:00:00.000Z'),
    current: any,
    source_ref: near,
    source_tier: fc.constantFrom('T1', null),
    sources: fc.oneof(fc.array(source, { maxLength: 2 }), fc.constant(null)),
    lifecycle: any,
    summary_en: near,
  };
  const record = fc.record(members, { noNullPrototype: true });
  /** Two records that differ in at most one member. */
  const pair = fc
    .tuple(record, record, fc.constantFrom(...Object.keys(members)), fc.boolean())
    .map(([a, b, key, backwards]) => {
      const twin = { ...a, [key]: b[key as keyof typeof b] };
      return [a, backwards ? Object.fromEntries(Object.entries(twin).reverse()) : twin];
    });
  const read = (value: unknown) => parseJson(JSON.stringify(value)) as unknown as HashedRecord;
  /** The facts of a record, composed without the code under test. */
  const facts = (from: HashedRecord) => [
    from.signal_id,
    from.entity,
    from.observed_at,
    from.current,
    from.source_ref,
    from.source_tier,
    from.lifecycle,
    (from.sources as Record<string, unknown>[] | null)?.map(({ value, role, ...rest }) => rest),
  ];

  it('I36: two accepted records share a hash core text exactly when their hashed facts are equal', () => {
    fc.assert(
      fc.property(pair, ([one, two]) => {
        const [left, right] = [read(one), read(two)];
        const sameText = canonicalJson(hashCore(left)) === canonicalJson(hashCore(right));
        expect(sameText).toBe(isDeepStrictEqual(facts(left), facts(right)));
      }),
      { numRuns: RUNS },
    );
  });
});
