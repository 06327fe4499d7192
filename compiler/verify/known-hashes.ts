import { defined, messageOf } from '../format/errors.ts';
import {
  factsText,
  HASH_COUNT_PATH,
  HASH_INDEX_FOLDER,
  type HashRun,
  hashLineText,
  leadOf,
  parseHashCount,
  parseHashLine,
  runPaths,
  runsOf,
  shardOfLead,
} from '../format/hash-index.ts';
import { firstWhere } from '../format/lists.ts';
import { HASH_BYTES } from '../format/merkle.ts';
import { parseVerifyEntry } from '../format/release.ts';
import { decodeUtf8 } from '../format/strict-json.ts';
import { LOG_FOLDER, takenPath } from '../format/tiles.ts';
import { SHARD_STARTS, verifyShardPath } from '../products/shapes/path.ts';
import { readAll } from '../system/disk.ts';
import { dataFolder } from './file-list.ts';
import type { LogSource } from './log-tiles-check.ts';
import type { OpenRelease } from './release-head.ts';

const TAKEN_BYTES_MAX = 2 ** 32;
const SEQUENCE = /^[1-9][0-9]*$/;

/** The record hashes of readings and rows that the log took in up to a release, 32 bytes each. */
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

/** What releases took in, by their sequence: the digests of each, one after the other. */
export type TakenHashes = ReadonlyMap<number, Buffer>;

/**
 * What a release and those before it took in, as it lies in the folder of the log, in their order; that it is what the log
 * states is judged with the log.
 */
export function readTaken({ disk, root, head }: Omit<OpenRelease, 'faults'>): TakenHashes {
  const folder = `${dataFolder(root)}/${LOG_FOLDER}/new`;
  if (disk.entry(folder)?.kind !== 'folder') return new Map();
  const sequences = disk
    .list(folder)
    .flatMap(({ name, kind }) => (kind === 'file' && SEQUENCE.test(name) ? [Number(name)] : []))
    .filter((sequence) => sequence <= head.sequence)
    .sort((a, b) => a - b);
  return new Map(
    sequences.map((sequence) => {
      const chunks = disk.chunks(`${folder}/${sequence}`);
      return [sequence, Buffer.from(readAll(chunks, TAKEN_BYTES_MAX))];
    }),
  );
}

/** Sorted lists of digests as one, which threads can share. */
export function sharedDigests(lists: Iterable<Buffer>): SharedArrayBuffer {
  let left = [...lists].sort((a, b) => a.length - b.length);
  while (left.length > 1) {
    left = Array.from({ length: Math.ceil(left.length / 2) }, (_, at) => {
      const other = left[2 * at + 1];
      const one = defined(left[2 * at], 'a list');
      return other === undefined ? one : merged(one, other);
    });
  }
  const [all = Buffer.alloc(0)] = left;
  const shared = new SharedArrayBuffer(all.length);
  new Uint8Array(shared).set(all);
  return shared;
}

