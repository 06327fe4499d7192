import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
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
import { FOREIGN_BODIES } from '../verify/foreign-texts.ts';

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
