import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HASH_COUNT_PATH, parseHashLine } from '../../../../compiler/format/hash-index.ts';
import {
  type FileEntry,
  formatFiles,
  formatVerifyEntry,
  parseFiles,
  type Release,
} from '../../../../compiler/format/release.ts';
import { storedPath, verifyShardPath } from '../../../../compiler/products/shapes/path.ts';
import { nodeDisk } from '../../../../compiler/system/disk.ts';
import { jcs } from '../../../../compiler/system/jcs.ts';
import { makeSealer } from '../../../../compiler/system/sealer.ts';
import { openFileList } from '../../../../compiler/verify/file-list.ts';
import { type ReleaseReport, verifyRelease } from '../../../../compiler/verify/verify-release.ts';
import { flipBit, namedAtOnce, overlayDisk, seeded } from '../../../public-part.ts';
import { BASE_URL, KEY, type Shop, smallShop } from '../../../shop.ts';
import { proveAgain, resign } from '../../../verify/resign.ts';

let release: Shop;
let listed: readonly string[];
beforeAll(async () => {
  release = await smallShop();
  listed = parseFiles(release.text('files.txt')).map((entry) => entry.path);
});
afterAll(() => release.dispose());

const judge = (folder: string): Promise<ReleaseReport> =>
  verifyRelease(folder, { trust: [release.did] });
const named = ({ faults }: ReleaseReport): string[] =>
  faults.map(({ file, where }) => `${file} ${where}`.trim());

/** Files of the index of what was taken in, and their lines. */
const indexPaths = () =>
  listed.filter((path) => path.startsWith('index/hashes/') && path !== HASH_COUNT_PATH);
const indexLines = () =>
  indexPaths().flatMap((path) => release.text(path).split('\n').slice(0, -1));

const RECORD = 'record/hydrology.river-level/07010000.json';
const AQI = 'record/airquality.aqi/us-denver.json';

describe('verifyRelease() on what compile wrote', () => {
  it('verifies the release folder and the link to it, however their path is written', async () => {
    for (const path of [`${release.folder}/.`, `${release.data}/current/`]) {
      expect(named(await judge(path))).toEqual([]);
    }
  });

  it('verifies the data folder, counts what it looked at and tells how far it is', async () => {
    const steps: number[] = [];
    const progress = ({ done }: { done: number }): void => void steps.push(done);
    const report = await verifyRelease(`${release.data}/./`, { trust: [release.did], progress });
    const { files, records, signatures, ownTables } = report;
    expect(named(report)).toEqual([]);
    expect([steps[0], steps.at(-1)]).toEqual([0, listed.length]);
    expect(files).toBe(listed.length);
    expect(records).toBe(6);
    expect(signatures).toBeGreaterThan(20);
    expect(ownTables).toBe(true);
  });

  it('refuses it for another issuer, in words of its own', async () => {
    const trust = ['did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp'];
    const report = await verifyRelease(release.data, { trust });
    expect(named(report)).toEqual(['release.json issuer_did']);
    expect(report.faults[0]?.detail).toMatch('not one of the trusted issuers');
  });
});

describe('I24: verifyRelease() names the file of a flipped bit', () => {
  it('I24: in every listed file', async () => {
    const random = seeded(24);
    const places = new Map(
      entriesOf(release.folder).map(({ path, sha256 }) => [storedPath(path, sha256), path]),
    );
    for (const group of namedAtOnce(entriesOf(release.folder))) {
      const flipped = new Set(group.map(({ path }) => path));
      const disk = overlayDisk((full, bytes) => {
        const path = places.get(full.slice(full.indexOf('files/')));
        const hit = path !== undefined && flipped.has(path);
        return hit ? flipBit(bytes, random(bytes.length * 8)) : bytes;
      });
      const report = await verifyRelease(release.folder, { trust: [release.did], disk });
      expect(new Set(report.faults.map(({ file }) => file))).toEqual(flipped);
    }
  });

  it('I24: in every 29th bit of the head', async () => {
    const bytes = readFileSync(join(release.folder, 'release.json'));
    for (let bit = 0; bit < bytes.length * 8; bit += 29) {
      const disk = overlayDisk((path, same) =>
        path.endsWith('release.json') ? flipBit(bytes, bit) : same,
      );
      const report = await verifyRelease(release.folder, { trust: [release.did], disk });
      expect(report.faults[0]?.file, `bit ${bit}`).toBe('release.json');
    }
  });

  it('I24: in the list of files', async () => {
    const random = seeded(25);
    for (let round = 0; round < 50; round += 1) {
      const disk = overlayDisk((path, bytes) =>
        path.endsWith('files.txt') ? flipBit(bytes, random(bytes.length * 8)) : bytes,
      );
      const report = await verifyRelease(release.folder, { trust: [release.did], disk });
      expect(named(report)).toEqual(['release.json files_sha256']);
    }
  });
});

