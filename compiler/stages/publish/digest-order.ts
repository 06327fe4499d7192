import { HASH_BYTES } from '../../contract/merkle.ts';
import { LEAD_BITS, leadingOrder } from './leading-order.ts';

const FIRST_BYTES = 256;
const LEAD_SHIFT = 32 - LEAD_BITS;

/** Positions of digests that stand one behind the other in `bytes`, in sorted order: those of each first byte together. */
export function digestOrder(bytes: Buffer): Uint32Array[] {
  return byFirstByte(bytes).map((positions) => {
    const startOf = (at: number): number => (positions[at] ?? 0) * HASH_BYTES;
    const order = leadingOrder({
      count: positions.length,
      lead: (at) => bytes.readUInt32BE(startOf(at) + 1) >>> LEAD_SHIFT,
      compare: (a, b) => compareDigests(bytes, startOf(a), startOf(b)),
    });
    return order.map((at) => positions[at] ?? 0);
  });
}

function compareDigests(bytes: Buffer, a: number, b: number): number {
  return bytes.compare(bytes, b, b + HASH_BYTES, a, a + HASH_BYTES);
}

/** Positions by first byte of the digest, in one array for all of them. */
function byFirstByte(bytes: Buffer): Uint32Array[] {
  const all = new Uint32Array(bytes.length / HASH_BYTES);
  const ends = new Uint32Array(FIRST_BYTES + 1);
  const firstOf = (at: number): number => bytes[at * HASH_BYTES] ?? 0;
  for (let at = 0; at < all.length; at += 1) count(ends, firstOf(at) + 1);
  for (let first = 0; first < FIRST_BYTES; first += 1) count(ends, first + 1, ends[first]);
  const next = ends.slice(0, FIRST_BYTES);
  for (let at = 0; at < all.length; at += 1) {
    all[next[firstOf(at)] ?? 0] = at;
    count(next, firstOf(at));
  }
  const groups = Array.from({ length: FIRST_BYTES }, (_, first) => first);
  return groups.map((first) => all.subarray(ends[first], ends[first + 1]));
}

function count(counts: Uint32Array, at: number, by = 1): void {
  counts[at] = (counts[at] ?? 0) + by;
}
