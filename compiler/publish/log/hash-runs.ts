import { defined } from '../../format/errors.ts';
import {
  type HashLine,
  type HashRun,
  hashLineStart,
  hashLineText,
  isWithin,
  LEAD_DIGITS,
  LEADS,
  leadOf,
  runPath,
  runsOf,
  shardOfLead,
} from '../../format/hash-index.ts';
import { firstWhere } from '../../format/lists.ts';
import { byteAt, FIRST_BYTES, sortedLines } from '../../release/hash-lines.ts';
import { LineSpill } from '../../release/line-spill.ts';
import { ReusedBytes } from '../../release/reused-bytes.ts';
import { endOf, findLine, lineAt, textOrder } from '../../release/sorted-lines.ts';

/** Where the digits of the hash begin in a line of a run. */
const HEX_AT = hashLineStart('').length;
/** Hex digits of a hash. */
export const HEX_DIGITS = 64;
/** Where the sequence begins. */
const SEQUENCE_AT = HEX_AT + HEX_DIGITS + '",'.length;
/** How many leads begin with one byte. */
const LEADS_OF_A_BYTE = LEADS / FIRST_BYTES;
/** Of lines in memory, before they go to the disk. */
const HELD_BYTES_MAX = 4_000_000;
const COMMA = 0x2c;
const DIGIT_0 = 0x30;

/** Lines of an index. */
export interface RunSource {
  readonly runs: readonly HashRun[];
  /** Lines of a run whose hash begins with a byte, in any order; valid until others are asked for. */
  lines(run: HashRun, first: number): Buffer;
  /** Whether a run has a hash, by its hex digits. */
  has(run: HashRun, hex: string): boolean;
}

/** The hex digits of the hash of a line. */
export function hexOfLine(line: string): string {
  return line.slice(HEX_AT, HEX_AT + HEX_DIGITS);
}

/** Of sorted lines those with a lead from one on up to another, which is not included. */
function linesBetween(lines: Buffer, from: number, to: number): Buffer {
  return lines.subarray(startOf(lines, from), startOf(lines, to));
}

function startOf(lines: Buffer, lead: number): number {
  if (lead === LEADS) return lines.length;
  const start = hashLineStart(lead.toString(16).padStart(LEAD_DIGITS, '0'));
  return findLine({ bytes: lines, order: textOrder }, start).start;
}

/** The index of a release. Of each run the file that was read last is held, so look-ups should come in order. */
export class StoredRuns implements RunSource {
  readonly runs: readonly HashRun[];
  readonly #read: (path: string) => Buffer;
  readonly #held = new Map<HashRun, { readonly path: string; readonly bytes: Buffer }>();

  /** `read` gives the bytes of a listed file. */
  constructor(total: number, read: (path: string) => Buffer) {
    this.runs = runsOf(total);
    this.#read = read;
  }

  has(run: HashRun, hex: string): boolean {
    const bytes = this.#file(run, shardOfLead(run, leadOf(hex)));
    const start = hashLineStart(hex);
    return lineAt(bytes, findLine({ bytes, order: textOrder }, start).start).startsWith(start);
  }

  lines(run: HashRun, first: number): Buffer {
    const [from, to] = [first * LEADS_OF_A_BYTE, (first + 1) * LEADS_OF_A_BYTE];
    const shards: Buffer[] = [];
    for (let shard = shardOfLead(run, from); shard <= shardOfLead(run, to - 1); shard += 1) {
      shards.push(linesBetween(this.#file(run, shard), from, to));
    }
    return Buffer.concat(shards);
  }

  #file(run: HashRun, shard: number): Buffer {
    const path = runPath(run, shard);
    const held = this.#held.get(run);
    if (held?.path === path) return held.bytes;
    const bytes = this.#read(path);
    this.#held.set(run, { path, bytes });
    return bytes;
  }
}

/** Lines of some runs, in memory that does not grow. */
export class RunSpill implements RunSource {
  readonly runs: readonly HashRun[];
  readonly #lines: LineSpill;

  /** `startOf` says how many hashes came before those of a release; `folder` holds what is too much for the memory. */
  constructor(folder: string, runs: readonly HashRun[], startOf: (sequence: number) => number) {
    this.runs = runs;
    const runOf = (lines: Buffer, start: number): number => {
      const [sequence, index] = numbersAt(lines, start + SEQUENCE_AT);
      return this.#numberOf(startOf(sequence) + index);
    };
    const groupOf = (lines: Buffer, start: number): number =>
      runOf(lines, start) * FIRST_BYTES + byteAt(lines, start + HEX_AT);
    this.#lines = new LineSpill(
      folder,
      { endOf, groupOf, groups: runs.length * FIRST_BYTES },
      HELD_BYTES_MAX,
    );
  }

  /** Adds a hash, which is in one of the runs. */
  add(hex: string, place: Pick<HashLine, 'sequence' | 'index'>, facts: string): void {
    this.#lines.add(Buffer.from(hashLineText(hex, place, facts)));
  }

  lines(run: HashRun, first: number): Buffer {
    return this.#lines.take(this.#numberOf(run.start) * FIRST_BYTES + first);
  }

  has(run: HashRun, hex: string): boolean {
    return this.lines(run, byteAt(Buffer.from(hex), 0)).includes(hashLineStart(hex));
  }

  /** Number of the run that a hash belongs to. */
  #numberOf(position: number): number {
    const startsBehind = (at: number): boolean =>
      defined(this.runs[at], 'the run').start > position;
    return firstWhere(this.runs.length, startsBehind) - 1;
  }
}

/** The two numbers that stand at a place, each before a comma. */
function numbersAt(lines: Buffer, start: number): [number, number] {
  const numbers: [number, number] = [0, 0];
  let at = start;
  for (const which of [0, 1] as const) {
    for (; lines[at] !== COMMA; at += 1) {
      numbers[which] = 10 * numbers[which] + (lines[at] ?? COMMA) - DIGIT_0;
    }
    at += 1;
  }
  return numbers;
}

/**
 * Path and lines of each file of each run that does not stand, of the index `before` and of what was added, which has the runs of
 * the new index: a run of the old one is within one of these. The lines are valid until the next file is asked for.
 */
export function* runFiles(
  before: Pick<RunSource, 'runs' | 'lines'>,
  added: RunSpill,
  stands: (run: HashRun) => boolean,
): Generator<readonly [string, Buffer]> {
  for (const run of added.runs) {
    if (stands(run)) continue;
    const sources = before.runs
      .filter((inner) => isWithin(inner, run))
      .map((inner) => (first: number) => before.lines(inner, first));
    yield* filesOf(run, [...sources, (first) => added.lines(run, first)]);
  }
}

/** The files of one run, made byte by byte where it has more of them: so memory does not grow with the run. */
function* filesOf(
  run: HashRun,
  sources: readonly ((first: number) => Buffer)[],
): Generator<readonly [string, Buffer]> {
  const memory = new ReusedBytes();
  const steps = Math.min(run.shards, FIRST_BYTES);
  const [bytes, shards] = [FIRST_BYTES / steps, run.shards / steps];
  const leads = LEADS / run.shards;
  for (let step = 0; step < steps; step += 1) {
    const parts: Buffer[] = [];
    for (let first = step * bytes; first < (step + 1) * bytes; first += 1) {
      for (const source of sources) parts.push(Buffer.from(source(first)));
    }
    const lines = sortedLines(Buffer.concat(parts), HEX_AT, memory);
    for (let shard = step * shards; shard < (step + 1) * shards; shard += 1) {
      yield [runPath(run, shard), linesBetween(lines, shard * leads, (shard + 1) * leads)];
    }
  }
}
