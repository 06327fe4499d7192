import { openNote } from '../contract/checkpoint.ts';
import { defined } from '../contract/defined.ts';
import { messageOf } from '../contract/errors.ts';
import {
  HASH_COUNT_PATH,
  runPaths as hashRunPaths,
  runsOf as hashRuns,
  parseHashCount,
} from '../contract/hash-index.ts';
import { firstWhere } from '../contract/lists.ts';
import {
  factsText,
  LOG_INDEX_FOLDER,
  type LogLine,
  type LogRun,
  leadOf,
  logLineStart,
  logLineText,
  parseLogLine,
  runPaths,
  runsOf,
  shardOfLead,
} from '../contract/log-runs.ts';
import { HASH_BYTES } from '../contract/merkle.ts';
import { SHARD_STARTS, verifyShardPath } from '../contract/path.ts';
import { parseVerifyEntry } from '../contract/release.ts';
import { decodeUtf8 } from '../contract/strict-json.ts';
import { CHECKPOINT_PATH, decodeBundle, TILE_WIDTH, tilePath } from '../contract/tiles.ts';
import type { Disk } from './disk.ts';
import type { FileList } from './file-list.ts';
import type { LogSource } from './log-tiles-check.ts';
import { StoredBodies } from './stored-bodies.ts';

const HEX_AT = logLineStart('').length;

/** The record hashes of readings and rows that the log of a release holds, 32 bytes each. */
export class KnownHashes {
  readonly #digests: Buffer;

  /** `digests` must be sorted. */
  constructor(digests: SharedArrayBuffer) {
    this.#digests = Buffer.from(digests);
  }

  has(recordHash: string): boolean {
    const wanted = Buffer.from(recordHash.slice('sha256:'.length), 'hex');
    const order = (at: number): number =>
      wanted.compare(this.#digests, at * HASH_BYTES, (at + 1) * HASH_BYTES);
    const count = this.#digests.length / HASH_BYTES;
    const found = firstWhere(count, (at) => order(at) <= 0);
    return found < count && order(found) === 0;
  }
}

/**
 * Digests of every entry of the log, from its index, or, in the public part of a release, from its tiles; null where those are
 * not as listed, which is named elsewhere.
 */
export function readKnownHashes(
  disk: Disk,
  root: string,
  list: FileList,
): SharedArrayBuffer | null {
  const bodies = new StoredBodies(disk, root, list);
  try {
    if (list.isPublic) return sharedDigests([digestsInTiles(bodies, sizeOfLog(bodies))]);
    return sharedDigests(
      hashRuns(parseHashCount(textOf(bodies, HASH_COUNT_PATH))).map((run) => {
        // Sorted, since the lines of a run are.
        const digests = hashRunPaths(run).flatMap((path) =>
          textOf(bodies, path)
            .split('\n')
            .slice(0, -1)
            .map((line) => Buffer.from(line.slice(HEX_AT, HEX_AT + 2 * HASH_BYTES), 'hex')),
        );
        return Buffer.concat(digests);
      }),
    );
  } catch {
    return null;
  }
}

function sizeOfLog(bodies: StoredBodies): number {
  if (bodies.list.find(CHECKPOINT_PATH) === null) return 0;
  const opened = openNote(textOf(bodies, CHECKPOINT_PATH));
  if (opened === null) throw new RangeError(`Cannot read "${CHECKPOINT_PATH}"`);
  return opened.checkpoint.size;
}

function textOf(bodies: StoredBodies, path: string): string {
  const text = bodies.text(path);
  if (text === null) throw new RangeError(`Cannot read "${path}": not as listed`);
  return text;
}

/** Entries stand in the order of the log, so they are sorted here. */
function digestsInTiles(bodies: StoredBodies, size: number): Buffer {
  const digests: Buffer[] = [];
  for (let index = 0; index * TILE_WIDTH < size; index += 1) {
    const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH);
    const bytes = bodies.bytes(tilePath({ level: 'entries', index, width }));
    if (bytes === null) throw new RangeError('Cannot read the entries of the log: not as listed');
    const entries = decodeBundle(bytes);
    digests.push(...entries.map((hash) => Buffer.from(hash.slice('sha256:'.length), 'hex')));
  }
  return Buffer.concat(digests.sort(Buffer.compare));
}

