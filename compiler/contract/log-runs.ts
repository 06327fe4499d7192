// The index of the log: what each entry stands for, found by its hash. Entries stand in runs, which follow from the
// number of entries alone. A run that is full never changes, so a later release adds to the index without rewriting it.

import { z } from 'zod';
import { LOG_SIZE_MAX } from './log-batch.ts';
import { RECORD_HASH } from './record-hash.ts';
import { LOG_FOLDER } from './tiles.ts';

/** Entries of the smallest run that is full, and about how many lines a file of any run has. */
const RUN_UNIT = 1024;
/** A run of the next size holds so many of this one. */
const RUN_FACTOR = 4;
/** Units of the largest run. */
const RUN_UNITS_MAX = RUN_FACTOR ** 6;
/** Leading hex digits of a hash that say in which file of a run it stands. */
export const LEAD_DIGITS = 3;
/** How many leads there are, which is the number of files of the largest run. */
export const LEADS = 16 ** LEAD_DIGITS;

/** Folder of the runs in a release. */
export const LOG_INDEX_FOLDER = `${LOG_FOLDER}/index`;

/** Entries of the log from `start` on. Their lines are cut into `shards` files by the leading bits of the hash. */
export interface LogRun {
  readonly start: number;
  readonly count: number;
  readonly shards: number;
}

/** The runs of a log of `size` entries: the digits of its units to the base 4, the largest first, then what is left. */
export function runsOf(size: number): LogRun[] {
  if (!(size <= LOG_SIZE_MAX)) throw new RangeError(`Cannot index a log of ${size} entries`);
  const runs: LogRun[] = [];
  let start = 0;
  for (let units = RUN_UNITS_MAX; units >= 1; units /= RUN_FACTOR) {
    const count = units * RUN_UNIT;
    for (; start + count <= size; start += count) runs.push({ start, count, shards: units });
  }
  return start === size ? runs : [...runs, { start, count: size - start, shards: 1 }];
}

/** True when all entries of one run are entries of another. */
export function isWithin(inner: LogRun, outer: LogRun): boolean {
  return inner.start >= outer.start && inner.start + inner.count <= outer.start + outer.count;
}

/** True for the same entries. */
export function isSameRun(one: LogRun, other: LogRun): boolean {
  return one.start === other.start && one.count === other.count;
}

/** Where a file of a run stands in a release, by its number: `log/index/4096-1024/0.txt`. */
export function runPath({ start, count, shards }: LogRun, shard: number): string {
  const digits = (shards - 1).toString(16).length;
  return `${LOG_INDEX_FOLDER}/${start}-${count}/${shard.toString(16).padStart(digits, '0')}.txt`;
}

/** Every file of a run, in the order of the hashes. */
export function runPaths(run: LogRun): string[] {
  return Array.from({ length: run.shards }, (_, shard) => runPath(run, shard));
}

/** The number that the first hex digits of a hash spell, below LEADS; at least three digits are given. */
export function leadOf(hex: string): number {
  return Number.parseInt(hex.slice(0, LEAD_DIGITS), 16);
}

/** Number of the file of a run in which hashes with this lead stand. */
export function shardOfLead({ shards }: LogRun, lead: number): number {
  return Math.floor((lead * shards) / LEADS);
}

/** What every line begins with whose hash begins with these hex digits. */
export function logLineStart(hex: string): string {
  return `["sha256:${hex}`;
}

/** What entries stand for; no snapshot gives those of the last two. */
const KINDS = ['reading', 'row', 'citation', 'release'] as const;

/** What a record hash in the log stands for. */
export interface LeafFacts {
  /**
   * Hash core of a reading, hash core of a roster row, signed statement of a body that joins readings, or head of a
   * release.
   */
  readonly kind: (typeof KINDS)[number];
  /** Null where no signal is meant. */
  readonly signal_id: string | null;
  readonly entity: string;
  readonly observed_at: string;
}

/** One line of a run. */
export interface LogLine {
  readonly record_hash: string;
  /** Position in the log. */
  readonly position: number;
  /** Null for an entry of which nothing but its hash is known any more. */
  readonly facts: LeafFacts | null;
}

/** Facts as they stand in a line, without the brackets around them. */
export function factsText(facts: LeafFacts | null): string {
  if (facts === null) return NO_FACTS_TEXT;
  const { kind, signal_id, entity, observed_at } = facts;
  return JSON.stringify([kind, signal_id, entity, observed_at]).slice(1, -1);
}

/** Whether an entry with these facts follows from no snapshot. */
export function isOfNoSnapshot(text: string): boolean {
  return text.startsWith('"citation",') || text.startsWith('"release",');
}

/** The facts of an entry of which nothing but its hash is known. */
export const NO_FACTS_TEXT = 'null,null,null,null';

/** Text of one line, a JSON array with its line end. */
export function logLineText(hex: string, position: number, facts: string): string {
  return `${logLineStart(hex)}",${position},${facts}]\n`;
}

const lineHead = [z.string().regex(RECORD_HASH), z.int().min(0)] as const;
const logLine = z.union([
  z.tuple([...lineHead, z.enum(KINDS), z.string().nullable(), z.string(), z.string()]),
  z.tuple([...lineHead, z.null(), z.null(), z.null(), z.null()]),
]);

/** Reads one line without its line end; throws for anything else than logLineText writes. */
export function parseLogLine(line: string): LogLine {
  const [record_hash, position, kind, signal_id, entity, observed_at] = logLine.parse(
    JSON.parse(line),
  );
  const facts = kind === null ? null : { kind, signal_id, entity, observed_at };
  return { record_hash, position, facts };
}
