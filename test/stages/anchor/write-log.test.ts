import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { logBatchesPath } from '../../../compiler/contract/log-batch.ts';
import {
  leadOf,
  parseLogLine,
  runPath,
  runPaths,
  runsOf,
  shardOfLead,
} from '../../../compiler/contract/log-runs.ts';
import {
  CHECKPOINT_PATH,
  encodeBundle,
  logEntry,
  parseTilePath,
  tilePath,
  tilesOf,
} from '../../../compiler/contract/tiles.ts';
import { CompileError } from '../../../compiler/stages/intake/compile-error.ts';
import {
  batchesIn,
  checkpointIn,
  didOf,
  entriesIn,
  factsOf,
  hashes,
  type LogFiles,
  memoryLog,
} from './memory-log.ts';

const sha256 = (...parts: Uint8Array[]): Buffer => hash('sha256', Buffer.concat(parts), 'buffer');

/** The root by the recursive definition of RFC 6962. */
function rootOf(entries: readonly string[]): Buffer {
  if (entries.length === 0) return sha256();
  if (entries.length === 1) return sha256(Buffer.of(0), Buffer.from(entries[0] ?? ''));
  let middle = 1;
  while (middle * 2 < entries.length) middle *= 2;
  return sha256(Buffer.of(1), rootOf(entries.slice(0, middle)), rootOf(entries.slice(middle)));
}

const FIRST = { '2026-11-20': hashes(0, 300), '2026-11-20T00Z': hashes(300, 5) };
const LATER = { ...FIRST, '2026-11-19T23Z': hashes(400, 4), '2026-11-21': hashes(500, 250) };

