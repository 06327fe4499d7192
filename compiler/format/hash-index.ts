// The look-up of every record hash that a log ever took in: which release brought it, and what it stands for. Hashes stand in
// runs, which follow from their number alone. A run that is full never changes, so a later release adds to the index without
// rewriting it.

import { z } from 'zod';
import { RECORD_HASH } from './record-hash.ts';

/** Hashes of the smallest run that is full, and about how many lines a file of any run has. */
const RUN_UNIT = 1024;
/** A run of the next size holds so many of this one. */
const RUN_FACTOR = 4;
/** Units of the largest run. */
const RUN_UNITS_MAX = RUN_FACTOR ** 6;
/** Most hashes of an index. */
const HASHES_MAX = 2 ** 32 - 1;
/** Leading hex digits of a hash that say in which file of a run it stands. */
export const LEAD_DIGITS = 3;
/** How many leads there are, which is the number of files of the largest run. */
export const LEADS = 16 ** LEAD_DIGITS;

/** Folder of the runs in a release. */
export const HASH_INDEX_FOLDER = 'index/hashes';
/** How many hashes the index has, in decimal with a line end: the runs follow from it. */
export const HASH_COUNT_PATH = `${HASH_INDEX_FOLDER}/count.txt`;

/** Hashes from the one at `start` on, in the order in which they were taken in. Their lines are cut into `shards` files by the leading bits of the hash. */
export interface HashRun {
  readonly start: number;
  readonly count: number;
  readonly shards: number;
}

/** The runs of an index of `total` hashes: the digits of its units to the base 4, the largest first, then what is left. */
export function runsOf(total: number): HashRun[] {
  if (!(total <= HASHES_MAX)) throw new RangeError(`Cannot index ${total} hashes`);
  const runs: HashRun[] = [];
  let start = 0;
  for (let units = RUN_UNITS_MAX; units >= 1; units /= RUN_FACTOR) {
    const count = units * RUN_UNIT;
    for (; start + count <= total; start += count) runs.push({ start, count, shards: units });
  }
  return start === total ? runs : [...runs, { start, count: total - start, shards: 1 }];
}

/** True when all hashes of one run are hashes of another. */
export function isWithin(inner: HashRun, outer: HashRun): boolean {
  return inner.start >= outer.start && inner.start + inner.count <= outer.start + outer.count;
}

/** True for the same hashes. */
export function isSameRun(one: HashRun, other: HashRun): boolean {
  return one.start === other.start && one.count === other.count;
}

/** Where a file of a run stands in a release, by its number: `index/hashes/4096-1024/0.txt`. */
export function runPath({ start, count, shards }: HashRun, shard: number): string {
  const digits = (shards - 1).toString(16).length;
  return `${HASH_INDEX_FOLDER}/${start}-${count}/${shard.toString(16).padStart(digits, '0')}.txt`;
}

/** Every file of a run, in the order of the hashes. */
export function runPaths(run: HashRun): string[] {
  return Array.from({ length: run.shards }, (_, shard) => runPath(run, shard));
}

/** The number that the first hex digits of a hash spell, below LEADS; at least three digits are given. */
export function leadOf(hex: string): number {
  return Number.parseInt(hex.slice(0, LEAD_DIGITS), 16);
}

/** Number of the file of a run in which hashes with this lead stand. */
export function shardOfLead({ shards }: HashRun, lead: number): number {
  return Math.floor((lead * shards) / LEADS);
}

/** What every line begins with whose hash begins with these hex digits. */
export function hashLineStart(hex: string): string {
  return `["sha256:${hex}`;
}

const KINDS = ['reading', 'row'] as const;

/** What a record hash stands for. */
export interface TakenFacts {
  /** Hash core of a reading, or of a roster row. */
  readonly kind: (typeof KINDS)[number];
  /** Null where no signal is meant. */
  readonly signal_id: string | null;
  readonly entity: string;
  readonly observed_at: string;
}

/** One line of a run. */
export interface HashLine extends TakenFacts {
  readonly record_hash: string;
  /** Of the release that took it in. */
  readonly sequence: number;
  /** Position among the hashes that this release took in. */
  readonly index: number;
}

/** Facts as they stand in a line, without the brackets around them. */
export function factsText({ kind, signal_id, entity, observed_at }: TakenFacts): string {
  return JSON.stringify([kind, signal_id, entity, observed_at]).slice(1, -1);
}

/** Text of one line, a JSON array with its line end. */
export function hashLineText(
  hex: string,
  { sequence, index }: Pick<HashLine, 'sequence' | 'index'>,
  facts: string,
): string {
  return `${hashLineStart(hex)}",${sequence},${index},${facts}]\n`;
}

const hashLine = z.tuple([
  z.string().regex(RECORD_HASH),
  z.int().min(1),
  z.int().min(0),
  z.enum(KINDS),
  z.string().nullable(),
  z.string(),
  z.string(),
]);

/** Reads one line without its line end; throws for anything else than hashLineText writes. */
export function parseHashLine(line: string): HashLine {
  const [record_hash, sequence, index, kind, signal_id, entity, observed_at] = hashLine.parse(
    JSON.parse(line),
  );
  return { record_hash, sequence, index, kind, signal_id, entity, observed_at };
}

/** Text of HASH_COUNT_PATH. */
export function hashCountText(total: number): string {
  return `${total}\n`;
}

/** The inverse of hashCountText; throws a RangeError for any other text. */
export function parseHashCount(text: string): number {
  const total = Number(text.slice(0, -1));
  const isCount = Number.isSafeInteger(total) && total >= 0 && total <= HASHES_MAX;
  if (isCount && hashCountText(total) === text) return total;
  throw new RangeError(`Cannot read "${HASH_COUNT_PATH}": not a number of hashes`);
}
