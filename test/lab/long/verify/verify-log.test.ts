import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openNote } from '../../../../compiler/format/checkpoint.ts';
import { keyIdOf } from '../../../../compiler/format/citation.ts';
import { leafHash } from '../../../../compiler/format/merkle.ts';
import { formatProof, type Timestamp } from '../../../../compiler/format/ots-proof.ts';
import {
  parseReleaseEntry,
  type ReleaseEntry,
  releaseEntryBytes,
} from '../../../../compiler/format/release-entry.ts';
import {
  bundleEntries,
  encodeBundle,
  type Tile,
  tilePath,
} from '../../../../compiler/format/tiles.ts';
import { signCheckpoint } from '../../../../compiler/publish/log/continue-log.ts';
import { makeSealer, signingKey } from '../../../../compiler/system/sealer.ts';
import { RecomputedTree } from '../../../../compiler/verify/log-tiles-check.ts';
import { runVerifyLog } from '../../../../compiler/verify/verify-command.ts';
import { verifyLog } from '../../../../compiler/verify/verify-log.ts';
import { verifyRelease } from '../../../../compiler/verify/verify-release.ts';
import { smallSet } from '../../../small-set.ts';
import {
  compileFolder,
  fileOf,
  makeFolder,
  removeFolders,
  SEED,
  spotPrices,
  writeSnapshots,
} from '../../../snapshot-folder.ts';
import { resign } from '../../../verify/resign.ts';

afterAll(removeFolders);

/** A shop of two releases, which every test spoils in a copy of its own. */
let shop: string;
let did: string;
let firstNote: string;
beforeAll(async () => {
  const few = Object.entries(smallSet()).filter(([path]) => /^202[16]/.test(path));
  const snapshots = writeSnapshots(Object.fromEntries(few));
  shop = join(makeFolder(), 'data');
  await compileFolder(snapshots, { data: shop, readBack: 'full' });
  firstNote = readFileSync(join(shop, 'log/checkpoint'), 'utf8');
  writeSnapshots(spotPrices('2026-11-19', 2, 91_000), snapshots);
  const { release } = await compileFolder(snapshots, { data: shop, asOf: '2026-11-20T13:00:00Z' });
  did = release.issuer_did;
});

