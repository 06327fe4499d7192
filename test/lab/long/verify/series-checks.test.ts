import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { verify } from '../../../../compiler/client/verify.ts';
import { csvLine, csvRows } from '../../../../compiler/format/csv-line.ts';
import { type FileEntry, formatFiles, parseFiles } from '../../../../compiler/format/release.ts';
import { type JsonValue, parseJson } from '../../../../compiler/format/strict-json.ts';
import { storedPath } from '../../../../compiler/products/shapes/path.ts';
import { chainLink } from '../../../../compiler/products/shapes/series.ts';
import { bodyOfText } from '../../../../compiler/products/shapes/series-csv.ts';
import { canonicalHash } from '../../../../compiler/verify/body-check.ts';
import { coresFault } from '../../../../compiler/verify/series-checks.ts';
import { verifyBody } from '../../../../compiler/verify/verify-body.ts';
import { runVerify } from '../../../../compiler/verify/verify-command.ts';
import { verifyRelease } from '../../../../compiler/verify/verify-release.ts';
import { answer } from '../../../../gatekeeper/heart/answers/answers.ts';
import { series } from '../../../../gatekeeper/rooms/series.ts';
import { compiledService, jsonOf, question } from '../../../gatekeeper/tiny-service.ts';
import { flipBit, overlayDisk, seeded } from '../../../public-part.ts';
import { ownShop } from '../../../shop.ts';
import { seriesSet } from '../../../small-set.ts';
import {
  compileFolder,
  fileOf,
  ndjson,
  reading,
  readJson,
  removeFolders,
  SEED,
  writeSnapshots,
} from '../../../snapshot-folder.ts';
import { alterations } from '../../../verify/alterations.ts';
import { resign } from '../../../verify/resign.ts';

afterAll(removeFolders);

type Row = Record<string, JsonValue>;
interface Series {
  readonly [name: string]: unknown;
  readonly days: number;
  readonly count: number;
  readonly before: { rows: number; snapshot_date: string | null; chain: string };
  readonly rows: readonly Row[];
}
const FILE = 'series/crypto.spot/btc.json';
let did = '';
let stored: Series;
let delivered: Series;
/** The same with verifiable=1. */
let cored: Series;

beforeAll(async () => {
  const made = await ownShop('series-set', seriesSet);
  const { data, folder } = made;
  did = made.did;
  stored = readJson(folder, FILE);
  const service = await compiledService(data, '2026-11-21T12:00:00Z');
  const target = '/gauge/history-series?signal_id=crypto.spot&entity=btc&days=2';
  delivered = jsonOf(await series(question(target), service)) as unknown as Series;
  const verifiable = question(`${target}&verifiable=1`);
  cored = jsonOf(await series(verifiable, service)) as unknown as Series;
});

const bare = ({ _hash_core: _, ...row }: Row = {}): Row => row;
const edited = (row: Row, members: Row): Row => {
  return { ...row, _hash_core: { ...(row._hash_core as Row), ...members } };
};
const swap = (row: Row = {}, of: Row = {}): Row => ({ ...row, _hash_core: of._hash_core ?? null });
/** A stored form has no words of time, and all that an answer has. */
const verdict = (body: unknown) => {
  const isStored = (body as Series).segments !== undefined;
  return verifyBody(body as JsonValue, { trust: [did], isStored }).verdict;
};
/** The state after the first row of a body: what a liar would put in front of the rest. */
function stateAfterFirst({ before, rows: [first] }: Series) {
  const { rows } = before;
  const chain = canonicalHash(chainLink(before, first));
  return { rows: rows + 1, snapshot_date: first?.snapshot_date as string, chain };
}
const withRows = (body: Series, rows: readonly Row[]) => ({ ...body, rows, count: rows.length });

