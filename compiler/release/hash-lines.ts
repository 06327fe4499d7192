import { LineSpill } from './line-spill.ts';
import type { ReusedBytes } from './reused-bytes.ts';
import { endOf } from './sorted-lines.ts';

/** Bits of what is read off each item first; a position has the other bits of a number that is exact. */
const LEAD_BITS = 28;
const POSITIONS_MAX = 2 ** 24;

/** First bytes that a hash can have: lines are grouped by them. */
export const FIRST_BYTES = 256;

const LEAD_DIGITS = LEAD_BITS / 4;
const DIGIT_0 = 0x30;
const LETTER_A = 0x61;

/** The byte whose two hex digits stand at a place. */
export function byteAt(lines: Buffer, at: number): number {
  return 16 * hexDigit(lines[at] ?? 0) + hexDigit(lines[at + 1] ?? 0);
}

/** Of lines in memory, before they go to the disk. */
const HELD_BYTES_MAX = 4_000_000;

/** Lines that begin with the digits of a hash, by its first byte; `folder` holds what is too much for the memory. */
export function hashSpill(folder: string): LineSpill {
  const form = { endOf, groupOf: byteAt, groups: FIRST_BYTES };
  return new LineSpill(folder, form, HELD_BYTES_MAX);
}

function hexDigit(code: number): number {
  return code < LETTER_A ? code - DIGIT_0 : code - LETTER_A + 10;
}

/**
 * Sorted copy of lines of text, by their bytes, in `memory`. All begin alike up to `leadAt`, where hex digits of a hash
 * stand: so no string is made of each line.
 */
export function sortedLines(lines: Buffer, leadAt: number, memory: ReusedBytes): Buffer {
  const starts = startsOf(lines);
  const [from, to] = [(at: number) => starts[at] ?? 0, (at: number) => starts[at + 1] ?? 0];
  const order = leadingOrder({
    count: starts.length - 1,
    lead: (at) => {
      const start = from(at) + leadAt;
      return Number.parseInt(lines.toString('latin1', start, start + LEAD_DIGITS), 16);
    },
    compare: (a, b) => lines.compare(lines, from(b), to(b), from(a), to(a)),
  });
  const sorted = memory.take(lines.length);
  let end = 0;
  for (const at of order) end += lines.copy(sorted, end, from(at), to(at));
  return sorted;
}

/** Where each line begins, and where the last one ends; an array that grew to so many would leave its smaller selves behind. */
function startsOf(bytes: Buffer): Uint32Array {
  let count = 0;
  for (let at = 0; at < bytes.length; at = endOf(bytes, at)) count += 1;
  const starts = new Uint32Array(count + 1);
  for (let line = 0, at = 0; line <= count; line += 1, at = endOf(bytes, at)) starts[line] = at;
  return starts;
}

/** Each line of a text, without its line end. */
export function* textLines(lines: Buffer): Generator<string> {
  for (let at = 0; at < lines.length; ) {
    const end = endOf(lines, at);
    yield lines.toString('utf8', at, end - 1);
    at = end;
  }
}

/** Items by their positions, as they are to be sorted. */
interface Items {
  readonly count: number;
  /** The first LEAD_BITS bits of what an item is sorted by. */
  readonly lead: (at: number) => number;
  /** The order of two items of the same lead. */
  readonly compare: (a: number, b: number) => number;
}

/** Positions in sorted order. Numbers are sorted without a call per comparison, so only equal leads are compared at all. */
export function leadingOrder({ count, lead, compare }: Items): Uint32Array {
  if (count > POSITIONS_MAX) throw new RangeError(`Cannot sort ${count} items at once`);
  const keys = new Float64Array(count);
  for (let at = 0; at < count; at += 1) keys[at] = lead(at) * POSITIONS_MAX + at;
  keys.sort();
  const order = Uint32Array.from(keys, (key) => key % POSITIONS_MAX);
  const leadAt = (at: number): number => Math.floor((keys[at] ?? 0) / POSITIONS_MAX);
  for (let from = 0, to = 1; from < count; from = to, to += 1) {
    while (to < count && leadAt(to) === leadAt(from)) to += 1;
    if (to - from > 1) order.subarray(from, to).sort(compare);
  }
  return order;
}
