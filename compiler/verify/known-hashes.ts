import { openNote } from '../contract/checkpoint.ts';
import { defined } from '../contract/defined.ts';
import { firstWhere } from '../contract/lists.ts';
import { type LogRun, logLineStart, runPaths, runsOf } from '../contract/log-runs.ts';
import { HASH_BYTES } from '../contract/merkle.ts';
import { CHECKPOINT_PATH, decodeBundle, TILE_WIDTH, tilePath } from '../contract/tiles.ts';
import type { Disk } from './disk.ts';
import type { FileList } from './file-list.ts';
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
    const size = sizeOfLog(bodies);
    if (list.isPublic) return sharedDigests([digestsInTiles(bodies, size)]);
    return sharedDigests(runsOf(size).map((run) => digestsIn(bodies, run)));
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

/** Sorted, since the lines of a run are. */
function digestsIn(bodies: StoredBodies, run: LogRun): Buffer {
  const digests = runPaths(run).flatMap((path) =>
    textOf(bodies, path)
      .split('\n')
      .slice(0, -1)
      .map((line) => Buffer.from(line.slice(HEX_AT, HEX_AT + 2 * HASH_BYTES), 'hex')),
  );
  return Buffer.concat(digests);
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
    left.push(merged(defined(left.pop(), 'the smallest'), defined(left.pop(), 'the next one')));
  }
  new Uint8Array(shared).set(left[0] ?? []);
  return shared;
}

function merged(one: Buffer, other: Buffer): Buffer {
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
  return both;
}