/** Each test works on a copy of its own: of the data folder, with the release in it. */
let data: string;
let copy: string;
const at = (path: string): string => {
  const entry = entriesOf(release.folder).find((each) => each.path === path);
  return entry === undefined ? join(copy, path) : join(data, storedPath(path, entry.sha256));
};
const entriesOf = (root: string) => parseFiles(readFileSync(join(root, 'files.txt'), 'utf8'));
const inCopy = (): void => {
  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), 'signalpress-copy-'));
    cpSync(release.data, data, { recursive: true, verbatimSymlinks: true });
    copy = join(data, 'releases', basename(release.folder));
  });
  afterEach(() => rmSync(data, { recursive: true, force: true }));
};

describe('I24: verifyRelease() names the file that does not belong', () => {
  inCopy();

  it.each<[string, unknown[], () => void]>([
    ['missing', [RECORD], () => unlinkSync(at(RECORD))],
    ['cut', [`${RECORD} size`], () => truncateSync(at(RECORD), 100)],
    ['stray in the release', ['extra.json'], () => writeFileSync(at('extra.json'), '{}')],
    ['hidden', ['.hidden'], () => writeFileSync(at('.hidden'), '')],
    ['last', ['zzz'], () => writeFileSync(at('zzz'), '')],
    [
      'a link to its own bytes',
      [expect.stringMatching('^files/record/hydrology'), RECORD],
      () => {
        renameSync(at(RECORD), join(data, 'bytes.json'));
        symlinkSync(join(data, 'bytes.json'), at(RECORD));
      },
    ],
    [
      'a folder that is a link to itself',
      ['files/record'],
      () => {
        renameSync(join(data, 'files/record'), join(data, 'record'));
        symlinkSync('../record', join(data, 'files/record'));
      },
    ],
    ['a link elsewhere', ['files/etc'], () => symlinkSync('/etc', join(data, 'files/etc'))],
    [
      'the files of all releases behind a link',
      ['files'],
      () => {
        renameSync(join(data, 'files'), join(data, 'bytes'));
        symlinkSync('bytes', join(data, 'files'));
      },
    ],
    [
      'a linked list of files',
      ['release.json files_sha256'],
      () => {
        renameSync(at('files.txt'), join(data, 'list.txt'));
        symlinkSync(join(data, 'list.txt'), at('files.txt'));
      },
    ],
    ['a missing list of files', ['release.json files_sha256'], () => unlinkSync(at('files.txt'))],
    [
      'swapped',
      [`${AQI} size`, `${RECORD} size`],
      () => {
        renameSync(at(AQI), at('swap'));
        renameSync(at(RECORD), at(AQI));
        renameSync(at('swap'), at(RECORD));
      },
    ],
    [
      'respaced head',
      ['release.json'],
      () => writeFileSync(at('release.json'), `${readFileSync(at('release.json'), 'utf8')}\n`),
    ],
    ['a head that is no JSON', ['release.json'], () => writeFileSync(at('release.json'), '{')],
  ])('%s', async (_, want, harm) => {
    harm();
    const report = await judge(copy);
    expect(report.verdict).toBe('failed');
    expect(named(report)).toEqual(want);
  });

  it('notes a file that no release lists, without calling the release wrong for it', async () => {
    writeFileSync(join(data, 'files/record/extra.json'), '{}');
    const report = await judge(data);
    expect([report.verdict, report.strays]).toEqual(['verified', ['files/record/extra.json']]);
    expect((await judge(release.data)).strayCount).toBe(0);
  });

  it('an older release that was put into the place of a newer one', async () => {
    const newer = join(data, 'releases/000002-20261121T120000Z');
    cpSync(copy, newer, { recursive: true });
    const report = await judge(data);
    expect(named(report)).toEqual(['releases/000002-20261121T120000Z/release.json sequence']);
    expect(report.strays).toEqual(['releases/000002-20261121T120000Z']);
    unlinkSync(join(data, 'current'));
    symlinkSync('releases/000002-20261121T120000Z', join(data, 'current'));
    for (const path of [data, `${newer}/.`, `${data}/current/`]) {
      expect(named(await judge(path))).toEqual([
        'release.json sequence',
        `releases/${basename(release.folder)}/release.json sequence`,
      ]);
    }
  });

  it.each(['/etc', '../elsewhere', 'releases/../..', 'releases/none', 'releases/.'])(
    'a "current" that points to "%s"',
    async (target) => {
      unlinkSync(join(data, 'current'));
      symlinkSync(target, join(data, 'current'));
      expect(named(await judge(data))).toEqual(['current']);
    },
  );
});

