import { execFileSync } from 'node:child_process';
import { createHash, hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../../compiler/catalog/builtin.ts';
import {
  builtinCatalog,
  catalogText,
  ownDigest,
} from '../../../../compiler/catalog/whole-catalog.ts';
import {
  CONTRACT_VERSION,
  type FileEntry,
  formatFiles,
  parseFiles,
} from '../../../../compiler/format/release.ts';
import { storedPath } from '../../../../compiler/products/shapes/path.ts';
import { deliveredText } from '../../../../compiler/products/shapes/request-time.ts';
import { canonicalDigest } from '../../../../compiler/system/jcs.ts';
import { acceptedCoding } from '../../../../gatekeeper/heart/release/coded-file.ts';
import { folderSource } from '../../../../gatekeeper/heart/release/folder-source.ts';
import { ListedFiles } from '../../../../gatekeeper/heart/release/listed-files.ts';
import { linesFrom } from '../../../../gatekeeper/heart/release/log-index.ts';
import {
  catalogIn,
  checkFiles,
  checkHead,
  checkIssuer,
  keysOf,
  OFFERS_PATH,
  openRelease,
} from '../../../../gatekeeper/heart/release/open-release.ts';
import {
  citationText,
  DamagedFileError,
  readBody,
} from '../../../../gatekeeper/heart/release/read-body.ts';
import {
  perRelease,
  type ReleaseIndex,
} from '../../../../gatekeeper/heart/release/release-index.ts';
import { FOR_EVERYBODY } from '../../../../gatekeeper/wire/cost.ts';
import { OwnValues } from '../../../../gatekeeper/wire/maps.ts';
import { readPlainFile } from '../../../../gatekeeper/wire/plain-file.ts';
import { StartError } from '../../../../gatekeeper/wire/start-error.ts';
import { TIDE_FILE } from '../../../tide-shop.ts';
import {
  TINY_BASE_URL,
  TINY_NOW,
  type TinyOptions,
  tinyData,
  tinyDataDir,
  tinyFilePath,
  tinyFiles,
  tinyKey,
  writeTinyRelease,
} from '../../tiny-release.ts';
import { tinyService } from '../../tiny-service.ts';

const ANY = { issuerDid: null, baseUrl: null };
const RECORD = 'record/airquality.aqi/us-denver.json';
const open = (dataDir: string) => openRelease({ source: folderSource(dataDir), ...ANY });

describe('openRelease()', () => {
  it('opens what current names and keeps to it after a swap', async () => {
    const dataDir = tinyDataDir();
    const root = writeTinyRelease(dataDir);
    const release = await open(dataDir);
    writeTinyRelease(dataDir, { sequence: 2, files: new Map() });
    expect(release.place.mark).toBe(basename(root));
    expect((await release.body(RECORD, FOR_EVERYBODY)).bytes).toEqual(tinyFiles().get(RECORD));
    expect((await open(dataDir)).head.sequence).toBe(2);
  });

  it('I47: says what to do when there is no release', async () => {
    const opening = open(tinyDataDir());
    await expect(opening).rejects.toThrow(/run "signalpress compile" first/);
  });

  it('I47: refuses a release without its list', async () => {
    const dataDir = tinyDataDir();
    rmSync(join(writeTinyRelease(dataDir), 'files.txt'));
    await expect(open(dataDir)).rejects.toThrow(/compile again/);
  });

  it('I47: refuses a release without its manifest, for nothing would be for sale', async () => {
    const dataDir = tinyDataDir();
    const listed = parseFiles(readFileSync(join(writeTinyRelease(dataDir), 'files.txt'), 'utf8'));
    const entries = listed.filter(({ path }) => path !== OFFERS_PATH);
    expect(entries).toHaveLength(listed.length - 1);
    const text = formatFiles(entries);
    const digest = createHash('sha256').update(text).digest('hex');
    const counted = { files_sha256: `sha256:${digest}`, files_count: entries.length };
    const root = writeTinyRelease(dataDir, { sequence: 2, head: counted });
    writeFileSync(join(root, 'files.txt'), text);
    const opening = open(dataDir);
    await expect(opening).rejects.toThrow(`it has no "${OFFERS_PATH}"; compile again`);
  });

  it('reads a list of 100,000 files, and others have their turn meanwhile', async () => {
    const entries = Array.from({ length: 100_000 }, (_, at) => {
      const path = `record/airquality.aqi/e${String(at).padStart(6, '0')}.json`;
      return { path, size: 3400, sha256: 'ab'.repeat(32) };
    });
    const bytes = Buffer.from(formatFiles(entries));
    const digest = createHash('sha256').update(bytes).digest('hex');
    const root = writeTinyRelease(tinyDataDir(), {
      head: { files_sha256: `sha256:${digest}`, files_count: entries.length },
    });
    const head = checkHead(readFileSync(join(root, 'release.json')), ANY);
    let turns = 0;
    let next = setImmediate(function turn() {
      turns += 1;
      next = setImmediate(turn);
    });
    expect((await checkFiles(bytes, head)).size).toBe(100_000);
    clearImmediate(next);
    // Between the pieces of a megabyte that are hashed, and between those that are read.
    expect(turns).toBeGreaterThanOrEqual(2 * Math.floor(bytes.length / 1024 ** 2));
  });
});

describe('ReleaseIndex.body()', () => {
  it('I24: throws for a flipped bit and goes on once the file is whole again', async () => {
    const dataDir = tinyDataDir();
    const root = writeTinyRelease(dataDir);
    const release = await open(dataDir);
    const whole = readFileSync(tinyFilePath(root, RECORD));
    const flipped = Buffer.from(whole);
    flipped[100] = (flipped[100] ?? 0) ^ 1;
    writeFileSync(tinyFilePath(root, RECORD), flipped);
    await expect(release.body(RECORD, FOR_EVERYBODY)).rejects.toThrow(DamagedFileError);
    writeFileSync(tinyFilePath(root, RECORD), whole);
    expect((await release.body(RECORD, FOR_EVERYBODY)).bytes).toEqual(whole);
  });

  it('I38: throws for a planted link', async () => {
    const dataDir = tinyDataDir();
    const root = writeTinyRelease(dataDir);
    const release = await open(dataDir);
    rmSync(tinyFilePath(root, RECORD));
    symlinkSync('/etc/hostname', tinyFilePath(root, RECORD));
    await expect(release.body(RECORD, FOR_EVERYBODY)).rejects.toThrow(DamagedFileError);
  });

  it('I38: looks nothing up that is not listed', async () => {
    const release = await open(tinyData());
    for (const path of ['../../current/release.json', 'release.json', '/etc/passwd', '', '.']) {
      expect(release.has(path)).toBe(false);
      await expect(release.body(path, FOR_EVERYBODY)).rejects.toThrow(RangeError);
    }
  });

  it('reads a file once for many who ask at the same time', async () => {
    const dataDir = tinyData();
    let reads = 0;
    const read = async (path: string): Promise<Buffer> => {
      if (path.includes('/record/')) reads += 1;
      return readFileSync(path);
    };
    const release = await openRelease({ source: folderSource(dataDir, read), ...ANY });
    const bodies = await Promise.all(
      Array.from({ length: 50 }, () => release.body(RECORD, FOR_EVERYBODY)),
    );
    await release.body(RECORD, FOR_EVERYBODY);
    expect(new Set(bodies).size).toBe(1);
    expect(reads).toBe(1);
  });

  it('bytesAt() fills in the request-time fields', async () => {
    const release = await open(tinyData());
    const body = await release.body('bundle/environment/us-denver.json', FOR_EVERYBODY);
    expect(body.isTimed).toBe(true);
    expect(JSON.parse(release.bytesAt(body, TINY_NOW).toString())).toMatchObject({
      legs: { 'air-quality': { freshness: 'fresh' }, river: { freshness: 'stale' } },
      provenance: {
        age_hours_now: 1956,
        freshness: 'stale',
        freshness_leg: 'river',
        dead_source: 'no official reading since 2026-09-01T00:00:00Z',
      },
    });
  });

  it('bytesAt() gives the same buffer for a second, and the bytes of that second', async () => {
    const release = await open(tinyData());
    const body = await release.body('bundle/environment/us-denver.json', FOR_EVERYBODY);
    const first = release.bytesAt(body, TINY_NOW);
    for (const later of [1, 999]) expect(release.bytesAt(body, TINY_NOW + later)).toBe(first);
    for (const later of [3_600_000, 7_200_999, 0]) {
      const at = TINY_NOW + Math.floor(later / 1000) * 1000;
      const text = deliveredText(String(body.bytes), at);
      expect(String(release.bytesAt(body, TINY_NOW + later))).toBe(text);
    }
    expect(release.bytesAt(body, TINY_NOW + 3_600_000)).not.toEqual(first);
  });
});

describe('ListedFiles.namesUnder()', () => {
  it('lists each file and folder once, in order, without walking through folders', async () => {
    const { release } = await tinyService();
    expect(release.files.namesUnder('record/', 9)).toEqual([
      'airquality.aqi/',
      'filing.insider/',
      'hydrology.river-level/',
    ]);
    expect(release.files.namesUnder('record/airquality.aqi/', 9)).toEqual([
      'us-chicago.json',
      'us-denver.json',
    ]);
    expect(release.files.namesUnder('record/', 1)).toEqual(['airquality.aqi/']);
    expect(release.files.namesUnder('zzz/', 9)).toEqual([]);
  });
});

describe('ListedFiles.pathsUnder()', () => {
  it('lists the paths of a prefix in order, at most as many as asked', async () => {
    const release = await open(tinyData());
    expect(release.files.pathsUnder('record/airquality.aqi/', 9)).toEqual([
      'record/airquality.aqi/us-chicago.json',
      RECORD,
    ]);
    expect(release.files.pathsUnder('record/', 1)).toHaveLength(1);
    expect(release.files.pathsUnder('zzz', 9)).toEqual([]);
  });
});

describe('perRelease()', () => {
  const release = (): ReleaseIndex => ({ own: new OwnValues() }) as ReleaseIndex;

  it('makes a value once for each release', async () => {
    let made = 0;
    const value = perRelease(async () => {
      made += 1;
      return made;
    });
    const [first, second] = [release(), release()];
    expect(await Promise.all([value(first), value(first), value(second)])).toEqual([1, 1, 2]);
  });

  it('does not keep a failure', async () => {
    let fails = true;
    const value = perRelease(async () => {
      if (fails) throw new Error('EIO');
      return 1;
    });
    const one = release();
    await expect(value(one)).rejects.toThrow('EIO');
    fails = false;
    expect(await value(one)).toBe(1);
  });
});

const TEXT = 'a stored body';
const entry = {
  path: 'a.json',
  size: TEXT.length,
  sha256: createHash('sha256').update(TEXT).digest('hex'),
};

function rootWith(make: (path: string) => void): string {
  const root = mkdtempSync(join(tmpdir(), 'signalpress-'));
  const place = join(root, storedPath(entry.path, entry.sha256));
  mkdirSync(dirname(place), { recursive: true });
  make(place);
  return root;
}

describe('readBody()', () => {
  it('reads a listed file', async () => {
    const root = rootWith((path) => writeFileSync(path, TEXT));
    expect((await readBody(root, entry, readPlainFile)).toString()).toBe(TEXT);
  });

  it.each<[string, (path: string) => void]>([
    ['another file of the same size', (path) => writeFileSync(path, 'b stored body')],
    ['a longer file', (path) => writeFileSync(path, `${TEXT}!`)],
    ['a shorter file', (path) => writeFileSync(path, TEXT.slice(1))],
    ['no file', () => undefined],
    ['a directory', (path) => mkdirSync(path)],
    ['a pipe', (path) => execFileSync('mkfifo', [path])],
    [
      'I38: a link, even to the right bytes',
      (path) => {
        writeFileSync(`${path}.real`, TEXT);
        symlinkSync(`${path}.real`, path);
      },
    ],
  ])('I24: refuses %s', async (_, make) => {
    await expect(readBody(rootWith(make), entry, readPlainFile)).rejects.toThrow(DamagedFileError);
  });

  it('I24: refuses every single flipped bit', async () => {
    for (let bit = 0; bit < TEXT.length * 8; bit += 1) {
      const bytes = Buffer.from(TEXT);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const read = async (): Promise<Buffer> => bytes;
      await expect(readBody('/', entry, read)).rejects.toThrow(DamagedFileError);
    }
  });
});

describe('acceptedCoding()', () => {
  it.each([
    ['', null],
    ['identity', null],
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['*;q=0', null],
    ['*;q=0, gzip', 'gzip'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['br; q=0.001', 'br'],
    ['gzip;q=0', null],
    ['gzip;q=0.000, br;q=0.0', null],
    ['identity, gzip;q=0.5', null],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['identity;q=0', null],
    ['deflate, zstd', null],
    // A weight that nobody can read asks for nothing.
    ['gzip;q=2', null],
    ['gzip;q=', null],
    ['gzip;level=9', null],
    ['br;q=x, gzip', 'gzip'],
    ['xgzip, brr', null],
  ])('takes of "%s": %s', (header, coding) => {
    expect(acceptedCoding(header)).toBe(coding);
  });

  it('never chooses what was not asked for, whatever is sent', () => {
    const part = fc.constantFrom('br', 'gzip', 'deflate', '*', ';q=0', ';q=1', ',', ' ', 'q', '=');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const header = parts.join('');
        const coding = acceptedCoding(header);
        if (coding !== null) expect(header.includes(coding) || header.includes('*')).toBe(true);
      }),
    );
  });
});

