/** Longest text that is compared letter by letter. */
const COMPARED_CHARS_MAX = 64;
/** Edits by which a misspelling may differ, and of how many letters each of them is the most. */
const EDITS_MAX = 3;
const LETTERS_AN_EDIT = 3;
/** Shortest text that is taken for a piece of another. */
const PIECE_CHARS_MIN = 3;

/** The option that a misspelt or shortened text most likely means, or null. */
export function nearest(text: string, options: readonly string[]): string | null {
  const wanted = text.toLowerCase().slice(0, COMPARED_CHARS_MAX);
  let best: string | null = null;
  let bestScore = Math.min(EDITS_MAX, Math.floor(wanted.length / LETTERS_AN_EDIT)) + 1;
  for (const option of options) {
    const score = distanceTo(wanted, option.toLowerCase(), bestScore);
    if (score < bestScore) {
      best = option;
      bestScore = score;
    }
  }
  return best;
}

function distanceTo(wanted: string, option: string, bound: number): number {
  if (wanted === option) return 0;
  const isPiece = Math.min(wanted.length, option.length) >= PIECE_CHARS_MIN;
  if (isPiece && (option.includes(wanted) || wanted.includes(option))) return 1;
  if (Math.abs(wanted.length - option.length) >= bound) return bound;
  return editDistance(wanted, option.slice(0, COMPARED_CHARS_MAX));
}

/** Letters to insert, remove or replace, and neighbours to swap. */
function editDistance(left: string, right: string): number {
  let above: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let at = 1; at <= left.length; at += 1) {
    const next = nextRow({ above, row }, left.slice(0, at), right);
    above = row;
    row = next;
  }
  return row[right.length] ?? 0;
}

interface Rows {
  readonly above: readonly number[];
  readonly row: readonly number[];
}

/** Distances of one letter more of the left text to each start of the right one. */
function nextRow({ above, row }: Rows, left: string, right: string): number[] {
  const [before, last] = [left.at(-2), left.at(-1)];
  const next = [left.length];
  for (let at = 1; at <= right.length; at += 1) {
    const replaced = (row[at - 1] ?? 0) + (last === right[at - 1] ? 0 : 1);
    const isSwap = at > 1 && last === right[at - 2] && before === right[at - 1];
    const swapped = isSwap ? (above[at - 2] ?? 0) + 1 : replaced;
    next.push(Math.min(replaced, swapped, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
  }
  return next;
}