describe('verifyRelease() on what the issuer published wrongly', async () => {
  inCopy();

  const issuer = () => ({
    name: 'Example readings',
    did: release.did,
    keyId: '',
    baseUrl: BASE_URL,
  });
  const digest = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

  /** Changes files and signs the release again, as only its issuer can. */
  function republish(edits: Record<string, (text: string) => string>, head: object = {}): void {
    const entries = entriesOf(copy).map((same) => {
      const { path } = same;
      const text = edits[path]?.(readFileSync(at(path), 'utf8'));
      if (text === undefined) return same;
      const bytes = Buffer.from(text);
      const entry = { path, size: bytes.length, sha256: digest(bytes) };
      writeFileSync(join(data, storedPath(path, entry.sha256)), bytes);
      return entry;
    });
    const list = formatFiles(entries);
    const { signature, ...old } = JSON.parse(readFileSync(at('release.json'), 'utf8')) as Release;
    const unsigned = { ...old, files_sha256: `sha256:${digest(list)}`, ...head };
    const sealer = makeSealer(issuer(), KEY);
    const signed = { ...unsigned, signature: sealer.signText(jcs(unsigned)) };
    writeFileSync(at('files.txt'), list);
    writeFileSync(at('release.json'), `${JSON.stringify(signed, null, 2)}\n`);
    proveAgain(copy, signed, { sealer });
  }

  const shardOf = (path: string): string => {
    const { record_hash } = release.body(path) as { record_hash: string };
    return `verify/${record_hash.slice(7, 9)}.txt`;
  };

  it('accepts what was only signed again', async () => {
    republish({});
    expect(named(await judge(copy))).toEqual([]);
  });

  it('names a value that was changed in a record', async () => {
    republish({ [RECORD]: (text) => text.replace('"stage_ft":13.6', '"stage_ft":13.7') });
    expect(named(await judge(copy))).toEqual([
      'bundle/environment/us-stlouis.json legs.river-level.current.stage_ft',
      'bundle/environment/us-stlouis.json cross_line_narrative',
      'bundle/environment/us-stlouis.json last_fact.current.stage_ft',
      'bundle/environment/us-stlouis.json _citation.fact',
      'calibrated/hydrology.river-level/07010000.json _citation.fact',
      'census/hydrology.river-level.json rows.0.current.stage_ft',
      'free/raw/hydrology.river-level/07010000.json current.stage_ft',
      'free/sample/hydrology.river-level.json sample.current.stage_ft',
      'history/hydrology.river-level/07010000.json _citation.fact',
      `${RECORD} _citation.source.content_hash`,
      `${RECORD} record_hash`,
      `${RECORD} _citation.fact`,
      'ruler/hydrology.river-level/07010000.json _citation.fact',
      'strata/hydrology.river-level/07010000.json _citation.fact',
      'thin/calibrated/hydrology.river-level/07010000.json current.stage_ft',
      'thin/calibrated/hydrology.river-level/07010000.json _citation.fact',
      'thin/record/hydrology.river-level/07010000.json current.stage_ft',
      'thin/record/hydrology.river-level/07010000.json _citation.fact',
    ]);
  });

  it('names a genuine record at the place of another', async () => {
    republish({ [AQI]: () => release.text('record/airquality.pm25/us-denver.json') });
    expect(named(await judge(copy))).toEqual(
      expect.arrayContaining([`${AQI} signal_id`, `${AQI} _citation.source.url`]),
    );
  });

  it('names a sold body without a citation', async () => {
    republish({ [AQI]: (text) => text.replace(/,"_citation":\{.*\}\}$/, '}') });
    expect(named(await judge(copy))).toContain(`${AQI} _citation`);
  });

  it('names the catalog line that differs from its record', async () => {
    republish({ 'index/catalog.txt': (text) => text.replace('"moderate"', '"good"') });
    expect(named(await judge(copy))).toEqual(['index/catalog.txt line 1 band']);
  });

  it('names the catalog when a line is missing', async () => {
    republish({ 'index/catalog.txt': (text) => text.replace(/^.*\n/, '') });
    expect(named(await judge(copy))).toEqual(['index/catalog.txt']);
  });

  it('names the record whose hash is not listed', async () => {
    const shard = shardOf(RECORD);
    const { record_hash } = release.body(RECORD) as { record_hash: string };
    const isOf = (line: string): boolean => line.includes(record_hash);
    const without = (text: string) =>
      text.replace(/^.*"reading",.*\n/gm, (line) => (isOf(line) ? '' : line));
    republish({ [shard]: without });
    expect(named(await judge(copy))).toEqual([`${RECORD} record_hash`]);
  });

  it('names the look-up line that calls a superseded reading current', async () => {
    const old = indexLines()
      .map(parseHashLine)
      .find(({ record_hash }) => {
        const path = verifyShardPath(record_hash);
        return listed.includes(path) && !release.text(path).includes(record_hash);
      });
    if (old === undefined) throw new Error('nothing is superseded');
    const { record_hash, sequence: _, index: __, ...facts } = old;
    const line = formatVerifyEntry({
      ...facts,
      kind: 'reading',
      record_hash,
      state: 'current',
      file: RECORD,
    });
    const shard = verifyShardPath(record_hash);
    republish({
      [shard]: (text) =>
        `${text}${line}`
          .split(/(?<=\n)/)
          .sort()
          .join(''),
    });
    expect(named(await judge(copy))).toEqual([expect.stringMatching(`${shard} line \\d+`)]);
  });

  it('I24: names what in the index is not as it was taken in', async () => {
    const path = indexPaths()[0] ?? '';
    const folder = dirname(path);
    const edits: readonly [(lines: string[]) => string[], readonly string[]][] = [
      [(lines) => lines.toSpliced(2, 1), [folder]],
      [([one = '', ...lines]) => [one, one, ...lines], [folder, `${path} line 2`]],
      [([one = '', two = '', ...lines]) => [two, one, ...lines], [`${path} line 2`]],
      [([one = '', ...lines]) => [one.replace(/,0,/, ',100000,'), ...lines], [`${path} line 1`]],
      [([one = '', ...lines]) => [one.replace(/,1,/, ',2,'), ...lines], [`${path} line 1`]],
      [([one = '', ...lines]) => [one.replace('","', '", "'), ...lines], [`${path} line 1`]],
      [([one = '', ...lines]) => [one.replace('"reading"', '"file"'), ...lines], [folder, path]],
    ];
    for (const [edit, want] of edits) {
      const changed = (text: string): string =>
        edit(text.split('\n').slice(0, -1))
          .map((line) => `${line}\n`)
          .join('');
      republish({ [path]: changed });
      expect(named(await judge(copy)).filter((name) => name.startsWith('index/hashes'))).toEqual(
        want,
      );
      republish({ [path]: () => release.text(path) });
    }
    expect(named(await judge(copy))).toEqual([]);
  });

  it('names the count of the head that differs', async () => {
    const { counts } = (await judge(copy)).head ?? { counts: {} };
    republish({}, { counts: { ...counts, records: 7 } });
    expect(named(await judge(copy))).toEqual(['release.json counts.records']);
  });

  it('names another version of the contract', async () => {
    republish({}, { contract_version: 99 });
    expect(named(await judge(copy))).toEqual(['release.json contract_version']);
  });

  it('says that the tables are others, without calling that a fault', async () => {
    republish({}, { table_digest: `sha256:${'0'.repeat(64)}` });
    expect(await judge(copy)).toMatchObject({ verdict: 'verified', ownTables: false });
  });
});

