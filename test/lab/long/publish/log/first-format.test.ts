import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Checkpoint,
  parseCheckpoint,
  parseNote,
} from '../../../../../compiler/format/checkpoint.ts';
import { HASH_BYTES, leafHash, verifyInclusion } from '../../../../../compiler/format/merkle.ts';
import { parseFiles } from '../../../../../compiler/format/release.ts';
import { type JsonValue, parseJson } from '../../../../../compiler/format/strict-json.ts';
import { bundleEntries, takenPath } from '../../../../../compiler/format/tiles.ts';
import { signCheckpoint } from '../../../../../compiler/publish/log/continue-log.ts';
import { openLog } from '../../../../../compiler/release/log-folder.ts';
import { sha256 } from '../../../../../compiler/release/log-tree.ts';
import { canonicalDigest } from '../../../../../compiler/system/jcs.ts';
import { issuerDid, makeSealer } from '../../../../../compiler/system/sealer.ts';
import { verifyBody } from '../../../../../compiler/verify/verify-body.ts';
import { verifyLog } from '../../../../../compiler/verify/verify-log.ts';
import { verifyRelease } from '../../../../../compiler/verify/verify-release.ts';
import { answer } from '../../../../../gatekeeper/heart/answers/answers.ts';
import { LogTree } from '../../../../../gatekeeper/heart/release/log-files.ts';
import { compileNext, format2Folder, SOLD_THEN } from '../../../../format-2-folder.ts';
import { compiledService, jsonOf, question } from '../../../../gatekeeper/tiny-service.ts';
import { BASE_URL, KEY } from '../../../../shop.ts';
import { fileOf, filesBelow, readJson, removeFolders } from '../../../../snapshot-folder.ts';

afterAll(removeFolders);

type Folder = ReturnType<typeof format2Folder>;

/** Three of readings and one of each head: what the last log of the folder held, with the head of its release. */
const RELEASES = [1, 2, 3] as const;
const before = format2Folder();
const namesBefore = readdirSync(join(before.data, 'releases')).sort();
const folderOf = (name: string): string => join(before.data, 'releases', name);
const noteIn = (name: string): string =>
  readFileSync(fileOf(folderOf(name), 'log/checkpoint'), 'utf8');
const LAST_NOTE = readFileSync(join(before.data, 'log-checkpoint'), 'utf8');
const checkpointOf = (note: string) => {
  const checkpoint = parseCheckpoint(parseNote(note)?.text ?? '');
  if (checkpoint === null) throw new Error('no checkpoint');
  return checkpoint;
};
const sizeBefore = checkpointOf(LAST_NOTE).size;
const now = Date.parse('2026-11-20T13:00:00Z');

const indexPaths = parseFiles(readFileSync(join(before.data, 'current/files.txt'), 'utf8'))
  .map(({ path }) => path)
  .filter((path) => path.startsWith('log/index/'));

/** What stands in the index of the log of before: kind by hash. */
function indexBefore(): Map<string, string> {
  const kinds = new Map<string, string>();
  for (const path of indexPaths) {
    const text = readFileSync(fileOf(join(before.data, 'current'), path), 'utf8');
    for (const line of text.split('\n').slice(0, -1)) {
      const [hash, , kind] = JSON.parse(line);
      kinds.set(hash, kind);
    }
  }
  return kinds;
}

let after: Folder;
let did: string;
beforeAll(async () => {
  after = format2Folder();
  const { release } = await compileNext(after);
  did = release.issuer_did;
  expect(release.sequence).toBe(RELEASES.length + 1);
});

/** A tree of the log of a folder, as a gatekeeper reads it. */
function treeOf(data: string): LogTree {
  const log = openLog(data);
  if (log === null) throw new Error('no log');
  const place = {
    log: async (path: string) => readFileSync(join(data, path)),
  } as unknown as ConstructorParameters<typeof LogTree>[0];
  return new LogTree(place, log.signed);
}

function entriesOf(data: string): Uint8Array[] {
  const folder = join(data, 'log/tile/entries');
  const size = openLog(data)?.signed.size ?? 0;
  const last = join(folder, `001.p/${size % 256}`);
  return [join(folder, '000'), last].flatMap((path) => bundleEntries(readFileSync(path)));
}

