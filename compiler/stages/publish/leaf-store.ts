import { HASH_BYTES } from '../../contract/merkle.ts';
import type { Leaf } from '../../contract/release.ts';
import { DIGEST_LINE_BYTES, numberAt } from './digest-lines.ts';
import { DigestSpill } from './digest-spill.ts';
import { type LeafLines, leafLines, Numbering } from './leaf-lines.ts';

/** Collects what the log is to hold, by write batch, in memory that does not grow. */
export interface LeafStore {
  add(leaf: Leaf): void;
  addLines(leaves: LeafLines): void;
  /** Every batch that has leaves, in no order. */
  batches(): readonly string[];
  /** Digests that begin with a byte, each with the place of its batch in `batches()`; see DigestSpill. */
  startingWith(first: number): Buffer;
}

/** `folder` holds what is too much for the memory. */
export function leafStore(folder: string): LeafStore {
  const spill = DigestSpill.byFirstByte(folder);
  const known = new Numbering();
  const addLines = ({ batches, lines }: LeafLines): void => {
    const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.length);
    const numbers = batches.map((batch) => known.of(batch));
    for (let at = 0; at < bytes.length; at += DIGEST_LINE_BYTES) {
      const number = numbers[numberAt(bytes, at)];
      if (number === undefined) throw new RangeError('Cannot log a digest: of no batch');
      spill.add(bytes.subarray(at, at + HASH_BYTES), number);
    }
  };
  return {
    add: (leaf) => addLines(leafLines([leaf])),
    addLines,
    batches: () => known.names(),
    startingWith: (first) => spill.group(first),
  };
}