describe('packed check', () => {
  const DOCUMENT = 'well-known/openapi.json';
  let release: Shop;
  beforeAll(async () => {
    release = await smallShop();
  });
  afterAll(() => release.dispose());

  /** Publishes the release with another list, as only its issuer can, and names what is found. */
  async function faultsOf(change: (entries: FileEntry[]) => FileEntry[]): Promise<string[]> {
    const [list, head] = ['files.txt', 'release.json'].map((name) => join(release.folder, name));
    if (list === undefined || head === undefined) throw new Error('no release');
    const before = [readFileSync(list), readFileSync(head)] as const;
    const entries = change(parseFiles(before[0].toString('utf8')));
    writeFileSync(list, formatFiles(entries));
    resign(release.folder, { files_count: entries.length });
    try {
      const { faults } = await verifyRelease(release.folder, { trust: [release.did] });
      return faults.map(({ file, detail }) => `${file} ${detail}`);
    } finally {
      writeFileSync(list, before[0]);
      writeFileSync(head, before[1]);
    }
  }

  /** The list with other bytes at a path. */
  const holding =
    (path: string, bytes: Buffer) =>
    (entries: FileEntry[]): FileEntry[] => {
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      writeFileSync(join(release.data, storedPath(path, sha256)), bytes);
      return entries.map((each) =>
        each.path === path ? { path, size: bytes.length, sha256 } : each,
      );
    };

  describe('packedFault()', () => {
    it('finds nothing in a release as it was compiled, which holds packed forms', async () => {
      expect(await faultsOf((entries) => entries)).toEqual([]);
      expect(parseFiles(release.text('files.txt')).map(({ path }) => path)).toContain(
        `${DOCUMENT}.br`,
      );
    });

    it('takes another stream of the same bytes', async () => {
      const same = gzipSync(release.text(DOCUMENT), { level: 1 });
      expect(await faultsOf(holding(`${DOCUMENT}.gz`, same))).toEqual([]);
    });

    it.each<[string, string, (text: string) => Buffer]>([
      [
        'another price under brotli',
        '.br',
        (text) => brotliCompressSync(text.replace('0.01', '0.02')),
      ],
      ['another price under gzip', '.gz', (text) => gzipSync(text.replace('0.01', '0.02'))],
      ['the other coding', '.br', (text) => gzipSync(text)],
      ['no stream at all', '.gz', (text) => Buffer.from(text)],
      ['a stream that is cut off', '.gz', (text) => gzipSync(text).subarray(0, -9)],
      ['more than the file', '.br', (text) => brotliCompressSync(`${text} `)],
      ['a bomb', '.gz', () => gzipSync(Buffer.alloc(5_000_000))],
    ])('names %s', async (_, end, make) => {
      const bytes = make(release.text(DOCUMENT));
      const stray = / that no release lists|no release lists/;
      const faults = await faultsOf(holding(DOCUMENT + end, bytes));
      expect(faults.filter((fault) => !stray.test(fault))).toEqual([
        `${DOCUMENT}${end} does not unpack to "${DOCUMENT}"`,
      ]);
    });

    it('names a packed form of nothing', async () => {
      const faults = await faultsOf((entries) => entries.filter(({ path }) => path !== DOCUMENT));
      expect(faults).toContain(`${DOCUMENT}.br is a form of "${DOCUMENT}", which is not listed`);
    });
  });
});

