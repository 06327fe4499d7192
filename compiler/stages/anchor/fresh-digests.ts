import { HASH_BYTES } from '../../contract/merkle.ts';
import {
  DIGEST_LINE_BYTES,
  isSameDigest,
  numberAt,
  placeOf,
  sortedLines,
} from '../publish/digest-lines.ts';
import { DigestSpill, FIRST_BYTES } from '../publish/digest-spill.ts';
import type { LeafStore } from '../publish/leaf-store.ts';

/** Sorted lines of those digests of a log that begin with a byte, see DIGEST_LINE_BYTES. */
export type HeldDigests = (first: number) => Buffer;

/**
 * What each batch adds to a log: sorted digests that neither the log nor a batch before it has, by the rank of the batch.
 * `batches` are in their order; `folder` holds what is too much for the memory.
 */
export function freshDigests(
  leaves: LeafStore,
  held: HeldDigests,
  { batches, folder }: { readonly batches: readonly string[]; readonly folder: string },
): DigestSpill {
  const fresh = DigestSpill.byNumber(folder, batches.length);
  const rankOf = new Map(batches.map((batch, rank) => [batch, rank]));
  const ranks = leaves.batches().map((batch) => rankOf.get(batch) ?? 0);
  for (let first = 0; first < FIRST_BYTES; first += 1) {
    const lines = sortedLines(leaves.startingWith(first));
    if (lines.length > 0) addFresh(fresh, { lines, known: held(first), ranks });
  }
  return fresh;
}

interface Bucket {
  readonly lines: Buffer;
  readonly known: Buffer;
  /** Rank of each batch by its number. */
  readonly ranks: readonly number[];
}

function addFresh(fresh: DigestSpill, { lines, known, ranks }: Bucket): void {
  const rankAt = (at: number): number => ranks[numberAt(lines, at)] ?? 0;
  let from = 0;
  for (let at = 0; at < lines.length; ) {
    let rank = rankAt(at);
    let next = at + DIGEST_LINE_BYTES;
    for (; isSameDigest(lines, lines, [at, next]); next += DIGEST_LINE_BYTES) {
      rank = Math.min(rank, rankAt(next));
    }
    from = placeOf(known, lines, { at, from });
    if (!isSameDigest(known, lines, [from, at]))
      fresh.add(lines.subarray(at, at + HASH_BYTES), rank);
    at = next;
  }
}
