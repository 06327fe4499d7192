import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/contract/catalog/builtin.ts';
import {
  type CatalogRow,
  type CurrentEntry,
  formatCatalogRow,
  formatFiles,
  formatVerifyEntry,
  parseCatalogRow,
  parseFiles,
  parseVerifyEntry,
  type Release,
  releaseSchema,
  tables,
} from '../../compiler/contract/release.ts';

const HEX = 'ab'.repeat(32);
const HASH = `sha256:${HEX}`;
const RELEASE: Release = {
  format: 'signalpress-release/1',
  contract_version: 1,
  sequence: 1,
  as_of: '2026-11-20T12:00:00Z',
  base_url: 'https://example.org',
  issuer_name: 'Example',
  issuer_did: 'did:key:z6Mkexample',
  key_id: 'did:key:z6Mkexample#z6Mkexample',
  table_digest: HASH,
  files_sha256: HASH,
  files_count: 0,
  previous: null,
  counts: { readings: 1, entities: 1, records: 1, bundles: 0, revisions: 0, repeats: 0 },
  signature: 'x',
};

describe('releaseSchema', () => {
  it('accepts a head', () => {
    expect(releaseSchema.parse(RELEASE)).toEqual(RELEASE);
    const proving = { ...RELEASE, catalog_sha256: HASH };
    expect(releaseSchema.parse(proving)).toEqual(proving);
  });

  it.each([
    ['another format', { format: 'signalpress-release/2' }],
    ['a sequence of 0', { sequence: 0 }],
    ['a time with an offset', { as_of: '2026-11-20T12:00:00+01:00' }],
    ['an address that is none', { base_url: 'example' }],
    ['an issuer that is no Ed25519 key', { issuer_did: 'did:web:example.org' }],
    ['a digest in capitals', { table_digest: HASH.toUpperCase() }],
    ['a hash of the catalogue that is none', { catalog_sha256: HASH.slice(7) }],
    ['a member that it does not know', { note: 'x' }],
    ['a count that is no integer', { counts: { ...RELEASE.counts, readings: 1.5 } }],
  ])('refuses %s', (_, change) => {
    expect(releaseSchema.safeParse({ ...RELEASE, ...change }).success).toBe(false);
  });
});

describe('tables(BUILTIN)', () => {
  it('is plain data that survives JSON unchanged, so that its digest means all of it', () => {
    expect(JSON.parse(JSON.stringify(tables(BUILTIN)))).toEqual(tables(BUILTIN));
  });
});

describe('formatFiles(), parseFiles()', () => {
  const line = (path: string, size = '1'): string => `${HEX} ${size} ${path}\n`;

  it('undo each other', () => {
    const entries = [
      { path: 'a.json', size: 0, sha256: HEX },
      { path: 'b/c.json', size: 12, sha256: HEX },
    ];
    expect(formatFiles(entries)).toBe(`${HEX} 0 a.json\n${HEX} 12 b/c.json\n`);
    expect(parseFiles(formatFiles(entries))).toEqual(entries);
    expect(parseFiles('')).toEqual([]);
  });

  it.each([
    ['a line without its end', line('a').trimEnd()],
    ['a path twice', line('a') + line('a')],
    ['paths out of order', line('b') + line('a')],
    ['an empty line', `\n${line('a')}`],
    ['no path', `${HEX} 1 \n`],
    ['no size', `${HEX} a\n`],
    ['a negative size', line('a', '-1')],
    ['a size that is no integer', line('a', '1.5')],
    ['a size beyond 2^53', line('a', '9007199254740992')],
    ['a digest that is too short', `${HEX.slice(2)} 1 a\n`],
    ['a digest that is not hex', `${'zz'.repeat(32)} 1 a\n`],
    ['a size in another spelling', line('a', '0x10')],
    ['a path above the release', line('../a')],
    ['a path from the root', line('/a')],
  ])('refuse %s', (_, text) => {
    expect(() => parseFiles(text)).toThrow(RangeError);
  });
});

describe('formatVerifyEntry(), parseVerifyEntry()', () => {
  it('undo each other for any text', () => {
    const entry = fc.record<CurrentEntry>({
      record_hash: fc.constant(HASH),
      kind: fc.constantFrom('reading', 'row', 'citation'),
      state: fc.constant('current'),
      file: fc.string(),
      signal_id: fc.option(fc.string()),
      entity: fc.string({ unit: 'binary' }),
      observed_at: fc.string(),
    });
    fc.assert(
      fc.property(entry, (value) => {
        const text = formatVerifyEntry(value);
        expect(text.indexOf('\n')).toBe(text.length - 1);
        expect(text.startsWith(`["${HASH}"`)).toBe(true);
        expect(parseVerifyEntry(text.trimEnd())).toEqual(value);
      }),
    );
  });

  it.each([
    '',
    '[]',
    '{}',
    `["${HEX}","reading","f",null,"a","b"]`,
    'null',
    `["${HASH}","reading",null,null,"a","b"]`,
  ])('refuse %j', (text) => {
    expect(() => parseVerifyEntry(text)).toThrow();
  });
});

describe('formatCatalogRow(), parseCatalogRow()', () => {
  it('undo each other', () => {
    const row: CatalogRow = {
      signal_id: 'crypto.spot',
      entity: 'a","b',
      entity_name: null,
      observed_at: '2026-11-20T12:00:00Z',
      band: 'none',
      record_hash: HASH,
      last_looked_at: '2026-11-21T11:00:00Z',
    };
    expect(parseCatalogRow(formatCatalogRow(row).trimEnd())).toEqual(row);
  });
});
