const NEWLINE = 0x0a;

/** A line to put into sorted lines, in place of one with the same key; null takes that one away. */
export interface LineEdit {
  readonly key: string;
  /** With its line end. */
  readonly line: string | null;
}

/** Where the line behind this one begins. */
export function endOf(bytes: Buffer, start: number): number {
  const end = bytes.indexOf(NEWLINE, start);
  return end < 0 ? bytes.length : end + 1;
}

/** The line that begins at a place, without its line end. */
export function lineAt(bytes: Buffer, start: number): string {
  const end = endOf(bytes, start);
  return bytes.toString('utf8', start, bytes[end - 1] === NEWLINE ? end - 1 : end);
}

/** Where the line that holds a place begins; lines before `low` do not count. */
function startOf(bytes: Buffer, low: number, place: number): number {
  return place === low ? low : Math.max(low, bytes.lastIndexOf(NEWLINE, place - 1) + 1);
}

/** A place among sorted lines. */
interface LinePlace {
  readonly start: number;
  readonly found: boolean;
}

/** Sorted lines with the way to read a key from one of them, without its line end. */
export interface SortedLines {
  readonly bytes: Buffer;
  readonly keyOf: (line: string) => string;
}

/** Where the line of a key begins, or would; looked for from `from` on. */
export function findLine({ bytes, keyOf }: SortedLines, key: string, from = 0): LinePlace {
  let low = from;
  let high = bytes.length;
  while (low < high) {
    const start = startOf(bytes, low, low + ((high - low) >> 1));
    const here = keyOf(lineAt(bytes, start));
    if (here === key) return { start, found: true };
    if (here < key) low = endOf(bytes, start);
    else high = start;
  }
  return { start: low, found: false };
}

/**
 * Sorted lines with edits applied, as parts to be written one behind the other; what no edit touches is
 * not copied. `edits` are sorted by key, each key once. Throws a RangeError for a line to take away that is not there.
 */
export function editedLines(lines: SortedLines, edits: readonly LineEdit[]): Buffer[] {
  const { bytes } = lines;
  const parts: Buffer[] = [];
  let at = 0;
  let held: string[] = [];
  const keep = (end: number): void => {
    if (end === at) return;
    parts.push(Buffer.from(held.join(''), 'utf8'), bytes.subarray(at, end));
    held = [];
  };
  for (const { key, line } of edits) {
    const { start, found } = findLine(lines, key, at);
    keep(start);
    if (line !== null) held.push(line);
    else if (!found) throw new RangeError(`Cannot take away "${key}": not there`);
    at = found ? endOf(bytes, start) : start;
  }
  parts.push(Buffer.from(held.join(''), 'utf8'), bytes.subarray(at));
  return parts.filter((part) => part.length > 0);
}