const CITATION = '{"claim":"a \\"_citation\\": b","key_id":"k"}';

describe('citationText()', () => {
  it.each([
    `{"rows":[{"_citation":{"claim":"of a row"}}],"_citation":${CITATION}}`,
    `{"rows":[\n{}\n],"_citation":${CITATION}}\n`,
    `…cut","_citation":${CITATION}}`,
  ])('is the last member of %s', (body) => {
    expect(citationText(body)).toBe(CITATION);
  });

  it('is no JSON where a body has none', () => {
    expect(() => JSON.parse(citationText('{"rows":[]}'))).toThrow(SyntaxError);
  });
});

describe('linesFrom()', () => {
  it('finds what reading every line finds', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 5 });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 40 }), word, (words, opening) => {
        const lines = [...new Set(words)].sort();
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const want = lines.filter((line) => line.startsWith(opening) && line !== '');
        const found = linesFrom(bytes, opening).filter((line) => line !== '');
        expect(found).toEqual(want.slice(0, found.length));
        expect(found.length).toBe(Math.min(want.length, 64));
      }),
    );
  });

  it('gives a bounded number of them', () => {
    const lines = Array.from({ length: 500 }, (_, at) => `x${1000 + at}\n`);
    expect(linesFrom(Buffer.from(lines.join('')), 'x')).toHaveLength(64);
  });

  it('finds nothing in nothing, and nothing that is not there', () => {
    expect(linesFrom(Buffer.alloc(0), 'x')).toEqual([]);
    expect(linesFrom(Buffer.from('a\nc\n'), 'b')).toEqual([]);
    expect(linesFrom(Buffer.from('a\nc\n'), 'd')).toEqual([]);
  });
});

