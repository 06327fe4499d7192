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
const NEAREST_STEPS_MAX = 6000;
/** Names of one list that are compared at all: to rank 100,000 by their letters takes milliseconds of a free answer. */
const NAMES_MAX = 5000;
/** Steps that looking for one text inside of another costs. */
const PIECE_STEPS = 4;

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
  const search = newSearch(
    Math.min(EDITS_MAX, Math.floor(wanted.letters.length / LETTERS_AN_EDIT)),
  );
  const ranked = rankedByLetters(wanted, namesOf(options), search);
  // Whoever differs in few letters comes first, so that the steps are not used up by those that cannot win.
  for (const [least, names] of ranked.entries()) {
    for (const name of names) {
      if (least >= search.bound || search.steps > NEAREST_STEPS_MAX) break;
      note(search, name, editDistance(wanted, name, search));
    }
  }
  return { option: search.option, steps: search.steps };
}

function note(search: Search, { option }: Name, distance: number): void {
  if (distance >= search.bound) return;
  search.option = option;
  search.bound = distance;
}

/** Names by the least number of edits that the letters in which they differ take; equal ones and pieces are noted at once. */
function rankedByLetters(
  wanted: Name,
  names: readonly Name[],
  search: Search,
): readonly (readonly Name[])[] {
  const ranked: Name[][] = Array.from({ length: EDITS_MAX + 1 }, () => []);
  for (const name of names) {
    const [extra, absent] = [wanted.mask & ~name.mask, name.mask & ~wanted.mask];
    if (extra === 0 || absent === 0) notePiece(wanted, name, search);
    // An edit brings in one letter that was absent at most, and takes one away.
    const least = Math.max(bitCount(extra), bitCount(absent));
    if (least < search.bound) ranked[least]?.push(name);
  }
  return ranked;
}

function notePiece(wanted: Name, name: Name, search: Search): void {
  if (search.steps > NEAREST_STEPS_MAX) return;
  search.steps += PIECE_STEPS;
  if (wanted.letters === name.letters) note(search, name, 0);
  else if (isPiece(wanted.letters, name.letters)) note(search, name, 1);
}

function namesOf(options: readonly string[]): readonly Name[] {
  const known = prepared.get(options);
  if (known !== undefined) return known;
  const names = options.slice(0, NAMES_MAX).map(nameOf);
  prepared.set(options, names);
  return names;
}

function nameOf(option: string): Name {
  const letters = option.slice(0, COMPARED_CHARS_MAX).toLowerCase().slice(0, COMPARED_CHARS_MAX);
  let mask = 0;
  for (let at = 0; at < letters.length; at += 1) mask |= 1 << (letters.charCodeAt(at) & 31);
  return { option, letters, mask };
}

/** Whether one text is a piece of the other. */
function isPiece(left: string, right: string): boolean {
  if (Math.min(left.length, right.length) < PIECE_CHARS_MIN) return false;
  return left.length < right.length ? right.includes(left) : left.includes(right);
}

/** How many bits are set, as far as edits may be needed for them. */
function bitCount(bits: number): number {
  let left = bits;
  let count = 0;
  for (; left !== 0 && count <= EDITS_MAX; count += 1) left &= left - 1;
  return count;
}

/** Room for the rows of a comparison, made once for a search. */
interface EditRows {
  above: Uint8Array;
  row: Uint8Array;
  next: Uint8Array;
}

interface Search {
  steps: number;
  /** Null until letters are compared, as they seldom are. */
  rows: EditRows | null;
  /** What is found so far; only what is nearer than the bound takes its place. */
  option: string | null;
  bound: number;
}

function newSearch(editsMax: number): Search {
  return { steps: 0, rows: null, option: null, bound: editsMax + 1 };
}

function newRows(): EditRows {
  const row = (): Uint8Array => new Uint8Array(COMPARED_CHARS_MAX + 2);
  return { above: row(), row: row(), next: row() };
}

/**
 * Letters to insert, remove or replace, and neighbours to swap; `bound` for that many or more. Only cells that fewer
 * edits can reach are looked at, and a row without any ends it.
 */
function editDistance(wanted: Name, name: Name, search: Search): number {
  const [left, right, bound] = [wanted.letters, name.letters, search.bound];
  if (Math.abs(left.length - right.length) >= bound) return bound;
  search.rows ??= newRows();
  const { rows } = search;
  for (let to = 0; to <= Math.min(bound, right.length); to += 1) rows.row[to] = to;
  for (let at = 1; at <= left.length; at += 1) {
    const least = fillNext({ left, right, bound, at }, rows);
    search.steps += 2 * bound;
    if (least >= bound) return bound;
    turn(rows);
  }
  return Math.min(bound, rows.row[right.length] ?? bound);
}

/** The row that was filled becomes the one that the next is made from. */
function turn(rows: EditRows): void {
  const free = rows.above;
  rows.above = rows.row;
  rows.row = rows.next;
  rows.next = free;
}

interface EditRow {
  readonly left: string;
  readonly right: string;
  readonly bound: number;
  /** Letters of the left text that the row is about. */
  readonly at: number;
}

/** Fills the cells around the diagonal, and one beside them that the next row reads; says the least of them. */
function fillNext(step: EditRow, rows: EditRows): number {
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
function cellAt(
  { left, right, bound, at }: EditRow,
  to: number,
  { above, row, next }: EditRows,
): number {
  const letter = left.charCodeAt(at - 1);
  const other = right.charCodeAt(to - 1);
  const replaced = (row[to - 1] ?? bound) + (letter === other ? 0 : 1);
  const edited = Math.min(replaced, (row[to] ?? bound) + 1, (next[to - 1] ?? bound) + 1, bound);
  if (at === 1 || to === 1) return edited;
  const isSwap = letter === right.charCodeAt(to - 2) && left.charCodeAt(at - 2) === other;
  return isSwap ? Math.min(edited, (above[to - 2] ?? bound) + 1) : edited;
}
