const NEWLINE = 0x0a;
/** How far behind the last line the next one is looked for first, in bytes. */
const NEAR_BYTES = 256;

/** A line to put into sorted lines, in place of one with the same key; null takes that one away. */
export interface LineEdit {
  readonly key: string;
  /** With its line end. */
  readonly line: string | null;
}

/** Sorted lines with the order of their keys. */
interface SortedLines {
  readonly bytes: Buffer;
  /** How the line that begins at a place stands to a key: below 0 before it, 0 where it has that key. */
  readonly order: (bytes: Buffer, start: number, key: string) => number;
}

/** Where edited lines go, piece by piece. */
export interface LineSink {
  /** Bytes from one place up to another stay. */
  keep(bytes: Buffer, from: number, to: number): void;
  /** The line from one place up to another goes, or is replaced. */
  drop(bytes: Buffer, from: number, to: number): void;
  add(line: string): void;
}

/** Where the line behind this one begins. */
export function endOf(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== NEWLINE) at += 1;
  return Math.min(at + 1, bytes.length);
}

/** The line that begins at a place, without its line end. */
export function lineAt(bytes: Buffer, start: number): string {
  const end = endOf(bytes, start);
  return bytes.toString('utf8', start, bytes[end - 1] === NEWLINE ? end - 1 : end);
}

/** Where the line that holds a place begins; lines before `low` do not count. */
function startOf(bytes: Buffer, low: number, place: number): number {
  let at = place;
  while (at > low && bytes[at - 1] !== NEWLINE) at -= 1;
  return at;
}

/** Order of the line from `start` on compared with an ASCII text: negative, 0 or positive. */
export function textOrder(bytes: Buffer, start: number, text: string): number {
  for (let at = 0; at < text.length; at += 1) {
    const lead = (bytes[start + at] ?? NEWLINE) - text.charCodeAt(at);
    if (lead !== 0) return lead;
  }
  const end = start + text.length;
  return end === bytes.length || bytes[end] === NEWLINE ? 0 : 1;
}

/** A place among sorted lines. */
interface LinePlace {
  readonly start: number;
  readonly found: boolean;
}

/** Where the line of a key begins, or would; looked for from `from` on. */
export function findLine({ bytes, order }: SortedLines, key: string, from = 0): LinePlace {
  let low = from;
  let high = bytes.length;
  let step = NEAR_BYTES;
  while (low < high) {
    // Lines that are looked for in their order stand near one another, so steps grow until one goes too far.
    const start = startOf(bytes, low, Math.min(low + step, low + ((high - low) >> 1)));
    const lead = order(bytes, start, key);
    if (lead === 0) return { start, found: true };
    if (lead < 0) {
      low = endOf(bytes, start);
      step *= 2;
    } else {
      high = start;
    }
  }
  return { start: low, found: false };
}

/**
 * Gives away sorted lines with edits applied. `edits` are sorted by key, each key once. Throws a RangeError for a line to
 * take away that is not there.
 */
export function editLines(lines: SortedLines, edits: Iterable<LineEdit>, out: LineSink): void {
  const { bytes } = lines;
  let at = 0;
  for (const { key, line } of edits) {
    const { start, found } = findLine(lines, key, at);
    if (start > at) out.keep(bytes, at, start);
    at = found ? endOf(bytes, start) : start;
    if (found) out.drop(bytes, start, at);
    if (line !== null) out.add(line);
    else if (!found) throw new RangeError(`Cannot take away "${key}": not there`);
  }
  if (at < bytes.length) out.keep(bytes, at, bytes.length);
}

/** How lines are read that stand in the order of a key. */
interface KeyedForm<T> {
  readonly parse: (line: string) => T;
  readonly key: (parsed: T) => string;
}

/** A line that one text has, or the other, or each for itself under the same key. */
export type LinePair<T> =
  | { readonly one: T; readonly other: T | null }
  | { readonly one: null; readonly other: T };

/** Where two texts of sorted lines differ, in order. Stretches that are equal are skipped whole, without being parsed. */
export function* differentLines<T>(
  one: Buffer,
  other: Buffer,
  form: KeyedForm<T>,
): Generator<LinePair<T>> {
  let at = 0;
  let beside = 0;
  for (;;) {
    const equal = equalLines(one.subarray(at), other.subarray(beside));
    at += equal;
    beside += equal;
    const pair = pairAt(parsedAt(one, at, form), parsedAt(other, beside, form), form);
    if (pair === null) return;
    yield pair;
    if (pair.one !== null) at = endOf(one, at);
    if (pair.other !== null) beside = endOf(other, beside);
  }
}

function parsedAt<T>(bytes: Buffer, at: number, { parse }: KeyedForm<T>): T | null {
  return at < bytes.length ? parse(lineAt(bytes, at)) : null;
}

/** Of two next lines the earlier one, or both where neither is earlier. */
function pairAt<T>(one: T | null, other: T | null, { key }: KeyedForm<T>): LinePair<T> | null {
  if (one === null) return other === null ? null : { one: null, other };
  if (other === null || key(one) < key(other)) return { one, other: null };
  return key(one) === key(other) ? { one, other } : { one: null, other };
}

/** Bytes of the whole lines that two texts begin with alike. */
function equalLines(one: Buffer, other: Buffer): number {
  const most = Math.min(one.length, other.length);
  let same = 0;
  for (let step = 64; same < most && step > 0; ) {
    const end = Math.min(same + step, most);
    if (one.compare(other, same, end, same, end) === 0) {
      same = end;
      step *= 2;
    } else {
      step = step >> 1;
    }
  }
  return same === 0 ? 0 : one.lastIndexOf(NEWLINE, same - 1) + 1;
}

/** Room for what is added. */
const ROOM_BYTES = 1 << 16;
const UTF8_BYTES_MAX = 3;

/** Edited lines as one piece of memory, which serves for one text after the other. */
export class GatheredLines implements LineSink {
  /** How the added lines become bytes. */
  readonly #encoding: 'utf8' | 'latin1';
  #bytes: Buffer;
  #length = 0;

  /** `expected` is about how many bytes are gathered at once. */
  constructor(encoding: 'utf8' | 'latin1', expected = 0) {
    this.#encoding = encoding;
    this.#bytes = Buffer.allocUnsafe(expected + ROOM_BYTES);
  }

  keep(bytes: Buffer, from: number, to: number): void {
    this.#makeRoom(to - from);
    this.#length += bytes.copy(this.#bytes, this.#length, from, to);
  }

  drop(): void {}

  add(line: string): void {
    this.#makeRoom(line.length * UTF8_BYTES_MAX);
    this.#length += this.#bytes.write(line, this.#length, this.#encoding);
  }

  /** What was gathered since the last time; valid until more is gathered. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return taken;
  }

  #makeRoom(more: number): void {
    const needed = this.#length + more;
    if (needed > this.#bytes.length) this.#grow(Math.max(needed, 2 * this.#bytes.length));
  }

  #grow(size: number): void {
    const grown = Buffer.allocUnsafe(size);
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
