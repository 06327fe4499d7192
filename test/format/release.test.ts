import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { STATIC_FILES } from '../../compiler/catalog/static-files.ts';
import { tables } from '../../compiler/catalog/whole-catalog.ts';
import { firstHistory, historyOf, type Rotation } from '../../compiler/format/key-history.ts';
import {
  type CatalogRow,
  CODINGS,
  type CurrentEntry,
  clockCorrected,
  FILES_NAME,
  formatCatalogRow,
  formatFiles,
  formatVerifyEntry,
  goesBack,
  isPacked,
  isPublicPath,
  packedPath,
  parseCatalogRow,
  parseFiles,
  parsePublicFileUrl,
  parseVerifyEntry,
  publicFileUrl,
  publicStretches,
  RELEASE_NAME,
  type Release,
  releaseSchema,
  unpackedPath,
} from '../../compiler/format/release.ts';
import type { Endpoint } from '../../compiler/products/shapes/product.ts';
import { placeOf } from '../../compiler/verify/release-index.ts';
import { type CompiledSample, compiledSample } from '../shop.ts';

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

const [NOW, SOON, FUTURE] = [
  '2026-11-20T12:00:00Z',
  '2026-11-20T13:00:00Z',
  '2076-01-01T00:00:00Z',
];
const ONE = 'did:key:z6MkOne';
const TWO = 'did:key:z6MkTwo';
const rotation: Rotation = {
  type: 'rotation',
  old_did: ONE,
  new_did: TWO,
  stated_at: NOW,
  valid_from: NOW,
  overlap_until: SOON,
  signature: '',
};
const at = (sequence: number, as_of = NOW) => ({ sequence, as_of });
const later = (sequence: number, as_of: string, clock_corrected?: Release['clock_corrected']) => ({
  sequence,
  as_of,
  issuer_did: ONE,
  ...(clock_corrected && { clock_corrected }),
});

describe('goesBack()', () => {
  it('I21: is false where time goes on or stands, and true where it goes back without a word', () => {
    expect(goesBack(at(1), later(2, NOW))).toBe(false);
    expect(goesBack(at(1), later(2, SOON))).toBe(false);
    expect(goesBack(at(1, SOON), later(2, NOW))).toBe(true);
  });

  it.each<[string, number, string, Release['clock_corrected'], boolean]>([
    ['the release after the wrong one', 8, FUTURE, { sequence: 9, latest: FUTURE }, false],
    ['one that came long after', 3, FUTURE, { sequence: 9, latest: FUTURE }, false],
    [
      'a time that no release before it claimed',
      8,
      '2080-01-01T00:00:00Z',
      { sequence: 9, latest: FUTURE },
      true,
    ],
    ['what was seen after the clock was set right', 9, SOON, { sequence: 9, latest: FUTURE }, true],
    ['a correction that is still to come', 8, FUTURE, { sequence: 11, latest: FUTURE }, true],
  ])('I21: judges %s', (...[, seen, seenAt, corrected, expected]) => {
    expect(goesBack(at(seen, seenAt), later(10, NOW, corrected))).toBe(expected);
  });

  it('I29: believes no correction of a key that another one followed', () => {
    const corrected = { sequence: 9, latest: FUTURE };
    const back = later(10, NOW, corrected);
    const keys = historyOf(ONE, [rotation], []);
    expect(goesBack(at(8, FUTURE), back, firstHistory(ONE))).toBe(false);
    expect(goesBack(at(8, FUTURE), back, keys)).toBe(true);
    expect(goesBack(at(8, FUTURE), { ...back, issuer_did: TWO }, keys)).toBe(false);
  });
});

describe('clockCorrected()', () => {
  it('says nothing while time goes on, notes when it goes back, and is handed on', () => {
    expect(clockCorrected(null, at(1))).toEqual({});
    expect(clockCorrected(at(1), at(2, SOON))).toEqual({});
    const noted = clockCorrected(at(2, FUTURE), at(3, NOW));
    expect(noted).toEqual({ clock_corrected: { sequence: 3, latest: FUTURE } });
    expect(clockCorrected({ ...at(3), ...noted }, at(4, SOON))).toEqual(noted);
  });

  it('keeps the latest of all times that were ever set aside', () => {
    const before = {
      ...at(4, '2030-01-01T00:00:00Z'),
      clock_corrected: { sequence: 3, latest: FUTURE },
    };
    expect(clockCorrected(before, at(5, SOON))).toEqual({
      clock_corrected: { sequence: 5, latest: FUTURE },
    });
  });
});

let sample: CompiledSample;
beforeAll(async () => {
  sample = await compiledSample();
});

/** Beside the list, so in none. */
const UNLISTED = [RELEASE_NAME, FILES_NAME];

const costs = ({ priceUsd, token }: Endpoint): boolean => priceUsd !== null || token;

