/** Bits of what is read off each item first; a position has the other bits of a number that is exact. */
export const LEAD_BITS = 28;
const POSITIONS_MAX = 2 ** 24;

/** Items by their positions, as they are to be sorted. */
export interface Items {
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