describe('seriesChecks()', () => {
  it('accepts the stored series and a cut of it', () => {
    expect([verdict(stored), verdict(delivered)]).toEqual(['verified', 'verified']);
    expect([stored.count, delivered.count]).toEqual([6, 3]);
  });

  it.each<[string, (body: Series) => unknown]>([
    ['the last row dropped', (b) => withRows(b, b.rows.slice(0, -1))],
    ['a middle row dropped', (b) => withRows(b, b.rows.toSpliced(1, 1))],
    ['the first row dropped', (b) => withRows(b, b.rows.slice(1))],
    [
      'the first row dropped and the chain continued behind it',
      (b) => ({ ...withRows(b, b.rows.slice(1)), before: stateAfterFirst(b) }),
    ],
    [
      'the first row dropped under a date of the liar',
      (b) => ({
        ...withRows(b, b.rows.slice(1)),
        before: { ...stateAfterFirst(b), snapshot_date: '2020-01-01T00:00:00Z' },
      }),
    ],
    ['two rows swapped', (b) => withRows(b, [...b.rows].reverse())],
    ['a row twice', (b) => withRows(b, [...b.rows, ...b.rows.slice(-1)])],
    ['no rows', (b) => withRows(b, [])],
    ['more days than the rows reach', (b) => ({ ...b, days: 400 })],
    ['fewer days than the rows reach', (b) => ({ ...b, days: 1 })],
    ['days beyond the limit', (b) => ({ ...b, days: 1001 })],
    ['another count', (b) => ({ ...b, count: 2 })],
    ['a member more in a row', (b) => withRows(b, [{ ...b.rows[0], x: 1 }, ...b.rows.slice(1)])],
    ['cuts of another cut', (b) => ({ ...b, cuts: stored.cuts })],
    ['the tier of a record', (b) => ({ ...b, tier: 'full' })],
  ])('refuses %s', (_, edit) => {
    expect(verdict(edit(delivered))).toBe('failed');
  });

  it('accepts a shorter cut of the same rows, for it is the answer to fewer days', () => {
    const first = stateAfterFirst(delivered);
    const second = stateAfterFirst({ ...delivered, before: first, rows: delivered.rows.slice(1) });
    const shorter = { ...withRows(delivered, delivered.rows.slice(2)), before: second, days: 1 };
    expect(verdict(shorter)).toBe('verified');
  });

  it('refuses a stored index of cuts that does not fit the rows', () => {
    const cuts = (stored.cuts as JsonValue[]).slice(1);
    expect(verdict({ ...stored, cuts })).toBe('failed');
  });

  it('accepts rows with their hash cores, each of which proves its row', () => {
    expect(verdict(cored)).toBe('verified');
    expect(cored.rows.map(({ _hash_core: core }) => canonicalHash(core))).toEqual(
      cored.rows.map(({ record_hash }) => record_hash),
    );
  });

  it.each<[string, (rows: readonly Row[]) => readonly Row[]]>([
    ['one core less', ([first, ...rows]) => [bare(first), ...rows]],
    ['the cores of two rows exchanged', ([a, b, ...rows]) => [swap(a, b), swap(b, a), ...rows]],
    ['another source', (rows) => rows.map((row) => edited(row, { source_ref: 'https://x.org' }))],
    ['another metric', (rows) => rows.map((row) => edited(row, { current: { price_usd: 1 } }))],
    ['a member more', (rows) => rows.map((row) => edited(row, { x: 1 }))],
    ['a core that is null', (rows) => rows.map((row) => ({ ...row, _hash_core: null }))],
  ])('refuses cores with %s', (_, edit) => {
    const body = { ...cored, rows: edit(cored.rows) };
    expect(verdict(body)).toBe('failed');
  });

  it('refuses a core that says something else than its row, though it has the hash of the row', () => {
    // Only the issuer could sign such a row.
    const rows = delivered.rows.map((row) => ({ ...row, current: { price_usd: 7 } }));
    const lies = rows.map((row, at) => ({ ...row, _hash_core: cored.rows[at]?._hash_core ?? {} }));
    const of = { signal_id: 'crypto.spot', entity: 'btc' };
    expect(coresFault(of, rows)).toBe(null);
    expect(coresFault(of, lies)).toBe('"_hash_core" of row 0 is not that of its row');
    expect(coresFault(of, cored.rows)).toBe(null);
    expect(coresFault({ ...of, entity: 'eth' }, cored.rows)).toMatch(/row 0 is not that/);
  });

  it.each<[string, (origins: readonly JsonValue[]) => unknown]>([
    [
      'of other sources',
      () => [[6, { source_ref: null, source_tier: null, sources: null, lifecycle: null }]],
    ],
    ['of fewer rows', (runs) => [[5, (runs[0] as JsonValue[])[1]]]],
    ['of more rows than there are', (runs) => [[1e9, (runs[0] as JsonValue[])[1]]]],
    ['of half a row', (runs) => [[0.5, (runs[0] as JsonValue[])[1]], ...runs]],
    ['without a member', () => [[6, { source_ref: null, source_tier: null, sources: null }]]],
    ['that are none', () => 7],
  ])('refuses stored origins %s', (_, edit) => {
    const body = { ...stored, origins: edit(stored.origins as JsonValue[]) };
    expect([verdict(stored), verdict(body)]).toEqual(['verified', 'failed']);
  });

  it('accepts a stored form without segments, and refuses one whose rows stand elsewhere', () => {
    expect(stored.segments).toEqual([]);
    for (const segments of [[[0, 16, '2026-11-18T00:00:00Z', '2026-11-19T00:00:00Z']], null, 0]) {
      expect(verdict({ ...stored, segments })).toBe('failed');
      expect(verdict({ ...delivered, segments })).toBe('failed');
    }
  });

  it('I30: refuses a cut with any single member altered, or shifted in time', () => {
    const accepted = [...alterations(delivered as unknown as JsonValue)].filter(
      ({ altered }) => verdict(altered) === 'verified',
    );
    expect(accepted.map(({ path }) => path)).toEqual([]);
  });

  it('has nothing to say about a series of another service, which has no chain', () => {
    const foreign = { tier: 'history-series', rows: [{ record_hash: null }] };
    expect(verdict(foreign)).toBe('unsigned');
  });
});