const folder = mkdtempSync(join(tmpdir(), 'signalpress-list-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const entries = Array.from({ length: 997 }, (_, at) => {
  const path = `${at % 2 === 0 ? 'a' : 'b/c'}/${String(at).padStart(4, '0')}.json`;
  return { path, size: at, sha256: at.toString(16).padStart(64, '0') };
}).sort((a, b) => (a.path < b.path ? -1 : 1));

function listOf(text: string) {
  writeFileSync(join(folder, 'files.txt'), text);
  return openFileList(nodeDisk, folder);
}

describe('FileList', () => {
  const list = listOf(formatFiles(entries));

  it('finds every path that is listed and no other', () => {
    for (const entry of entries) expect(list.find(entry.path)).toEqual(entry);
    for (const path of ['', 'a', 'a/', 'a/0001.json', 'b/c/9999.json', 'zzz', '~']) {
      expect(list.find(path)).toBeNull();
    }
  });

  it('gives each file in exactly one chunk, in order', () => {
    const given = Array.from({ length: list.chunks }, (_, chunk) => list.chunk(chunk)).flat();
    expect(given).toEqual(entries);
    expect(list.chunks).toBeGreaterThan(5);
  });

  it('counts by prefix', () => {
    expect([list.count('a/'), list.count('b/c/'), list.count('b/d/')]).toEqual([499, 498, 0]);
    expect([list.count(''), list.count('zzz')]).toEqual([997, 0]);
  });

  it('is empty for an empty list', () => {
    const empty = listOf('');
    expect([empty.chunks, empty.find('a'), empty.count('')]).toEqual([0, null, 0]);
  });

  it('refuses a list that is unsorted, malformed or cut off', () => {
    const text = formatFiles(entries.slice(0, 3));
    const [first = '', second = ''] = text.split('\n');
    for (const bad of [`${second}\n${first}\n`, `${first}\n${first}\n`, text.slice(0, -1), 'x\n']) {
      expect(() => listOf(bad)).toThrow(RangeError);
    }
  });
});
