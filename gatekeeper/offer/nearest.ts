/** Longest text that is compared letter by letter. */
const COMPARED_CHARS_MAX = 64;
/** Edits by which a misspelling may differ, and of how many letters each of them is the most. */
const EDITS_MAX = 3;
const LETTERS_AN_EDIT = 3;
/** Shortest text that is taken for a piece of another. */
const PIECE_CHARS_MIN = 3;

/**
 * Most steps of one search, some tens of microseconds: the text is a stranger's, so the names that are left when they
 * are used up are not looked at.
 */
export const NEAREST_STEPS_MAX = 6000;
/** Steps that looking for one text inside of another costs. */
const PIECE_STEPS = 32;

/** An option in the form that it is compared in. */
interface Name {
  readonly option: string;
  readonly letters: string;
  /** Which letters occur: two texts that differ in many of them cannot be near each other. */
  readonly mask: number;
}

/** By list: one that is asked again and again is prepared once, and forgotten with its owner. */
const prepared = new WeakMap<readonly string[], readonly Name[]>();

/** The option that a misspelt or shortened text most likely means, or null. */
export function nearest(text: string, options: readonly string[]): string | null {
  return nearestIn(text, options).option;
}

/** The same with the steps that it took. */
export function nearestIn(
  text: string,
  options: readonly string[],
): { readonly option: string | null; readonly steps: number } {
  const wanted = nameOf(text);
  const search = newSearch();
  let option: string | null = null;
  let bound = Math.min(EDITS_MAX, Math.floor(wanted.letters.length / LETTERS_AN_EDIT)) + 1;
  for (const name of namesOf(options)) {
    const distance = distanceTo({ wanted, name, bound }, search);
    if (distance < bound) [option, bound] = [name.option, distance];
    if (bound === 0 || search.steps > NEAREST_STEPS_MAX) break;
  }
  return { option, steps: search.steps };
}

function namesOf(options: readonly string[]): readonly Name[] {
  const known = prepared.get(options);
  if (known !== undefined) return known;
  const names = options.map(nameOf);
  prepared.set(options, names);
  return names;
}

function nameOf(option: string): Name {
  const letters = option.slice(0, COMPARED_CHARS_MAX).toLowerCase().slice(0, COMPARED_CHARS_MAX);
  let mask = 0;
  for (let at = 0; at < letters.length; at += 1) mask |= 1 << (letters.charCodeAt(at) & 31);
  return { option, letters, mask };
}

interface Pair {
  readonly wanted: Name;
  readonly name: Name;
  /** Distances from this one on are not told apart. */
  readonly bound: number;
}

function distanceTo({ wanted, name, bound }: Pair, search: Search): number {
  search.steps += 1;
  if (wanted.letters === name.letters) return 0;
  const [extra, absent] = [wanted.mask & ~name.mask, name.mask & ~wanted.mask];
  if ((extra === 0 || absent === 0) && bound > 1) {
    search.steps += PIECE_STEPS;
    if (isPiece(wanted.letters, name.letters)) return 1;
  }
  // An edit brings in one letter that was absent at most, and takes one away.
  if (bitCount(extra) >= bound || bitCount(absent) >= bound) return bound;
  return editDistance({ wanted, name, bound }, search);
}

/** Whether one text is a piece of the other. */
function isPiece(left: string, right: string): boolean {
  if (Math.min(left.length, right.length) < PIECE_CHARS_MIN) return false;
  return left.length < right.length ? right.includes(left) : left.includes(right);
}

function bitCount(bits: number): number {
  let left = bits;
  let count = 0;
  for (; left !== 0; count += 1) left &= left - 1;
  return count;
}

/** Room for the rows of a comparison, made once for a search. */
interface Rows {
  above: Uint8Array;
  row: Uint8Array;
  next: Uint8Array;
}

interface Search extends Rows {
  steps: number;
}

function newSearch(): Search {
  const row = (): Uint8Array => new Uint8Array(COMPARED_CHARS_MAX + 2);
  return { above: row(), row: row(), next: row(), steps: 0 };
}

/**
 * Letters to insert, remove or replace, and neighbours to swap; `bound` for that many or more. Only cells that fewer
 * edits can reach are looked at, and a row without any ends it.
 */
function editDistance({ wanted, name, bound }: Pair, search: Search): number {
  const [left, right] = [wanted.letters, name.letters];
  if (Math.abs(left.length - right.length) >= bound) return bound;
  for (let to = 0; to <= Math.min(bound, right.length); to += 1) search.row[to] = to;
  for (let at = 1; at <= left.length; at += 1) {
    const least = fillNext({ left, right, bound, at }, search);
    search.steps += 2 * bound;
    if (least >= bound) return bound;
    turn(search);
  }
  return Math.min(bound, search.row[right.length] ?? bound);
}

/** The row that was filled becomes the one that the next is made from. */
function turn(rows: Rows): void {
  const free = rows.above;
  rows.above = rows.row;
  rows.row = rows.next;
  rows.next = free;
}

interface Step {
  readonly left: string;
  readonly right: string;
  readonly bound: number;
  /** Letters of the left text that the row is about. */
  readonly at: number;
}

/** Fills the cells around the diagonal, and one beside them that the next row reads; says the least of them. */
function fillNext(step: Step, rows: Rows): number {
  const { right, bound, at } = step;
  const { next } = rows;
  const first = Math.max(1, at - bound + 1);
  const last = Math.min(right.length, at + bound - 1);
  next[first - 1] = first === 1 ? Math.min(at, bound) : bound;
  let least = next[first - 1] ?? bound;
  for (let to = first; to <= last; to += 1) {
    const cell = cellAt(step, to, rows);
    next[to] = cell;
    if (cell < least) least = cell;
  }
  if (last < right.length) next[last + 1] = bound;
  return least;
}

/** The distance of the first `at` letters of the left text to the first `to` of the right one. */
function cellAt({ left, right, bound, at }: Step, to: number, { above, row, next }: Rows): number {
  const letter = left.charCodeAt(at - 1);
  const other = right.charCodeAt(to - 1);
  const replaced = (row[to - 1] ?? bound) + (letter === other ? 0 : 1);
  const edited = Math.min(replaced, (row[to] ?? bound) + 1, (next[to - 1] ?? bound) + 1, bound);
  if (at === 1 || to === 1) return edited;
  const isSwap = letter === right.charCodeAt(to - 2) && left.charCodeAt(at - 2) === other;
  return isSwap ? Math.min(edited, (above[to - 2] ?? bound) + 1) : edited;
}
