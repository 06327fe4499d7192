import { isSame } from './relation.ts';
import type { Claim } from './request-time-claims.ts';

/** Instants in epoch milliseconds, both ends included. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The parts of a window in which what is shown is what follows. */
export function consistentSpans(claim: Claim, { from, to }: Span): Span[] {
  const turns = [...new Set(claim.turns)].filter((turn) => turn >= from && turn < to);
  const spans: Span[] = [];
  let start = from;
  for (const end of [...turns.sort((a, b) => a - b), to]) {
    if (difference(claim, start) === null) spans.push({ from: start, to: end });
    start = end + 1;
  }
  return spans;
}

/** The first member that is not shown as it follows for an instant; null where all are. */
export function difference({ shown, expected }: Claim, at: number): string | null {
  const right = expected(at);
  const names = [...Object.keys(right), ...Object.keys(shown)];
  return names.find((name) => !isSame(shown[name], right[name])) ?? null;
}

/** An instant that lies in as many of some sets of spans as any, and in how many; spans of one set do not overlap. */
export function commonInstant(sets: readonly (readonly Span[])[], window: Span) {
  const edges = sets.flat().flatMap(({ from, to }) => [
    { at: from, step: 1 },
    { at: to, step: -1 },
  ]);
  // At one instant a span begins before another one ends, for both ends are included.
  edges.sort((a, b) => (a.at === b.at ? b.step - a.step : a.at < b.at ? -1 : 1));
  let [best, covered] = [{ at: window.from, covered: 0 }, 0];
  for (const { at, step } of edges) {
    covered += step;
    if (covered > best.covered) best = { at, covered };
  }
  return best;
}