/** Sorted lists of digests as one, which threads can share. */
export function sharedDigests(lists: readonly Buffer[]): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(lists.reduce((sum, { length }) => sum + length, 0));
  const left = [...lists];
  while (left.length > 1) {
    left.sort((a, b) => b.length - a.length);
    const one = defined(left.pop(), 'the smallest');
    const other = defined(left.pop(), 'the next one');
    const both = Buffer.allocUnsafe(one.length + other.length);
    let from = 0;
    for (let at = 0, to = 0; to < both.length; to += HASH_BYTES) {
      const isOne =
        at === other.length ||
        (from < one.length && one.compare(other, at, at + HASH_BYTES, from, from + HASH_BYTES) < 0);
      if (isOne) {
        one.copy(both, to, from, from + HASH_BYTES);
        from += HASH_BYTES;
      } else {
        other.copy(both, to, at, at + HASH_BYTES);
        at += HASH_BYTES;
      }
    }
    left.push(both);
  }
  new Uint8Array(shared).set(left[0] ?? []);
  return shared;
}

/**
 * Compares the index of the log with its entries, and the published hashes with it; answers how many were found. The public part
 * of a release has none of them.
 */
export function checkLogIndex(source: LogSource, digests: Buffer): number {
  if (source.isPublic) return 0;
  const runs = runsOf(digests.length / HASH_BYTES);
  const indexed = sharedDigests(runs.map((run) => checkRun(source, run, digests)));
  const expected = new Set(runs.flatMap(runPaths));
  for (const path of source.paths) {
    if (path.startsWith(`${LOG_INDEX_FOLDER}/`) && !expected.has(path))
      source.faults.add(path, '', 'belongs to no run of this log');
  }
  const known = new KnownHashes(indexed);
  return SHARD_STARTS.map(verifyShardPath).reduce(
    (sum, path) => sum + checkPublished(source, path, known),
    0,
  );
}

/** Every entry of the run has one line in the file of its hash; answers the sorted digests of the lines. */
function checkRun(source: LogSource, run: LogRun, digests: Buffer): Buffer {
  const found: Buffer[] = [];
  for (const [shard, path] of runPaths(run).entries()) {
    const bytes = source.read(path);
    if (bytes === null) continue;
    try {
      found.push(checkShard({ source, path, run, shard }, decodeUtf8(bytes), digests));
    } catch (error) {
      source.faults.add(path, '', messageOf(error));
    }
  }
  const indexed = Buffer.concat(found);
  const count = indexed.length / HASH_BYTES;
  if (count !== run.count) {
    const folder = `${LOG_INDEX_FOLDER}/${run.start}-${run.count}`;
    source.faults.add(folder, '', `${count} lines for ${run.count} entries`);
  }
  return indexed;
}

interface Shard {
  readonly source: LogSource;
  readonly path: string;
  readonly run: LogRun;
  readonly shard: number;
}

function checkShard(shard: Shard, text: string, digests: Buffer): Buffer {
  const { source, path } = shard;
  const found: Buffer[] = [];
  let last = '';
  for (const [index, line] of text.split('\n').slice(0, -1).entries()) {
    const read = parseLogLine(line);
    const hex = read.record_hash.slice('sha256:'.length);
    const digest = Buffer.from(hex, 'hex');
    const fault =
      lineFault({ ...read, line, hex, last }, shard) ??
      (isAt(digests, read.position, digest) ? null : 'not the entry that it names');
    if (fault !== null) source.faults.add(path, `line ${index + 1}`, fault);
    last = hex;
    found.push(digest);
  }
  if (text !== '' && !text.endsWith('\n')) source.faults.add(path, '', 'cut off in its last line');
  return Buffer.concat(found);
}

function lineFault(
  read: LogLine & { line: string; hex: string; last: string },
  { run, shard }: Shard,
): string | null {
  const { position, facts, line, hex, last } = read;
  if (logLineText(hex, position, factsText(facts)) !== `${line}\n`) {
    return 'not spelled as compile writes it';
  }
  if (hex <= last) return 'out of order or twice';
  if (shardOfLead(run, leadOf(hex)) !== shard) return 'belongs into another file';
  const isOurs = position >= run.start && position < run.start + run.count;
  return isOurs ? null : 'belongs into another run';
}

function isAt(digests: Buffer, position: number, digest: Buffer): boolean {
  const at = position * HASH_BYTES;
  return digest.equals(digests.subarray(at, at + HASH_BYTES));
}

/** Every record hash that the release lists is an entry; citations are none. */
function checkPublished(source: LogSource, path: string, known: KnownHashes): number {
  const shard = source.paths.has(path) ? source.read(path) : null;
  if (shard === null) return 0;
  let found = 0;
  try {
    for (const [index, line] of decodeUtf8(shard).split('\n').slice(0, -1).entries()) {
      const { kind, record_hash } = parseVerifyEntry(line);
      if (kind === 'citation') continue;
      if (known.has(record_hash)) found += 1;
      else source.faults.add(path, `line ${index + 1}`, `"${record_hash}" is not in the log`);
    }
  } catch (error) {
    source.faults.add(path, '', messageOf(error));
  }
  return found;
}