describe('a data folder of the first format', () => {
  it('I73: goes on with its log: each entry stays, the head of its release and the first entry of a release follow', async () => {
    const log = openLog(after.data);
    expect(log?.signed.size).toBe(sizeBefore + 1);
    expect(log?.last).toMatchObject({ sequence: RELEASES.length + 1, valid_until: null });
    expect(log?.entryOf(RELEASES.length)).toBeNull();
    const head = readJson(folderOf(namesBefore.at(-1) ?? ''), 'release.json');
    const entries = entriesOf(after.data).map((bytes) => Buffer.from(bytes).toString('latin1'));
    expect(entries.slice(-2)[0]).toBe(canonicalDigest(head));
    expect(readJson(join(after.data, 'current'), 'release.json').previous).toBe(
      canonicalDigest(head),
    );
    const old = indexBefore();
    expect(old.size).toBeGreaterThan(256);
    expect(entries.slice(0, sizeBefore - 1).filter((text) => old.has(text))).toHaveLength(old.size);
    const tree = treeOf(after.data);
    for (const [index, entry] of entries.entries()) {
      const proof = await tree.proof(index);
      const leaf = leafHash(Buffer.from(entry, 'latin1'), sha256);
      const claim = { index, size: tree.size, leaf, proof, root: tree.root };
      expect(verifyInclusion(claim, sha256)).toBe(true);
    }
  });

  it('I73: extends every checkpoint that it signed before', async () => {
    const notes = [...namesBefore.map(noteIn), LAST_NOTE];
    for (const note of notes) {
      const { size, root } = checkpointOf(note);
      const own = await treeOf(after.data).rangeHash({ start: 0, end: size });
      expect(Buffer.from(own)).toEqual(Buffer.from(root));
      const report = verifyLog(after.data, { trust: [did], since: note });
      expect([report.faults, report.verdict, report.evidence]).toEqual([[], 'verified', []]);
    }
  });

  it('I73: takes in every reading and row of before, each of which has a proof', async () => {
    const bytes = readFileSync(join(after.data, takenPath(RELEASES.length + 1)));
    const taken = Array.from(
      { length: bytes.length / HASH_BYTES },
      (_, at) => `sha256:${bytes.toString('hex', at * HASH_BYTES, (at + 1) * HASH_BYTES)}`,
    );
    const readings = [...indexBefore()].filter(([, kind]) => kind === 'reading' || kind === 'row');
    expect(readings.length).toBeGreaterThan(256);
    expect(taken).toEqual(readings.map(([hash]) => hash).sort());
    const service = await compiledService(after.data, now);
    for (const hash of taken.slice(0, 20)) {
      const body = jsonOf(await answer(question(`/proof/${hash}`), service)) as JsonValue;
      expect(body).toMatchObject({ found: true, inclusion: { entry: { sequence: 4 } } });
      expect(verifyBody(body, { trust: [did], now }).verdict).toBe('partly_verified');
    }
    const unknown = jsonOf(await answer(question(`/proof/sha256:${'0'.repeat(64)}`), service));
    expect(unknown).toMatchObject({ found: false, inclusion: null });
  });

  it('makes a release that verifies whole, and leaves those of before', async () => {
    const report = await verifyRelease(after.data, { trust: [did] });
    expect([report.faults, report.verdict]).toEqual([[], 'verified']);
    expect(readdirSync(join(after.data, 'releases')).slice(0, RELEASES.length).sort()).toEqual(
      namesBefore,
    );
    expect(existsSync(join(after.data, 'log-checkpoint'))).toBe(false);
    expect(existsSync(join(after.data, 'anchors'))).toBe(false);
  });

  it('keeps the time stamps of before beside the log', () => {
    const stamps = readdirSync(join(before.data, 'anchors')).sort();
    expect(stamps.length).toBeGreaterThan(2);
    expect(readdirSync(join(after.data, 'log/anchor')).sort()).toEqual(stamps);
    const { anchors } = verifyLog(after.data, { trust: [did] });
    expect(anchors).toEqual({ pending: stamps.length / 2, confirmed: 0 });
  });

  it('goes on from what it remembers then, and takes in nothing twice', async () => {
    const again = { snapshots: after.snapshots, data: `${after.data}-again` };
    cpSync(after.data, again.data, { recursive: true, verbatimSymlinks: true });
    const summary = await compileNext(again, { asOf: '2026-11-20T13:50:00Z' });
    expect(summary.isIncremental).toBe(true);
    expect(openLog(again.data)?.last).toMatchObject({ sequence: 5, new: { count: 0 } });
    const report = await verifyRelease(again.data, { trust: [did] });
    expect([report.faults, report.verdict]).toEqual([[], 'verified']);
    expect(verifyLog(again.data, { trust: [did], since: LAST_NOTE }).verdict).toBe('verified');
  });
});

