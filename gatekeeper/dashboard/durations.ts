/** How long something took, in milliseconds; null where nothing was measured. */
export interface DurationSummary {
  readonly count: number;
  readonly medianMs: number | null;
  readonly p95Ms: number | null;
  readonly maxMs: number | null;
}

/** Collects durations in whole milliseconds. A clock that was set back between two instants counts as 0. */
export class Durations {
  readonly #counts = new Map<number, number>();
  #count = 0;

  add(ms: number): void {
    const whole = Math.max(0, Math.round(ms));
    this.#counts.set(whole, (this.#counts.get(whole) ?? 0) + 1);
    this.#count += 1;
  }

  summary(): DurationSummary {
    const sorted = [...this.#counts].sort(([left], [right]) => left - right);
    const at = (share: number): number | null => nth(sorted, Math.ceil(this.#count * share));
    return { count: this.#count, medianMs: at(0.5), p95Ms: at(0.95), maxMs: at(1) };
  }
}

/** The value at a place, from 1 on, among sorted values with their counts. */
function nth(
  sorted: readonly (readonly [ms: number, count: number])[],
  place: number,
): number | null {
  let before = 0;
  for (const [ms, count] of sorted) {
    before += count;
    if (before >= place) return ms;
  }
  return null;
}