function merged(one: Buffer, other: Buffer): Buffer {
  const both = Buffer.allocUnsafe(one.length + other.length);
  let [from, at] = [0, 0];
  for (let to = 0; to < both.length; to += HASH_BYTES) {
    const isOne =
      at >= other.length ||
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

/**
 * Compares the index of a release with what the log took in up to it, and the hashes that it carries; answers how many of
 * those were found.
 */
export function checkHashIndex(source: LogSource, taken: TakenHashes): number {
  const { faults, listed } = source;
  const starts = new Map<number, number>();
  let total = 0;
  for (const [sequence, digests] of taken) {
    starts.set(sequence, total);
    total += digests.length / HASH_BYTES;
  }
  const known = sharedDigests(taken.values());
  const twice = firstTwice(Buffer.from(known));
  if (twice !== null) {
    faults.add(`${LOG_FOLDER}/new`, '', `"sha256:${twice}" was taken in by two releases`);
  }
  lookInto(source, HASH_COUNT_PATH, (text) => {
    const count = parseHashCount(text);
    if (count !== total)
      faults.add(HASH_COUNT_PATH, '', `${count}, but the log took in ${total} hashes`);
  });
  const runs = runsOf(total);
  const expected = new Set([HASH_COUNT_PATH, ...runs.flatMap(runPaths)]);
  for (const path of listed) {
    if (path.startsWith(`${HASH_INDEX_FOLDER}/`) && !expected.has(path))
      faults.add(path, '', 'belongs to no run of this index; compile again with --full');
  }
  for (const run of runs) checkRun(source, run, { taken, starts });
  const hashes = new KnownHashes(known);
  // Every record hash that the release carries was taken in; statements are proven otherwise.
  let found = 0;
  for (const path of SHARD_STARTS.map(verifyShardPath).filter((each) => listed.has(each))) {
    lookInto(source, path, (text) => {
      for (const [index, line] of text.split('\n').slice(0, -1).entries()) {
        const { kind, record_hash } = parseVerifyEntry(line);
        if (kind === 'citation') continue;
        if (hashes.has(record_hash)) found += 1;
        else faults.add(path, `line ${index + 1}`, `"${record_hash}" was never taken in`);
      }
    });
  }
  return found;
}

/** Gives the text of a file to what looks into it; false, and a fault, where there is none, and where it cannot be read. */
function lookInto(
  { read, faults }: LogSource,
  path: string,
  look: (text: string) => void,
): boolean {
  const bytes = read(path);
  if (bytes === null) return false;
  try {
    look(decodeUtf8(bytes));
  } catch (error) {
    faults.add(path, '', messageOf(error));
  }
  return true;
}

function firstTwice(sorted: Buffer): string | null {
  for (let at = HASH_BYTES; at < sorted.length; at += HASH_BYTES) {
    const isSame = sorted.compare(sorted, at, at + HASH_BYTES, at - HASH_BYTES, at) === 0;
    if (isSame) return sorted.toString('hex', at, at + HASH_BYTES);
  }
  return null;
}

interface TakenPlaces {
  readonly taken: TakenHashes;
  /** How many hashes came before those of a release, by its sequence. */
  readonly starts: ReadonlyMap<number, number>;
}

/** Every hash of the run has one line in the file of its lead. */
function checkRun(source: LogSource, run: HashRun, places: TakenPlaces): void {
  let count = 0;
  for (const [shard, path] of runPaths(run).entries()) {
    const isThere = lookInto(source, path, (text) => {
      const lines = text.split('\n');
      if (lines.pop() !== '') throw new RangeError('its last line is cut off');
      for (const [at, line] of lines.entries()) {
        const fault = lineFault(line, lines[at - 1] ?? '', { run, shard, ...places });
        if (fault !== null) source.faults.add(path, `line ${at + 1}`, fault);
      }
      count += lines.length;
    });
    if (!isThere) return;
  }
  if (count === run.count) return;
  const folder = `${HASH_INDEX_FOLDER}/${run.start}-${run.count}`;
  source.faults.add(folder, '', `${count} lines for ${run.count} hashes`);
}

function lineFault(
  line: string,
  last: string,
  { run, shard, taken, starts }: TakenPlaces & { readonly run: HashRun; readonly shard: number },
): string | null {
  const parsed = parseHashLine(line);
  const { record_hash, sequence, index } = parsed;
  const hex = record_hash.slice('sha256:'.length);
  if (hashLineText(hex, parsed, factsText(parsed)) !== `${line}\n`) return 'not a line of an index';
  if (line <= last) return 'out of order, or listed twice';
  if (shardOfLead(run, leadOf(hex)) !== shard) return 'belongs into another file';
  const digests = taken.get(sequence);
  const found = digests?.toString('hex', index * HASH_BYTES, (index + 1) * HASH_BYTES);
  if (found !== hex) return `not what "${takenPath(sequence)}" has at ${index}`;
  const position = (starts.get(sequence) ?? 0) + index;
  const isHere = position >= run.start && position < run.start + run.count;
  return isHere ? null : 'belongs into another run';
}