/** Paths of the files below a folder of the shop. */
function namesBelow(folder: string): string[] {
  return readdirSync(join(shop, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(shop.length + 1));
}

/** The stored files are links to those of the shop: one that is spoiled is replaced. */
function copied(): string {
  const data = join(makeFolder(), 'data');
  const copy = (from: string, to: string): void => {
    mkdirSync(to, { recursive: true });
    for (const entry of readdirSync(from, { withFileTypes: true })) {
      const [source, target] = [join(from, entry.name), join(to, entry.name)];
      if (entry.isDirectory()) copy(source, target);
      else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
      else if (from.startsWith(join(shop, 'files'))) linkSync(source, target);
      else copyFileSync(source, target);
    }
  };
  copy(shop, data);
  return data;
}

function put(path: string, bytes: string | Uint8Array): void {
  rmSync(path, { force: true });
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}

const spoil = (path: string): void => {
  const bytes = readFileSync(path);
  const at = Math.floor(bytes.length / 2);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  put(path, bytes);
};

const named = (data: string) => verifyLog(data, { trust: [did] }).faults.map(({ file }) => file);

/** Signs the log once more with other entries of releases, as only its issuer can. */
function rewrite(data: string, change: (entries: ReleaseEntry[]) => ReleaseEntry[]): void {
  rewriteBytes(data, (all) =>
    change(all.flatMap((bytes) => parseReleaseEntry(bytes) ?? [])).map(releaseEntryBytes),
  );
}

function rewriteBytes(data: string, change: (entries: Uint8Array[]) => Uint8Array[]): void {
  const at = (level: Tile['level'], width: number) =>
    join(data, tilePath({ level, index: 0, width }));
  const note = readFileSync(join(data, 'log/checkpoint'), 'utf8');
  const { origin, size } = openNote(note)?.checkpoint ?? { origin: '', size: 0 };
  const bytes = change(bundleEntries(readFileSync(at('entries', size))));
  const leaves = bytes.map((entry) => leafHash(entry, sha256));
  rmSync(join(data, 'log/tile'), { recursive: true });
  put(at('entries', bytes.length), encodeBundle(bytes));
  put(at(0, bytes.length), Buffer.concat(leaves));
  const tree = new RecomputedTree();
  for (const leaf of leaves) tree.add(leaf);
  const key = signingKey(SEED);
  const issuer = { name: 'Test issuer', did, keyId: keyIdOf(did), baseUrl: 'https://example.org' };
  const sealer = makeSealer(issuer, key);
  const signed = signCheckpoint({ origin, size: tree.size, root: tree.root() }, sealer);
  put(join(data, 'log/checkpoint'), signed);
}

describe('verifyLog()', () => {
  it('I27: accepts the log of a release, and that it grew from what was seen', () => {
    const report = verifyLog(shop, { trust: [did], since: firstNote });
    expect(report.faults).toEqual([]);
    expect(report).toMatchObject({ verdict: 'verified', entries: 2, evidence: [], strays: [] });
    expect(report.records).toBeGreaterThan(10);
    const { exitCode, text } = runVerifyLog(shop, { issuer: [did] });
    expect([exitCode, text]).toEqual([0, expect.stringContaining('2 entries hashed again')]);
  });

  it('I24: names every file of the log of which a bit is flipped, and each that is gone', () => {
    const paths = namesBelow('log');
    expect(paths.length).toBeGreaterThan(5);
    for (const path of paths) {
      const data = copied();
      spoil(join(data, path));
      expect([path, verifyLog(data, { trust: [did] }).verdict]).toEqual([path, 'failed']);
    }
    for (const path of ['log/checkpoint', 'log/vkey', 'log/new/1', 'log/new/2']) {
      const data = copied();
      rmSync(join(data, path));
      expect(named(data)).toContain(path);
    }
  });

  it.each([
    [
      'a sequence is left out',
      'log',
      (all) => all.map((e, at) => (at === 0 ? e : { ...e, sequence: 3 })),
    ],
    ['time goes back', 'log', ([a, b]) => [{ ...a, as_of: '2026-11-21T00:00:00Z' }, b]],
    ['another head is named', 'log', ([a, b]) => [a, { ...b, head: a.head }]],
    ['a kept head is another', 'log', ([a, b]) => [{ ...a, head: b.head }, b]],
    [
      'other times are stated',
      'log',
      ([a, b]) => [a, { ...b, valid_until: '2026-11-22T00:00:00Z' }],
    ],
    ['other hashes were taken in', 'log/new/2', ([a, b]) => [a, { ...b, new: a.new }]],
    [
      'other statements are current',
      'statements/blocks.txt',
      ([a, b]) => [a, { ...b, all: { ...b.all, root: a.head } }],
    ],
    [
      'more statements are current than anybody has',
      'statements/000000.bin',
      ([a, b]) => [a, { ...b, all: { ...b.all, count: 2 ** 40 } }],
    ],
    ['the release is not in it', 'log/checkpoint', ([a]) => [a]],
  ] satisfies [string, string, (entries: [ReleaseEntry, ReleaseEntry]) => ReleaseEntry[]][])(
    'I27: names a log that its issuer signed where %s',
    (_, file, change) => {
      const data = copied();
      rewrite(data, (entries) => change(entries as [ReleaseEntry, ReleaseEntry]));
      expect(named(data)).toContain(file);
    },
  );

  it('I27: keeps two notes as evidence when the log did not grow from what was seen', () => {
    const data = copied();
    const last = readFileSync(join(data, 'log/checkpoint'), 'utf8');
    rewrite(data, ([a, b]) => [
      { ...(a as ReleaseEntry), head: (b as ReleaseEntry).head },
      b as ReleaseEntry,
    ]);
    for (const since of [firstNote, last]) {
      const report = verifyLog(data, { trust: [did], since });
      expect(report.evidence[0]).toBe(since);
      expect(report.evidence).toHaveLength(2);
    }
    const older = copied();
    rewrite(older, (entries) => entries.slice(0, 1));
    expect(verifyLog(older, { trust: [did], since: last }).evidence).toHaveLength(2);
  });

  it.each<[string, string[], (hash: Uint8Array, all: Uint8Array[]) => Uint8Array[]]>([
    ['takes hashes of the first format in front', [], (hash, all) => [hash, hash, ...all]],
    ['names one behind a release', ['log'], (hash, [a, ...all]) => [a as Uint8Array, hash, ...all]],
    ['names what is no entry', ['log'], (hash, all) => [hash.subarray(1), ...all]],
  ])('I27: %s', (_, want, change) => {
    const data = copied();
    rewriteBytes(data, (all) => change(Buffer.from(EMPTY), all));
    expect(named(data)).toEqual(want);
  });

  it.each([
    ['takes', '2026-11-21T00:00:00Z', []],
    ['names', '2026-11-20T23:59:59Z', ['log']],
  ])('I27: %s a clock that was set right and ran up to %s', (_, latest, want) => {
    const data = copied();
    rmSync(join(data, 'releases', nameOf(1)), { recursive: true });
    rewrite(data, ([a, b]) => [
      { ...(a as ReleaseEntry), as_of: '2026-11-21T00:00:00Z' },
      b as ReleaseEntry,
    ]);
    resign(join(data, 'releases', nameOf(2)), { clock_corrected: { sequence: 2, latest } });
    expect(named(data)).toEqual(want);
  });

  it('takes a timestamp of a root that the log had, and a proof whose state is not there yet', () => {
    const data = copied();
    const stamp = (note: string, of = note): void => {
      const root = rootOf(note);
      const anchor = join(data, 'log/anchor', rootOf(of));
      const state = { root, ots_state: 'pending', bitcoin_height: null, bitcoin_block: null };
      const proof = formatProof(pendingProof(root));
      put(`${anchor}.ots`, proof);
      put(
        `${anchor}.json`,
        `${JSON.stringify({ ...state, stamped_at: '2026-11-20T14:00:00Z' })}\n`,
      );
    };
    const last = readFileSync(join(data, 'log/checkpoint'), 'utf8');
    stamp(firstNote);
    stamp(last);
    const report = verifyLog(data, { trust: [did] });
    expect([report.faults, report.anchors]).toEqual([[], { pending: 2, confirmed: 0 }]);
    rmSync(join(data, 'log/anchor', `${rootOf(last)}.json`));
    expect(named(data)).toEqual([]);
    stamp(last, firstNote);
    expect(named(data)).toEqual([`log/anchor/${rootOf(firstNote)}.json`]);
    stamp(firstNote);
    put(join(data, 'log/anchor/extra.txt'), '');
    expect(named(data)).toEqual(['log/anchor/extra.txt']);
    rmSync(join(data, 'log/anchor/extra.txt'));
    rewrite(data, ([a, b]) => [
      { ...(a as ReleaseEntry), valid_until: null, all: (b as ReleaseEntry).all },
      b as ReleaseEntry,
    ]);
    expect(named(data)).toEqual([`log/anchor/${rootOf(firstNote)}.json`]);
  });

  it('tells a log that is one release ahead, and refuses one that is two ahead', () => {
    const data = copied();
    const next = (e: ReleaseEntry, more: number): ReleaseEntry => ({
      ...e,
      sequence: e.sequence + more,
      new: { count: 0, root: EMPTY },
    });
    rewrite(data, ([a, b]) => [a as ReleaseEntry, b as ReleaseEntry, next(b as ReleaseEntry, 1)]);
    const report = verifyLog(data, { trust: [did] });
    expect(report.faults).toEqual([]);
    expect(report.strays[0]).toContain('release 3');
    rewrite(data, (all) => [...all, next(all[2] as ReleaseEntry, 1)]);
    expect(named(data)).toContain('log/checkpoint');
  });
});

/** A proof of a calendar's promise over a root. */
function pendingProof(root: string): Timestamp {
  const attestation = { kind: 'pending', uri: 'https://calendar.example' } as const;
  return { message: Buffer.from(root, 'hex'), attestations: [attestation], steps: [] };
}

const rootOf = (note: string): string =>
  Buffer.from(openNote(note)?.checkpoint.root ?? []).toString('hex');
const nameOf = (sequence: number): string =>
  readdirSync(join(shop, 'releases')).find((name) => name.startsWith(`00000${sequence}`)) ?? '';

const EMPTY = `sha256:${Buffer.from(sha256(new Uint8Array(0))).toString('hex')}`;

/** Replaces a listed file and signs the release and its entry again, as only the issuer can. */
function relist(data: string, path: string, change: (text: string) => string): void {
  const root = realpathSync(join(data, 'current'));
  const old = fileOf(root, path);
  const text = change(readFileSync(old, 'latin1'));
  const bytes = Buffer.from(text, 'latin1');
  const hex = Buffer.from(sha256(bytes)).toString('hex');
  const list = readFileSync(join(root, 'files.txt'), 'utf8').replace(
    new RegExp(`^\\S+ \\d+ ${path.replaceAll('.', '\\.')}$`, 'm'),
    `${hex} ${bytes.length} ${path}`,
  );
  put(join(root, 'files.txt'), list);
  const name = old.replace(
    /\.[0-9a-f]{20}(\.\w+)?$/,
    (_, end = '') => `.${hex.slice(0, 20)}${end}`,
  );
  put(name, bytes);
  resign(root, {});
}

describe('verifyRelease() with the log beside it', () => {
  it('I27: accepts it, statements and index made again', async () => {
    const report = await verifyRelease(shop, { trust: [did] });
    expect(report.faults).toEqual([]);
    expect(report.checked).toMatchObject({ log_entries: 2 });
    expect(report.checked.statements).toBe(report.signatures);
  });

  it('names a damaged log alone, and not what refers to it', async () => {
    const harms: [string, (path: string) => void][] = [
      ['log/new/1', (path) => rmSync(path)],
      ['log/new/1', spoil],
      ['log/checkpoint', (path) => put(path, Buffer.from([0xff, ...readFileSync(path)]))],
      ['log/vkey', (path) => put(path, Buffer.from([0xff]))],
    ];
    for (const [path, harm] of harms) {
      const data = copied();
      harm(join(data, path));
      const { faults } = await verifyRelease(data, { trust: [did] });
      expect(faults.map(({ file }) => file)).toEqual([path]);
    }
    const data = copied();
    rmSync(join(data, 'log'), { recursive: true });
    const { faults } = await verifyRelease(data, { trust: [did] });
    expect(faults.map(({ file }) => file)).toEqual(['log/checkpoint']);
  });

  it.each([
    ['statements/blocks.txt', (text: string) => text.replace(/^./, (c) => (c === '0' ? '1' : '0'))],
    ['statements/000000.bin', (text: string) => `${text.slice(32)}${text.slice(0, 32)}`],
    ['index/hashes/count.txt', (text: string) => `1${text}`],
  ])('I27: names %s where it does not follow, though all is signed again', async (path, change) => {
    const data = copied();
    relist(data, path, change);
    const { faults } = await verifyRelease(data, { trust: [did] });
    expect(faults.map(({ file }) => file)).toContain(path);
  });

  it('I27: names an index line that is changed, swapped or gone', async () => {
    const list = readFileSync(join(shop, 'current/files.txt'), 'utf8');
    const path = / (index\/hashes\/0-\d+\/0\.txt)$/m.exec(list)?.[1] ?? '';
    for (const change of [
      (text: string) => text.replace(/",1,0,/, '",1,1,'),
      (text: string) => text.replace(/^(.*\n)(.*\n)/, '$2$1'),
      (text: string) => text.replace(/^.*\n/, ''),
    ]) {
      const data = copied();
      relist(data, path, change);
      const { faults } = await verifyRelease(data, { trust: [did] });
      expect(faults.some(({ file }) => file.startsWith('index/hashes/'))).toBe(true);
    }
  });
});