describe('writeLog()', () => {
  it('appends batch by batch and, within a batch, in the order of the digests', () => {
    const files = memoryLog(LATER);
    const sorted = [
      ...hashes(400, 4).sort(),
      ...hashes(0, 300).sort(),
      ...hashes(300, 5).sort(),
      ...hashes(500, 250).sort(),
    ];
    expect(entriesIn(files)).toEqual(sorted);
    expect(
      batchesIn(files).map(({ batch, size_before, size }) => [batch, size_before, size]),
    ).toEqual([
      ['2026-11-19T23Z', 0, 4],
      ['2026-11-20', 4, 304],
      ['2026-11-20T00Z', 304, 309],
      ['2026-11-21', 309, 559],
    ]);
    for (const { size, root } of batchesIn(files)) {
      expect(root).toBe(rootOf(sorted.slice(0, size)).toString('hex'));
    }
  });

  it('signs one checkpoint for each batch, the last of them the newest', () => {
    const files = memoryLog(FIRST);
    const last = batchesIn(files).at(-1);
    expect(files.get(CHECKPOINT_PATH)?.toString()).toBe(last?.checkpoint);
    expect(last?.checkpoint).toContain(
      `a.example/log\n305\n${Buffer.from(rootOf(entriesIn(files))).toString('base64')}\n\n\u2014 a.example/log `,
    );
  });

  it('writes every tile of the newest size, and partial ones of earlier checkpoints until they are full', () => {
    const files = memoryLog(LATER);
    const tiles = [...files.keys()].filter((path) => path.startsWith('log/tile/'));
    expect(tiles.every((path) => parseTilePath(path) !== null)).toBe(true);
    expect(tiles).toEqual(expect.arrayContaining(tilesOf(559).map(tilePath)));
    expect(tiles).toContain('log/tile/1/000.p/1');
    expect(tiles).not.toContain('log/tile/0/001.p/48');
    const level0 = files.get('log/tile/0/000') ?? Buffer.alloc(0);
    const leaf = sha256(Buffer.of(0), Buffer.from(entriesIn(files)[255] ?? ''));
    expect(level0.subarray(-32)).toEqual(leaf);
    const level1 = files.get('log/tile/1/000.p/2') ?? Buffer.alloc(0);
    expect(level1.subarray(0, 32)).toEqual(rootOf(entriesIn(files).slice(0, 256)));
  });

  it('finds every entry in the file of its run, with what it stands for', () => {
    const files = memoryLog({ ...LATER, '2026-11-22': hashes(2000, 4200) });
    const runs = runsOf(4759);
    expect(runs.map(({ count }) => count)).toEqual([4096, 663]);
    const entries = entriesIn(files);
    const found = runs.flatMap(runPaths).flatMap((path) => {
      const lines = files.get(path)?.toString('utf8').split('\n').slice(0, -1) ?? [];
      expect(lines).toEqual([...lines].sort());
      return lines.map((line) => ({ path, ...parseLogLine(line) }));
    });
    const want = entries.map((record_hash, position) => {
      const run = runs[position < 4096 ? 0 : 1] ?? { start: 0, count: 0, shards: 0 };
      const path = runPath(run, shardOfLead(run, leadOf(record_hash.slice(7))));
      return { path, record_hash, position, facts: factsOf(record_hash) };
    });
    expect(found.sort((a, b) => a.position - b.position)).toEqual(want);
    const paths = [...files.keys()].filter((path) => path.startsWith('log/index/'));
    expect(paths.sort()).toEqual(runs.flatMap(runPaths).sort());
  });

  it('I27: continues the log before, whatever comes later, and keeps what it signed', () => {
    const first = memoryLog(FIRST);
    const second = memoryLog(LATER, { previous: first });
    expect(entriesIn(second).slice(0, 305)).toEqual(entriesIn(first));
    expect(batchesIn(second).slice(0, 2)).toEqual(batchesIn(first));
    expect(batchesIn(second).map(({ batch }) => batch)).toEqual([
      '2026-11-20',
      '2026-11-20T00Z',
      '2026-11-19T23Z',
      '2026-11-21',
    ]);
  });

  it('gives a batch that grew a second row, and none to a batch that did not', () => {
    const first = memoryLog(FIRST);
    const grown = { ...FIRST, '2026-11-20': [...FIRST['2026-11-20'], ...hashes(900, 2)] };
    const second = memoryLog(grown, { previous: first });
    expect(batchesIn(second).map(({ batch, size }) => [batch, size])).toEqual([
      ['2026-11-20', 300],
      ['2026-11-20T00Z', 305],
      ['2026-11-20', 307],
    ]);
    expect(memoryLog(grown, { previous: second })).toEqual(second);
  });

  it('keeps entries of records that are no longer published', () => {
    const first = memoryLog(FIRST);
    expect(memoryLog({}, { previous: first })).toEqual(first);
  });

  it('begins a log that holds nothing', () => {
    const files = memoryLog({});
    expect(checkpointIn(files)).toMatchObject({ size: 0, root: new Uint8Array(rootOf([])) });
    expect([...files.keys()].sort()).toEqual(['log/checkpoint', 'log/vkey']);
  });

  it('I18: does not depend on the order in which leaves came', () => {
    const turned = Object.fromEntries(
      Object.entries(LATER).map(([batch, all]) => [batch, all.toReversed()]),
    );
    const shuffled = Object.fromEntries(Object.entries(turned).toReversed());
    expect(memoryLog(shuffled)).toEqual(memoryLog(LATER));
  });

  it('signs with a new key and at a new address what an older one signed before', () => {
    const first = memoryLog(FIRST);
    const moved = memoryLog(FIRST, { previous: first, seed: 8, baseUrl: 'https://b.example/x/' });
    expect(didOf(8)).not.toBe(didOf());
    expect(checkpointIn(moved)).toEqual({ ...checkpointIn(first), origin: 'b.example/x/log' });
    expect(batchesIn(moved)).toEqual(batchesIn(first));
  });

  it('I27: refuses a release whose log is shorter or other than one that was signed', () => {
    const first = memoryLog(FIRST);
    const second = memoryLog(LATER, { previous: first });
    const lastSigned = second.get(CHECKPOINT_PATH)?.toString() ?? '';
    expect(() => memoryLog(LATER, { previous: first, lastSigned })).toThrow(CompileError);
    expect(() => memoryLog(LATER, { lastSigned })).toThrow(CompileError);
    const other = memoryLog({ '2026-11-20': hashes(2000, 559) });
    expect(() => memoryLog(LATER, { previous: other, lastSigned })).toThrow('was already signed');
    expect(() => memoryLog(LATER, { previous: second, lastSigned: 'torn' })).toThrow(CompileError);
    expect(memoryLog(LATER, { previous: second, lastSigned })).toEqual(second);
  });
});

const entriesPath = tilePath({ level: 'entries', index: 0, width: 256 });
const partPath = tilePath({ level: 'entries', index: 1, width: 49 });

/** A bundle of the log with its entries changed. */
function changed(files: LogFiles, path: string, change: (entries: string[]) => string[]): LogFiles {
  const start = path === entriesPath ? 0 : 256;
  const end = path === entriesPath ? 256 : 305;
  const entries = change(entriesIn(files).slice(start, end));
  return new Map(files).set(path, Buffer.from(encodeBundle(entries.map(logEntry))));
}

