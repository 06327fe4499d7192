/** Longest text that is compared letter by letter. */
const COMPARED_CHARS_MAX = 64;
/** Letters that may differ for a text to count as a misspelling. */
const DISTANCE_MAX = 3;

/** The option that a misspelt or shortened text most likely means, or null. */
export function nearest(text: string, options: readonly string[]): string | null {
  const wanted = text.toLowerCase().slice(0, COMPARED_CHARS_MAX);
  let best: string | null = null;
  let bestScore = DISTANCE_MAX + 1;
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
  if (wanted.length >= 3 && (option.includes(wanted) || wanted.includes(option))) return 1;
  if (Math.abs(wanted.length - option.length) >= bound) return bound;
  return editDistance(wanted, option.slice(0, COMPARED_CHARS_MAX));
}

function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const swap = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
