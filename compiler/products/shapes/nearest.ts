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

/** An option as others are compared with it. */
export interface Name {
  readonly option: string;
  readonly letters: string;
  /** Which letters occur: two texts that differ in many of them cannot be near each other. */
  readonly mask: number;
}

/** The option that a misspelt or shortened text most likely means, or null. */
export function nearest(text: string, options: readonly string[]): string | null {
  return nearestIn(text, namesOf(options)).option;
}

/** The same of a list that is asked again and again (`namesOf`), with the steps that it took. */
export function nearestIn(text: string, names: readonly Name[]) {
  const wanted = nameOf(text);
  let steps = 0;
  /** What is found so far; only what is nearer than the bound takes its place. */
  let option: string | null = null;
  let bound = Math.min(EDITS_MAX, Math.floor(wanted.letters.length / LETTERS_AN_EDIT)) + 1;
  const note = (name: Name, distance: number): void => {
    if (distance >= bound) return;
    option = name.option;
    bound = distance;
  };
  // Whoever differs in few letters comes first, so that the steps are not used up by those that cannot win.
  const ranked: Name[][] = Array.from({ length: EDITS_MAX + 1 }, () => []);
  for (const name of names) {
    const [extra, absent] = [wanted.mask & ~name.mask, name.mask & ~wanted.mask];
    if ((extra === 0 || absent === 0) && steps <= NEAREST_STEPS_MAX) {
      steps += PIECE_STEPS;
      if (wanted.letters === name.letters) note(name, 0);
      else if (isPiece(wanted.letters, name.letters)) note(name, 1);
    }
    // An edit brings in one letter that was absent at most, and takes one away.
    const least = Math.max(bitCount(extra), bitCount(absent));
    if (least < bound) ranked[least]?.push(name);
  }
  for (const [least, near] of ranked.entries()) {
    for (const name of near) {
      if (least >= bound || steps > NEAREST_STEPS_MAX) break;
      const compared = editDistance(wanted.letters, name.letters, bound);
      steps += compared.steps;
      note(name, compared.distance);
    }
  }
  return { option: option as string | null, steps };
}

/** The options of a list as they are compared, the first NAMES_MAX of them. */
export function namesOf(options: readonly string[]): readonly Name[] {
  return options.slice(0, NAMES_MAX).map(nameOf);
}

function nameOf(option: string): Name {
  const letters = option.slice(0, COMPARED_CHARS_MAX).toLowerCase().slice(0, COMPARED_CHARS_MAX);
  let mask = 0;
  for (let at = 0; at < letters.length; at += 1) mask |= 1 << (letters.charCodeAt(at) & 31);
  return { option, letters, mask };
}

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

/**
 * Letters to insert, remove or replace, and neighbours to swap; `bound` for that many or more. Only cells that fewer
 * edits can reach are looked at, and a row without any ends it.
 */
function editDistance(left: string, right: string, bound: number) {
  let steps = 0;
  if (Math.abs(left.length - right.length) >= bound) return { distance: bound, steps };
  const newRow = (): Uint8Array => new Uint8Array(right.length + 1).fill(bound);
  let [above, row, next] = [newRow(), newRow(), newRow()];
  for (let to = 0; to <= Math.min(bound, right.length); to += 1) row[to] = to;
  for (let at = 1; at <= left.length; at += 1) {
    next.fill(bound);
    next[0] = Math.min(at, bound);
    let least = Math.min(at, bound);
    const last = Math.min(right.length, at + bound - 1);
    for (let to = Math.max(1, at - bound + 1); to <= last; to += 1) {
      const [letter, other] = [left.charCodeAt(at - 1), right.charCodeAt(to - 1)];
      const replaced = (row[to - 1] ?? bound) + (letter === other ? 0 : 1);
      const isSwap =
        at > 1 &&
        to > 1 &&
        letter === right.charCodeAt(to - 2) &&
        left.charCodeAt(at - 2) === other;
      const swapped = isSwap ? (above[to - 2] ?? bound) + 1 : bound;
      const edited = Math.min((row[to] ?? bound) + 1, (next[to - 1] ?? bound) + 1);
      const cell = Math.min(replaced, edited, swapped, bound);
      next[to] = cell;
      least = Math.min(least, cell);
    }
    steps += 2 * bound;
    if (least >= bound) return { distance: bound, steps };
    [above, row, next] = [row, next, above];
  }
  return { distance: Math.min(bound, row[right.length] ?? bound), steps };
}