describe('a body that was bought before', () => {
  it.each(Object.keys(SOLD_THEN))('is judged still: %s', (request) => {
    const body = parseJson(SOLD_THEN[request] ?? '');
    const report = verifyBody(body, { trust: [did], now });
    expect(report.verdict).toBe('verified');
    expect(report.checks.at(-1)?.detail).toBe('words of time: not judged (format 2)');
    const altered = parseJson((SOLD_THEN[request] ?? '').replace('07010000', '07010001'));
    expect(verifyBody(altered, { trust: [did], now }).verdict).toBe('failed');
  });
});

describe('a folder of the first format that is not whole', () => {
  /** Where a file of its current release stands. */
  const stored =
    (path: string) =>
    ({ data }: Folder) =>
      fileOf(join(data, 'current'), path);
  const beside =
    (path: string) =>
    ({ data }: Folder) =>
      join(data, path);
  const FILES = [
    ['log/checkpoint', stored('log/checkpoint')],
    ['log/tile/0/000', stored('log/tile/0/000')],
    ['log/tile/0/001.p', stored(`log/tile/0/001.p/${sizeBefore - 257}`)],
    ['log/tile/1/000.p/1', stored('log/tile/1/000.p/1')],
    ['log/tile/entries/000', stored('log/tile/entries/000')],
    ['log/index', stored(indexPaths[0] ?? '')],
    ['the list', beside('current/files.txt')],
  ] as const;

  async function refuses(spoil: (folder: Folder) => void, expected: RegExp): Promise<void> {
    const folder = format2Folder();
    spoil(folder);
    const files = filesBelow(folder.data);
    await expect(compileNext(folder)).rejects.toThrow(expected);
    const kept = filesBelow(folder.data);
    for (const [path, bytes] of files)
      expect([path, kept.get(path) === bytes]).toEqual([path, true]);
    expect(readdirSync(join(folder.data, 'releases')).sort()).toEqual(namesBefore);
    expect(existsSync(join(folder.data, 'log/checkpoint'))).toBe(false);
    // Whoever restores it goes on as if nothing had been.
    cpSync(before.data, folder.data, { recursive: true, verbatimSymlinks: true });
    await compileNext(folder);
    const [log, whole] = [folder.data, after.data].map((data) => filesBelow(join(data, 'log')));
    expect(log).toEqual(whole);
  }

  it.each(FILES)(
    'is refused, and loses nothing, where %s is torn or missing',
    async (_, placeOf) => {
      await refuses(
        (folder) => writeFileSync(placeOf(folder), 'torn'),
        /never restarted|never shrinks/,
      );
      await refuses((folder) => rmSync(placeOf(folder)), /never restarted|never shrinks/);
    },
  );

  const issuer = { name: '', did: issuerDid(KEY), keyId: '', baseUrl: BASE_URL };
  const signed = (other: Partial<Checkpoint>): string =>
    signCheckpoint({ ...checkpointOf(LAST_NOTE), ...other }, makeSealer(issuer, KEY));

  it.each([
    ['a longer', () => signed({ size: sizeBefore + 1 })],
    ['another', () => signed({ root: new Uint8Array(HASH_BYTES) })],
    ['a shorter and another', () => signed({ size: 260, root: new Uint8Array(HASH_BYTES) })],
    ['a torn', () => 'torn'],
    ['a foreign', () => LAST_NOTE.replace(`\n${sizeBefore}\n`, '\n270\n')],
  ])('is refused where %s log was signed', async (_, note) => {
    const keep = ({ data }: Folder): void => writeFileSync(join(data, 'log-checkpoint'), note());
    await refuses(keep, /never shrinks or forks/);
  });

  it.each([
    [
      'names the release before',
      (path: string) => writeFileSync(path, noteIn(namesBefore[1] ?? '')),
    ],
    ['was never written', (path: string) => rmSync(path)],
  ])(
    'goes on where the newest checkpoint %s, as a kill behind the switch left it',
    async (_, leave) => {
      const folder = format2Folder();
      leave(join(folder.data, 'log-checkpoint'));
      await compileNext(folder);
      expect(filesBelow(join(folder.data, 'log'))).toEqual(filesBelow(join(after.data, 'log')));
    },
  );
});