describe('series segments', () => {
  const HEAD = 'series/crypto.spot/btc.json';
  const FIRST = 'segment/crypto.spot/btc/0-16.txt';
  const SECOND = 'segment/crypto.spot/btc/16-16.txt';

  let root = '';
  let data = '';
  let did = '';
  let list: readonly FileEntry[] = [];
  const written: string[] = [];

  /** Sixty readings of one price in three days, so that two segments hold 32 of them. */
  beforeAll(async () => {
    const days = ['2026-11-18', '2026-11-19', '2026-11-20'];
    const files = days.map((day) => {
      const rows = Array.from({ length: 14 }, (_, index) => {
        const at = `${day}T00:${String(index + 10)}:00Z`;
        return reading('btc', { price_usd: index }, { observed_at: at, collected_at: at });
      });
      return [`${day}/crypto.spot.ndjson`, ndjson(rows)] as const;
    });
    const made = await compileFolder(writeSnapshots(Object.fromEntries(files)));
    [root, data, did] = [made.folder, made.data, made.release.issuer_did];
    list = parseFiles(readFileSync(join(root, 'files.txt'), 'utf8'));
  });
  afterEach(() => {
    for (const file of written.splice(0)) rmSync(file, { force: true });
    publish(list);
  });

  function publish(entries: readonly FileEntry[]): void {
    const sorted = [...entries].sort((a, b) => (a.path < b.path ? -1 : 1));
    writeFileSync(join(root, 'files.txt'), formatFiles(sorted));
    resign(root, { files_count: sorted.length }, SEED);
  }

  /** The list with other bytes at a path, stored where they belong. */
  function put(path: string, text: string): FileEntry {
    const sha256 = createHash('sha256').update(text).digest('hex');
    const place = join(data, storedPath(path, sha256));
    if (!existsSync(place)) written.push(place);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, text);
    return { path, size: Buffer.byteLength(text), sha256 };
  }

  const textOf = (path: string): string => readFileSync(fileOf(root, path), 'utf8');
  const without = (...paths: string[]) => list.filter(({ path }) => !paths.includes(path));

  async function faultsOf(): Promise<string[]> {
    const { faults } = await verifyRelease(root, { trust: [did] });
    return faults.map(({ file, where }) => `${file} ${where}`.trim());
  }

  describe('verifyRelease() of a series in segments', () => {
    it('accepts them as they were written', async () => {
      expect(list.map(({ path }) => path)).toEqual(expect.arrayContaining([HEAD, FIRST, SECOND]));
      expect(await faultsOf()).toEqual([]);
    });

    it('names the segment in which any bit is flipped', async () => {
      const below = seeded(7);
      for (const path of [FIRST, SECOND]) {
        const stem = path.replace('.txt', '.');
        const bits = readFileSync(fileOf(root, path)).length * 8;
        for (const bit of [0, bits - 1, ...Array.from({ length: 10 }, () => below(bits))]) {
          const disk = overlayDisk((file, bytes) =>
            file.includes(stem) ? flipBit(bytes, bit) : bytes,
          );
          const { faults } = await verifyRelease(root, { trust: [did], disk });
          expect(faults.map(({ file, where }) => `${file} ${where}`)).toEqual([`${path} sha256`]);
        }
      }
    });

    it('names a segment that is lost on the disk, and one that is not listed', async () => {
      const place = fileOf(root, FIRST);
      const bytes = readFileSync(place);
      rmSync(place);
      expect(await faultsOf()).toEqual([FIRST]);
      writeFileSync(place, bytes);
      publish(without(FIRST));
      expect(await faultsOf()).toContain(`${HEAD} segments.0`);
    });

    it.each([
      ['of a place that the series does not have', 'segment/crypto.spot/btc/32-16.txt'],
      ['of no series', 'segment/crypto.spot/eth/0-16.txt'],
      ['of a size that there is not', 'segment/crypto.spot/btc/0-32.txt'],
      ['under a path that is no path of a segment', 'segment/crypto.spot/btc.txt'],
      ['under a path that no text encodes to', 'segment/crypto.spot/~zz/0-16.txt'],
    ])('names a segment %s', async (_, path) => {
      publish([...list, put(path, textOf(FIRST))]);
      expect(await faultsOf()).toEqual([path]);
    });

    it.each<[string, (text: string) => string, string]>([
      ['a value altered', (text) => text.replace('"price_usd":3', '"price_usd":4'), '_'],
      ['a row left out', (text) => text.replace(/\n\{.*/, ''), 'segments.1'],
      ['two rows in one line', (text) => text.replace(',\n{', ',{'), 'segments.1'],
      ['a row without its comma', (text) => text.replace('},\n', '}\n'), 'segments.1'],
      ['a line that is no row', (text) => text.replace(/\n\{.*\n/, '\n1,\n'), 'segments.1'],
      ['no line end behind the last row', (text) => text.slice(0, -1), 'segments.1'],
      ['a cut of another segment', (text) => text.replace(',28,', ',12,'), 'segments.1'],
      ['no cuts', (text) => text.replace(/.*/, '[]'), 'rows'],
      ['no origins', (text) => text.replace(/\n.*/, '\n[]'), 'segments.1'],
      ['another origin', (text) => text.replace('"source_ref":"', '"source_ref":"x'), '_'],
      ['origins of more rows', (text) => text.replace('\n[[16,', '\n[[17,'), 'segments.1'],
      ['origins of fewer rows', (text) => text.replace('\n[[16,', '\n[[15,'), 'segments.1'],
      [
        'an origin that is none',
        (text) => text.replace(/\n\[\[16,.*/, '\n[[16,[]]]'),
        'segments.1',
      ],
      [
        'a cut too many',
        (text) => text.replace(/\]\]/, '],["2026-11-20T00:00:00Z",29,"x"]]'),
        'rows',
      ],
      ['cuts that are no list', (text) => text.replace(/.*/, '{"a":1}'), 'rows'],
    ])('names a series whose issuer stored %s', async (_, change, where) => {
      const text = change(textOf(SECOND));
      expect(text).not.toBe(textOf(SECOND));
      publish([...without(SECOND), put(SECOND, text)]);
      expect(await faultsOf()).toContain(`${HEAD} ${where === '_' ? 'rows' : where}`);
    });

    it.each<[string, (text: string) => string]>([
      [
        'other dates',
        (text) => text.replace('"segments":[[0,16,"2026-11-18', '"segments":[[0,16,"2026-11-17'),
      ],
      ['no segments', (text) => text.replace(/"segments":.*/, '"segments":[],')],
      ['a segment fewer', (text) => text.replace(/"segments":\[(\[.*?\]),.*/, '"segments":[$1],')],
    ])('names a series that states %s', async (_, change) => {
      const text = change(textOf(HEAD));
      expect(text).not.toBe(textOf(HEAD));
      publish([...without(HEAD), put(HEAD, text)]);
      expect(await faultsOf()).toEqual([`${HEAD} segments`]);
    });
  });
});

describe('signed csv', () => {
  const TARGET = '/gauge/history-series?signal_id=crypto.spot&entity=btc';
  const NOW = '2026-11-21T12:00:00Z';

  let did: string;
  let ask: (query: string) => Promise<string>;
  let table: string;
  let lines: readonly string[];
  beforeAll(async () => {
    const made = await ownShop('series-set', seriesSet);
    const service = await compiledService(made.data, NOW);
    did = made.did;
    ask = async (query) => {
      const answered = await answer(question(TARGET + query), service);
      if (answered.kind !== 'content') throw new Error(`Cannot ask "${query}": no answer`);
      return answered.content.body.toString('utf8');
    };
    table = await ask('&format=csv-signed&days=1000');
    lines = table.split('\r\n').slice(0, -1);
  });

  const joined = (parts: readonly string[]): string => parts.map((line) => `${line}\r\n`).join('');
  const verdictOf = (text: string, issuer = did): string =>
    verify(text, { issuer, now: Date.parse(NOW), demandsProof: false }).verdict;

  /** Every text that was judged, with the exit code of the command: the other verifier is asked about all of them at once. */
  const asked: { readonly text: string; readonly issuer: string; readonly exit: number }[] = [];

  /** What the command answers for a text on standard input. */
  async function exitOf(text: string, issuer = did): Promise<number> {
    const readStdin = (): Uint8Array => Buffer.from(text);
    const by = { issuer: [issuer], now: Date.parse(NOW), json: true, readStdin };
    const said = await runVerify('-', by);
    const isUnproven = JSON.parse(said.text).verdict === 'unproven';
    const exitCode = isUnproven ? 0 : said.exitCode;
    asked.push({ text, issuer, exit: exitCode });
    return exitCode;
  }

  describe('a series with format=csv-signed', () => {
    it.each([1, 2, 398, 1000])('stands for the very answer of %d days as JSON', async (days) => {
      const text = await ask(`&format=csv-signed&days=${days}`);
      expect(bodyOfText(text)).toEqual(parseJson(await ask(`&days=${days}`)));
      expect(verdictOf(text)).toBe('verified');
      expect(await exitOf(text)).toBe(0);
    });

    it('has a column of hash cores with verifiable=1, and verifies with it', async () => {
      const text = await ask('&format=csv-signed&days=1000&verifiable=1');
      expect(bodyOfText(text)).toEqual(parseJson(await ask('&days=1000&verifiable=1')));
      expect(text.split('\r\n')[1]).toBe(`${lines[1]},_hash_core`);
      expect([verdictOf(text), await exitOf(text)]).toEqual(['verified', 0]);
      const other = text.replace('""source_tier"":""', '""source_tier"":""x');
      expect(other).not.toBe(text);
      expect([verdictOf(other), await exitOf(other)]).toEqual(['failed', 1]);
      const unnamed = text.replace(',_hash_core\r\n', '\r\n');
      expect(await exitOf(unnamed)).not.toBe(0);
    });

    it('has the plain table behind its first line', async () => {
      const plain = await ask('&format=csv&days=1000');
      expect(table).toBe(`${lines[0]}\r\n${plain}`);
      expect(verdictOf(plain)).toBe('unsigned');
      expect(await exitOf(plain)).toBe(2);
    });

    it('fails for another issuer', async () => {
      const other = 'did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw';
      expect(verdictOf(table, other)).toBe('failed');
      expect(await exitOf(table, other)).toBe(1);
    });

    it.each<readonly [string, (rows: readonly string[]) => readonly string[]]>([
      [
        'whose first row is cut',
        ([head, columns, , ...rows]) => [head, columns, ...rows] as string[],
      ],
      ['whose last row is cut', (rows) => rows.slice(0, -1)],
      ['with a row twice', (rows) => [...rows, rows.at(-1) ?? '']],
      ['with two rows exchanged', ([h, c, a, b, ...rows]) => [h, c, b, a, ...rows] as string[]],
      ['without rows', (rows) => rows.slice(0, 2)],
      ['without its columns', ([head, , ...rows]) => [head, ...rows] as string[]],
      ['with an altered metric', (rows) => rows.map((row) => row.replace('usd"":', 'usd"":1'))],
      ['with an altered band', (rows) => rows.map((row) => row.replace(',plain,', ',other,'))],
      ['with an altered age', (rows) => rows.map((row) => row.replace(/Z,(\d)/, 'Z,1$1'))],
      ['with a formula', (rows) => rows.map((row) => row.replace("'=1", '=1'))],
      [
        'with cells in quotation marks',
        (rows) => rows.map((row) => row.replace('plain', '"plain"')),
      ],
      ['with a cell more', (rows) => [...rows.slice(0, -1), `${rows.at(-1)},`]],
      ['with an altered head', ([head = '', ...rows]) => [head.replace('btc', 'eth'), ...rows]],
      [
        'with rows in its head',
        ([h = '', ...rows]) => [h.replace('"rows":[]', '"rows":[1]'), ...rows],
      ],
      ['with a bare LF in its head', ([h = '', ...rows]) => [h.replace(',"', ',\n"'), ...rows]],
      ['with a bare CR in its head', ([h = '', ...rows]) => [h.replace(',"', ',\r"'), ...rows]],
      ['without a head', ([, ...rows]) => ['# ', ...rows]],
    ])('fails %s', async (_, alter) => {
      const altered = joined(alter(lines));
      expect(altered).not.toBe(table);
      expect(verdictOf(altered)).toBe('failed');
      expect(await exitOf(altered)).not.toBe(0);
    });

    it('verifies with one line feed more at its end, as a shell saves it', async () => {
      expect(verdictOf(`${table}\n`)).toBe('verified');
      expect(await exitOf(`${table}\n`)).toBe(0);
    });

    it('fails for line ends of another system, for two more, and without the last one', async () => {
      for (const altered of [
        `${table}\n\n`,
        `${table}\r\n`,
        table.replaceAll('\r\n', '\n'),
        table.slice(0, -2),
      ]) {
        expect(verdictOf(altered)).toBe('failed');
        expect(await exitOf(altered)).not.toBe(0);
      }
    });
  });

  describe('csvRows()', () => {
    it.each(['=1', "'=1", "''@x", "'plain", 'a "b", c', 'x\r\ny', '-', '', 'tab\there'])(
      'reads back %j as it was written',
      (cell) => {
        expect([...csvRows(csvLine([cell, 'x']), 0)]).toEqual([[cell, 'x']]);
      },
    );

    it.each(['a"b\r\n', '"a\r\n', 'a', 'a\n', '"a"\r\n', '=1\r\n', '"a"b\r\n'])(
      'refuses %j, which nobody writes',
      (text) => {
        expect(() => [...csvRows(text, 0)]).toThrow(SyntaxError);
      },
    );
  });
});
