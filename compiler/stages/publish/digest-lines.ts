import { LOG_INDEX_BYTES } from '../../contract/log-batch.ts';
import { HASH_BYTES } from '../../contract/merkle.ts';
import { LEAD_BITS, leadingOrder } from './leading-order.ts';

/** A digest and a number of 32 bits, big-endian, as the look-up index of a log has them with positions. */
export const DIGEST_LINE_BYTES = LOG_INDEX_BYTES;

const LEAD_SHIFT = 32 - LEAD_BITS;
const PREFIX = 'sha256:';

/** Writes the line of a record hash and a number to a place. */
export function writeDigestLine(
  into: Buffer,
  at: number,
  [recordHash, number]: readonly [string, number],
): void {
  const hex = recordHash.slice(PREFIX.length);
  const isHash = recordHash.startsWith(PREFIX) && hex.length === 2 * HASH_BYTES;
  if (!isHash || into.write(hex, at, HASH_BYTES, 'hex') !== HASH_BYTES) {
    throw new RangeError(`Cannot log "${recordHash.slice(0, 120)}": not a record hash`);
  }
  into.writeUInt32BE(number, at + HASH_BYTES);
}

/** The number of the line that begins at a place. */
export function numberAt(lines: Buffer, at: number): number {
  return lines.readUInt32BE(at + HASH_BYTES);
}

/** Sorted copy of lines that stand one behind the other, whose digests have one first byte. */
export function sortedLines(lines: Buffer): Buffer {
  const startOf = (at: number): number => at * DIGEST_LINE_BYTES;
  const order = leadingOrder({
    count: lines.length / DIGEST_LINE_BYTES,
    lead: (at) => lines.readUInt32BE(startOf(at) + 1) >>> LEAD_SHIFT,
    compare: (a, b) => lines.compare(lines, startOf(b), startOf(b + 1), startOf(a), startOf(a + 1)),
  });
  const sorted = Buffer.allocUnsafe(lines.length);
  for (const [at, from] of order.entries()) {
    lines.copy(sorted, startOf(at), startOf(from), startOf(from + 1));
  }
  return sorted;
}

/** Two sorted lists in one. */
export function mergedLines(lines: Buffer, others: Buffer): Buffer {
  if (lines.length === 0 || others.length === 0) return lines.length === 0 ? others : lines;
  const merged = Buffer.allocUnsafe(lines.length + others.length);
  let end = 0;
  let from = 0;
  for (let at = 0; at < others.length; at += DIGEST_LINE_BYTES) {
    const to = placeOf(lines, others, { at, from });
    end += lines.copy(merged, end, from, to);
    end += others.copy(merged, end, at, at + DIGEST_LINE_BYTES);
    from = to;
  }
  lines.copy(merged, end, from);
  return merged;
}

/** Offset in sorted `lines`, from `from` on, at which the digest at `others[at]` is found or would be inserted. */
export function placeOf(
  lines: Buffer,
  others: Buffer,
  { at, from }: { readonly at: number; readonly from: number },
): number {
  let low = from / DIGEST_LINE_BYTES;
  let high = lines.length / DIGEST_LINE_BYTES;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareDigests(lines, others, [middle * DIGEST_LINE_BYTES, at]) < 0) low = middle + 1;
    else high = middle;
  }
  return low * DIGEST_LINE_BYTES;
}

/** True when the digests at these places, in `a` and in `b`, are the same. */
export function isSameDigest(a: Buffer, b: Buffer, [atA, atB]: Places): boolean {
  return atA < a.length && atB < b.length && compareDigests(a, b, [atA, atB]) === 0;
}

/** Number of a digest that sorted lines have twice; null when there is none. */
export function repeatedAt(lines: Buffer): number | null {
  for (let at = DIGEST_LINE_BYTES; at < lines.length; at += DIGEST_LINE_BYTES) {
    if (isSameDigest(lines, lines, [at - DIGEST_LINE_BYTES, at])) {
      return numberAt(lines, at);
    }
  }
  return null;
}

type Places = readonly [number, number];

function compareDigests(a: Buffer, b: Buffer, [atA, atB]: Places): number {
  return a.compare(b, atB, atB + HASH_BYTES, atA, atA + HASH_BYTES);
}
