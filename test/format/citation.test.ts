import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../compiler/format/canonical.ts';
import {
  CITATION_SEAL_FIELDS,
  type Citation,
  citationSchema,
  citationStatement,
  contentOf,
  keyIdOf,
  REQUEST_TIME_FIELDS,
  verifyUrl,
} from '../../compiler/format/citation.ts';
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
import { FOREIGN_BODIES } from '../foreign-texts.ts';

const [OURS] = JSON.parse(readFileSync('test/vectors/citation.json', 'utf8')) as [
  { input: { citation: Citation } },
];
const CITATION = OURS.input.citation;

describe('citationSchema', () => {
  it('accepts a whole citation and one without claim', () => {
    expect(citationSchema.safeParse(CITATION).success).toBe(true);
    const { claim, ...foreign } = CITATION;
    expect(citationSchema.safeParse(foreign).success).toBe(true);
    expect(citationSchema.safeParse({ ...foreign, claim: undefined }).success).toBe(false);
  });
  it.each([
    ['another member', { extra: 1 }],
    ['another version', { schema_version: '2.0' }],
    ['advice', { not_advice: false }],
    ['another type of statement', { statement_type: 'prediction' }],
    ['a number for text', { fact: 1 }],
    ['empty text', { fact: '' }],
    ['text for a boolean', { translated: 'false' }],
    ['upper-case hex', { record_hash: `sha256:${'A'.repeat(64)}` }],
    ['no source', { source: null }],
    ['another member of the source', { source: { ...CITATION.source, extra: 1 } }],
  ])('refuses %s', (_name, part) => {
    expect(citationSchema.safeParse({ ...CITATION, ...part }).success).toBe(false);
  });
  it.each([null, undefined, 1, 'x', [], {}])('refuses %j', (value) => {
    expect(citationSchema.safeParse(value).success).toBe(false);
  });
});

describe('citationStatement()', () => {
  it('leaves out the seal and nothing else', () => {
    const names = Object.keys(CITATION).filter((name) => !/hash|sig|key_id|DID|verify/.test(name));
    expect(Object.keys(citationStatement(CITATION))).toEqual(names);
    expect(names).toHaveLength(Object.keys(CITATION).length - CITATION_SEAL_FIELDS.length);
    expect(citationStatement(CITATION).source.content_hash).toBe(CITATION.source.content_hash);
  });
});

describe('contentOf()', () => {
  const volatile = { age_hours_now: 1, freshness: 'fresh', freshness_leg: 'a', dead_source: 'x' };
  const basis = { freshness_basis: 'x' };
  it('leaves out the citation on top only', () => {
    expect(contentOf({ a: 1, _citation: {} })).toEqual({ a: 1 });
    expect(contentOf({ rows: [{ _citation: 1 }] })).toEqual({ rows: [{ _citation: 1 }] });
  });
  it('leaves out the members of request time beside what they follow from', () => {
    expect(Object.keys(volatile)).toEqual([...REQUEST_TIME_FIELDS.freshness_basis]);
    const provenance = { ...volatile, ...basis, data_lineage: [] };
    const kept = { ...basis, data_lineage: [] };
    const leg = { freshness: 'stale', ...basis, current: { stage_ft: 1 } };
    const body = { provenance, legs: { a: leg }, rows: [{ provenance }] };
    expect(contentOf(body)).toEqual({
      provenance: kept,
      legs: { a: { ...basis, current: { stage_ft: 1 } } },
      rows: [{ provenance: kept }],
    });
  });
  it('leaves out update_status where the last look is signed, and only there', () => {
    const status = { update_status: { state: 'unknown' } };
    const looked = { last_looked_at: 'x' };
    expect(contentOf({ ...status, ...looked, readings: [{ ...status, ...looked }] })).toEqual({
      ...looked,
      readings: [looked],
    });
    // A body of version 1 signs it.
    expect(contentOf({ ...status, provenance: basis })).toEqual({ ...status, provenance: basis });
  });
  it('keeps members of the same names anywhere else', () => {
    const body = {
      ...volatile,
      update_status: 'x',
      current: volatile,
      provenance: { data_lineage: [volatile], note: volatile },
      standard_ruler: { provenance: 'official scale' },
      rows: { provenance: [volatile] },
    };
    expect(contentOf(body)).toEqual(body);
  });
  it('I36: sees a change of every other member', () => {
    const body = {
      current: { stage_ft: 1 },
      provenance: { ...volatile, ...basis, data_as_of: 'x' },
    };
    const later = { ...body, provenance: { ...body.provenance, age_hours_now: 9 } };
    expect(contentOf(later)).toEqual(contentOf(body));
    const other = { ...body, provenance: { ...body.provenance, data_as_of: 'y' } };
    expect(contentOf(other)).not.toEqual(contentOf(body));
  });
  it('copies and keeps the order of members', () => {
    const body = { b: { c: [1] }, a: 1, provenance: { ...volatile } };
    const copy = contentOf(body) as typeof body;
    expect(Object.keys(copy)).toEqual(['b', 'a', 'provenance']);
    expect(copy.b.c).not.toBe(body.b.c);
    expect(body.provenance).toEqual(volatile);
  });
  it('takes a reserved key as data', () => {
    const copy = contentOf(JSON.parse('{"a":{"__proto__":{"b":1}}}') as object);
    expect(JSON.stringify(copy)).toBe('{"a":{"__proto__":{"b":1}}}');
  });
  it('refuses more than 64 open containers', () => {
    const nested = (depth: number) =>
      JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`) as object;
    expect(contentOf(nested(64))).toEqual(nested(64));
    expect(() => contentOf(nested(65))).toThrow(TypeError);
  });
});

describe('keyIdOf() and verifyUrl()', () => {
  const hash = `sha256:${'0'.repeat(64)}`;
  it('spell what the citation carries', () => {
    expect(keyIdOf('did:key:z6MkA')).toBe('did:key:z6MkA#z6MkA');
    expect(verifyUrl('https://a.example', hash)).toBe(`https://a.example/v/${hash}`);
    expect(verifyUrl('https://a.example/', hash)).toBe(`https://a.example/v/${hash}`);
  });
  it('verifyUrl() refuses what is no record hash', () => {
    expect(() => verifyUrl('https://a.example', `${hash}?x`)).toThrow(TypeError);
  });
});

describe('the bodies of another service', () => {
  it.each(FOREIGN_BODIES)('citationSchema accepts the citation of $name', ({ text }) => {
    const body = JSON.parse(text) as { _citation: object };
    expect(citationSchema.safeParse(body._citation).success).toBe(true);
    expect(citationSchema.safeParse({ ...body._citation, source: null }).success).toBe(false);
    expect(JSON.stringify(contentOf(body))).not.toMatch(/_citation|age_hours_now|"freshness":/);
  });
});

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