describe('ListedFiles', () => {
  const sha256 = (at: number): string => at.toString(16).padStart(64, '0');
  const entry = (path: string, at = 0): FileEntry => ({ path, size: at * 37, sha256: sha256(at) });
  const listOf = (paths: readonly string[]): FileEntry[] =>
    [...new Set(paths)].sort().map((path, at) => entry(path, at));
  const bytesOf = (entries: readonly FileEntry[]): Buffer => Buffer.from(formatFiles(entries));

  const segment = fc.stringMatching(/^[a-z0-9_~-][a-z0-9._~-]{0,8}$/);
  const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
  const paths = fc.array(path, { maxLength: 40 });

  it('finds exactly what is listed, and lists it in order', async () => {
    await fc.assert(
      fc.asyncProperty(paths, path, async (given, other) => {
        const entries = listOf(given);
        const files = await ListedFiles.inTurns(bytesOf(entries));
        expect([...files.values()]).toEqual(entries);
        for (const each of entries) expect(files.get(each.path)).toEqual(each);
        expect(files.has(other)).toBe(entries.some((each) => each.path === other));
        const first = entries.findIndex((each) => each.path >= other);
        expect(files.firstFrom(other)).toBe(first === -1 ? entries.length : first);
      }),
    );
  });

  it('takes and refuses what the compiler takes and refuses', async () => {
    const bytes = bytesOf(listOf(['a/b.json', 'a/c.json', 'log/tile/0/000', 'z.json']));
    const alter = fc.record({ at: fc.nat(bytes.length - 1), to: fc.integer({ min: 0, max: 127 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(alter, { minLength: 1, maxLength: 2 }), async (changes) => {
        const changed = Buffer.from(bytes);
        for (const { at, to } of changes) changed[at] = to;
        const taken = (read: () => unknown): Promise<boolean> =>
          new Promise((resolve) => resolve(read())).then(
            () => true,
            () => false,
          );
        const isParsed = await taken(() => parseFiles(changed.toString('latin1')));
        expect(await taken(() => ListedFiles.inTurns(changed))).toBe(isParsed);
      }),
      { numRuns: 2000 },
    );
  });

  it('reads a list of several turns, and refuses it by the number of the line', async () => {
    const entries = listOf(Array.from({ length: 20_000 }, (_, at) => `record/${at + 1e5}.json`));
    const bytes = bytesOf(entries);
    expect(bytes.length).toBeGreaterThan(1.5 * 1024 * 1024);
    expect([...(await ListedFiles.inTurns(bytes)).values()]).toEqual(entries);
    const line = 15_000;
    const start = bytesOf(entries.slice(0, line - 1)).length;
    const changed = Buffer.from(bytes);
    changed.write('Z', start);
    const words = `line ${line} is malformed`;
    await expect(ListedFiles.inTurns(changed)).rejects.toThrow(words);
  });

  it.each([
    ['a hash of 63 digits', `${sha256(1).slice(1)} 1 a\n`],
    ['a hash in upper case', `${'A'.repeat(64)} 1 a\n`],
    ['a size with a leading zero', `${sha256(1)} 01 a\n`],
    ['a size of 16 digits', `${sha256(1)} ${'1'.repeat(16)} a\n`],
    ['no size', `${sha256(1)}  a\n`],
    ['no path', `${sha256(1)} 1 \n`],
    ['a hidden segment', `${sha256(1)} 1 a/.b\n`],
    ['a way upwards', `${sha256(1)} 1 ../a\n`],
    ['an absolute path', `${sha256(1)} 1 /a\n`],
    ['an empty segment', `${sha256(1)} 1 a//b\n`],
    ['a folder', `${sha256(1)} 1 a/\n`],
    ['a path twice', `${sha256(1)} 1 a\n${sha256(1)} 1 a\n`],
    ['paths out of order', `${sha256(1)} 1 b\n${sha256(1)} 1 a\n`],
    ['a last line without its end', `${sha256(1)} 1 a\n${sha256(1)} 1 b`],
    ['an empty line', `${sha256(1)} 1 a\n\n`],
  ])('refuses %s, by the number of the line', async (_, text) => {
    expect(() => parseFiles(text)).toThrow(RangeError);
    const files = ListedFiles.inTurns(Buffer.from(text));
    await expect(files).rejects.toThrow(/line [12] is malformed/);
  });
});

function release(options: TinyOptions = {}): { head: Buffer; files: Buffer } {
  const root = writeTinyRelease(tinyDataDir(), options);
  return {
    head: readFileSync(join(root, 'release.json')),
    files: readFileSync(join(root, 'files.txt')),
  };
}

describe('checkHead()', () => {
  it('takes a signed release of this version, pinned or not', () => {
    const { head } = release();
    expect(checkHead(head, ANY).sequence).toBe(1);
    const pinned = { issuerDid: tinyKey().did, baseUrl: TINY_BASE_URL };
    expect(checkHead(head, pinned).sequence).toBe(1);
  });

  it.each<[string, TinyOptions, RegExp]>([
    [
      'another contract version',
      { head: { contract_version: CONTRACT_VERSION - 1 } },
      /compile again with the signalpress of this version/,
    ],
    ['another format', { head: { format: 'signalpress-release/2' } }, /"format"/],
    ['an unknown member', { head: { extra: 1 } }, /compile again/],
    ['a member changed after signing', { forged: { sequence: 9 } }, /signature/],
    ['a signature of another key', { forged: { issuer_did: tinyKey(2).did } }, /key id|signature/],
    ['a second spelling of the signature', { forged: { signature: 'AA==' } }, /malformed/],
    ['no signature', { forged: { signature: '' } }, /signature/],
    ['a foreign key id', { head: { key_id: `${tinyKey(2).did}#z6Mk` } }, /another issuer/],
  ])('I47: refuses %s', (_, options, message) => {
    const { head } = release(options);
    expect(() => checkHead(head, ANY)).toThrow(StartError);
    expect(() => checkHead(head, ANY)).toThrow(message);
  });

  it('I47: refuses another issuer and another address than demanded, and says what to set', () => {
    const { head } = release();
    const { did } = tinyKey(2);
    const read = checkHead(head, ANY);
    expect(() => checkIssuer(read, keysOf(read, null), did)).toThrow(/SIGNALPRESS_ISSUER_DID/);
    const baseUrl = 'https://other.example';
    expect(() => checkHead(head, { ...ANY, baseUrl })).toThrow(/SIGNALPRESS_BASE_URL/);
  });

  it.each(['', '{', '{"a":1,"a":2}', '[]', '\ufeff{}'])('I47: refuses the head %j', (text) => {
    expect(() => checkHead(Buffer.from(text), ANY)).toThrow(StartError);
  });
});

describe('catalogIn()', () => {
  const tidesHead = () => {
    const table_digest = ownDigest(hash('sha256', catalogText(TIDE_FILE), 'hex'), canonicalDigest);
    return checkHead(release({ head: { table_digest } }).head, ANY);
  };

  it('has the built-in catalogue for a head that was made of it, with or without the file', () => {
    const head = checkHead(release().head, ANY);
    expect(catalogIn(head, null)).toBe(BUILTIN);
    expect(catalogIn(head, Buffer.from(catalogText(builtinCatalog().file)))).toBe(BUILTIN);
  });

  it('has the catalogue that the release carries', () => {
    const { signals } = catalogIn(tidesHead(), Buffer.from(catalogText(TIDE_FILE)));
    expect(signals.map(({ id }) => id)).toEqual(['tides.level', 'tides.waves']);
  });

  it('I47: refuses a release of other tables without the file', () => {
    expect(() => catalogIn(tidesHead(), null)).toThrow(StartError);
    expect(() => catalogIn(tidesHead(), null)).toThrow(/carries no "catalog.json".*compile again/);
  });

  it('I47: has the built-in catalogue for a head that signs its file, and not for one that signs another', () => {
    const own = Buffer.from(catalogText(builtinCatalog().file));
    const signing = (bytes: string | Buffer) => {
      const catalog_sha256 = `sha256:${hash('sha256', bytes, 'hex')}`;
      return checkHead(release({ head: { catalog_sha256 } }).head, ANY);
    };
    expect(catalogIn(signing(own), own)).toBe(BUILTIN);
    for (const file of [null, Buffer.from(catalogText(TIDE_FILE))]) {
      expect(() => catalogIn(signing(own), file)).toThrow(/is not the one that its head signs/);
    }
    expect(() => catalogIn(signing('other'), own)).toThrow(StartError);
  });

  it('I47: refuses a catalogue that is not the one of the head, or of another format', () => {
    const dearer = catalogText({ ...TIDE_FILE, prices: { '/gauge': '9', bundle: '9' } });
    expect(() => catalogIn(tidesHead(), Buffer.from(dearer))).toThrow(/another table/);
    const newer = Buffer.from('{"format":"signalpress-catalog/2"}');
    const table_digest = ownDigest(hash('sha256', newer, 'hex'), canonicalDigest);
    const head = checkHead(release({ head: { table_digest } }).head, ANY);
    expect(() => catalogIn(head, newer)).toThrow(
      /catalog.json" at "\/format": not signalpress-catalog\/1/,
    );
    expect(() => catalogIn(head, newer)).toThrow(StartError);
  });
});

describe('checkFiles()', () => {
  it('lists what the head signs', async () => {
    const { head, files } = release();
    const list = await checkFiles(files, checkHead(head, ANY));
    expect(list.get('free/sample/~.json')?.size).toBeGreaterThan(100);
  });

  it('I24: refuses a list with any byte changed', async () => {
    const { head, files } = release();
    const checked = checkHead(head, ANY);
    for (const at of [0, 70, files.length - 1]) {
      const changed = Buffer.from(files);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(checkFiles(changed, checked)).rejects.toThrow(/files.txt differs/);
    }
  });

  it('says of the list of a mirror what it is, and of no other', async () => {
    const list = Buffer.from('');
    const sha256 = `sha256:${hash('sha256', list, 'hex')}`;
    const open = (public_files: { sha256: string; count: number }) =>
      checkFiles(list, checkHead(release({ head: { public_files } }).head, ANY));
    await expect(open({ sha256, count: 0 })).rejects.toThrow(
      /a mirror of what it gives away.*SIGNALPRESS_DATA/,
    );
    const other = `sha256:${'0'.repeat(64)}`;
    await expect(open({ sha256: other, count: 0 })).rejects.toThrow(/files.txt differs/);
  });

  it('refuses a list of another length than the head says', async () => {
    const { head, files } = release({ head: { files_count: 1 } });
    await expect(checkFiles(files, checkHead(head, ANY))).rejects.toThrow(/not as long/);
  });
});