const swap = (a: number, b: number) => (all: string[]) =>
  all.map((entry, at) => (at === a ? (all[b] ?? '') : at === b ? (all[a] ?? '') : entry));
const replace = (at: number) => (all: string[]) => all.with(at, hashes(7000, 1)[0] ?? '');
const text = (files: LogFiles, path: string): string => files.get(path)?.toString('utf8') ?? '';
const edited = (files: LogFiles, path: string, edit: (text: string) => string): LogFiles =>
  new Map(files).set(path, Buffer.from(edit(text(files, path))));
const without = (files: LogFiles, path: string): LogFiles =>
  new Map([...files].filter(([name]) => name !== path));

const BATCHES = logBatchesPath(0);
const FORKS: readonly (readonly [string, (files: LogFiles) => LogFiles])[] = [
  ['the first entry replaced', (files) => changed(files, entriesPath, replace(0))],
  ['an entry in the middle replaced', (files) => changed(files, entriesPath, replace(128))],
  [
    'the last entry of a full bundle replaced',
    (files) => changed(files, entriesPath, replace(255)),
  ],
  ['the last entry replaced', (files) => changed(files, partPath, replace(48))],
  ['the first two entries swapped', (files) => changed(files, entriesPath, swap(0, 1))],
  ['two entries far apart swapped', (files) => changed(files, entriesPath, swap(3, 250))],
  ['the last two entries swapped', (files) => changed(files, partPath, swap(47, 48))],
  ['entries of two batches swapped', (files) => changed(files, partPath, swap(43, 45))],
  ['an entry twice', (files) => changed(files, entriesPath, (all) => all.with(9, all[8] ?? ''))],
  ['an entry dropped from the end', (files) => changed(files, partPath, (all) => all.slice(0, -1))],
  [
    'an entry dropped from the start',
    (files) => changed(files, entriesPath, (all) => all.slice(1)),
  ],
  ['an entry added', (files) => changed(files, partPath, (all) => [...all, ...hashes(8000, 1)])],
  ['a bundle gone', (files) => without(files, entriesPath)],
  ['the last bundle gone', (files) => without(files, partPath)],
  ['a bundle torn', (files) => new Map(files).set(partPath, Buffer.alloc(20))],
  [
    'an entry that is no hash',
    (files) => edited(files, partPath, (t) => t.replace('sha256', 'SHA256')),
  ],
  ['the list of batches gone', (files) => without(files, BATCHES)],
  ['the last batch dropped', (files) => edited(files, BATCHES, (t) => `${t.split('\n')[0]}\n`)],
  ['the first batch dropped', (files) => edited(files, BATCHES, (t) => `${t.split('\n')[1]}\n`)],
  [
    'batches reordered',
    (files) =>
      edited(files, BATCHES, (t) => `${t.split('\n').slice(0, 2).toReversed().join('\n')}\n`),
  ],
  [
    'a batch cut elsewhere',
    (files) => edited(files, BATCHES, (t) => t.replaceAll(':300,', ':299,')),
  ],
  [
    'the root of a batch changed',
    (files) => edited(files, BATCHES, (t) => t.replace(/"root":"../, '"root":"00')),
  ],
  ['a list of batches that is torn', (files) => edited(files, BATCHES, (t) => t.slice(0, -9))],
  [
    'the size of the checkpoint changed',
    (files) => edited(files, CHECKPOINT_PATH, (t) => t.replace('305', '300')),
  ],
  [
    'the checkpoint of the batch before',
    (files) =>
      new Map(files).set(CHECKPOINT_PATH, Buffer.from(batchesIn(files)[0]?.checkpoint ?? '')),
  ],
  ['a checkpoint that is torn', (files) => edited(files, CHECKPOINT_PATH, (t) => t.slice(0, 40))],
  [
    'a checkpoint that another key signed',
    (files) =>
      new Map(files).set(
        CHECKPOINT_PATH,
        memoryLog(FIRST, { seed: 9 }).get(CHECKPOINT_PATH) ?? Buffer.alloc(0),
      ),
  ],
  ['the whole log of another key', () => memoryLog(FIRST, { seed: 9 })],
];

describe('replayLog()', () => {
  const good = memoryLog(FIRST);
  it.each(FORKS)('I27: refuses to continue with %s', (_, forge) => {
    expect(() => memoryLog(LATER, { previous: forge(good) })).toThrow(/cannot be continued/);
  });

  it('I27: continues the log that nobody touched', () => {
    expect(FORKS.length).toBeGreaterThanOrEqual(20);
    expect(checkpointIn(memoryLog(LATER, { previous: good })).size).toBe(559);
  });
});