/** The files of a row in each of its forms. */
const filesOf = ({ file, params }: Endpoint): string[] =>
  file === undefined
    ? []
    : ['', ...Object.values(params).flatMap(({ variant = {} }) => Object.values(variant))].map(
        (form) => (form === '' ? file : `${form}/${file}`),
      );

/** Whether the table or the static files give a path away, as a reader of both would say. */
function isGiven(path: string): boolean {
  const own = unpackedPath(path)?.path ?? path;
  const place = placeOf(own, BUILTIN);
  if (place !== null) return !costs(place.endpoint);
  return STATIC_FILES.some((row) =>
    row.url.endsWith('/') && row.exact === undefined
      ? own.startsWith(row.path) && own.endsWith(row.end ?? '')
      : own === row.path,
  );
}

describe('isPublicPath()', () => {
  it('I52: is about every file that anybody gets for nothing, and none of what is sold', () => {
    const wrong = sample.paths.filter((path) => isPublicPath(path) !== isGiven(path));
    expect(wrong).toEqual([]);
    expect(sample.paths.filter(isPublicPath).length).toBeGreaterThan(250);
    expect(sample.paths.filter((path) => !isPublicPath(path)).length).toBeGreaterThan(900);
  });

  it('holds for each row of the table in all of its forms, and for each static file', () => {
    for (const row of BUILTIN.operations) {
      for (const file of filesOf(row))
        expect([file, isPublicPath(file)]).toEqual([file, !costs(row)]);
    }
    for (const { path } of STATIC_FILES) {
      // The log lies beside the releases.
      const isListed = !UNLISTED.includes(path) && !path.startsWith('log/');
      expect([path, isPublicPath(path)]).toEqual([path, isListed]);
    }
  });

  it('I52: leaves out what names the things that are sold', () => {
    const names = ['index/catalog.txt', 'index/filers.txt', 'verify/00.txt', 'log/index/0-1/0.txt'];
    for (const path of names) expect([path, isPublicPath(path)]).toEqual([path, false]);
  });

  it('takes the packed forms of a file with it', () => {
    for (const coding of CODINGS) {
      expect(isPublicPath(packedPath('catalog.json', coding))).toBe(true);
      expect(isPublicPath(packedPath('record/a/b.json', coding))).toBe(false);
    }
  });
});

describe('publicStretches()', () => {
  it('cuts exactly the public paths out of any list', () => {
    const part = fc.constantFrom('a2a', 'catalog.json', 'free', 'log', 'tile', 'x', 'z~', 'site');
    const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(fc.uniqueArray(path, { maxLength: 30 }), (paths) => {
        const list = paths.sort();
        const firstFrom = (text: string): number => {
          const at = list.findIndex((each) => each >= text);
          return at < 0 ? list.length : at;
        };
        const cut = publicStretches(firstFrom).flatMap(([from, to]) => list.slice(from, to));
        expect(cut).toEqual(list.filter(isPublicPath));
      }),
    );
  });
});

describe('parsePublicFileUrl()', () => {
  const sha256 = 'ab'.repeat(32);

  it('is the inverse of publicFileUrl()', () => {
    const file = { path: 'free/raw/a/b~2e.json', sha256 };
    expect(publicFileUrl(file)).toBe(`/release/${sha256}/free/raw/a/b~2e.json`);
    expect(parsePublicFileUrl(publicFileUrl(file))).toEqual(file);
  });

  it.each([
    ['what is sold', `/release/${sha256}/record/a/b.json`],
    ['the list itself', '/release/files.txt'],
    ['a way upwards', `/release/${sha256}/free/../record/a/b.json`],
    ['a hidden segment', `/release/${sha256}/free/.lock`],
    ['an empty segment', `/release/${sha256}/free//a.json`],
    ['a folder', `/release/${sha256}/free/`],
    ['an escape', `/release/${sha256}/free/%2e%2e/a.json`],
    ['upper case', `/release/${sha256.toUpperCase()}/free/a.json`],
    ['a short hash', `/release/${sha256.slice(2)}/free/a.json`],
    ['another folder', `/released/${sha256}/free/a.json`],
    ['no hash', '/release/free/a.json'],
  ])('refuses %s', (_, url) => {
    expect(parsePublicFileUrl(url)).toBeNull();
  });
});

describe('packedPath()', () => {
  it('has an inverse, which knows no other path', () => {
    for (const coding of CODINGS) {
      const path = packedPath('well-known/openapi.json', coding);
      expect(unpackedPath(path)).toEqual({ path: 'well-known/openapi.json', coding });
    }
    for (const path of ['a.json', 'a.gz.json', 'a.zst', 'log/tile/0/000']) {
      expect(unpackedPath(path)).toBeNull();
    }
  });
});

describe('isPacked()', () => {
  it('is for what is longer than a packet or two', () => {
    expect([4095, 4096].map((length) => isPacked(new Uint8Array(length)))).toEqual([false, true]);
  });
});
