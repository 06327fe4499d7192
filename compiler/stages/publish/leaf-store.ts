import type { Leaf } from '../../contract/release.ts';
import { byteAt, FIRST_BYTES } from './hash-lines.ts';
import { formatLeaf, type LeafLines } from './leaf-lines.ts';
import { LineSpill } from './line-spill.ts';
import { endOf } from './sorted-lines.ts';

/** Of lines in memory, before they go to the disk. */
const HELD_BYTES_MAX = 4_000_000;

/** Collects what the log is to hold, in memory that does not grow. */
export interface LeafStore {
  add(leaf: Leaf): void;
  addLines(leaves: LeafLines): void;
  /** Every batch that has leaves, in no order. */
  batches(): readonly string[];
  /** Lines of the leaves whose hash begins with a byte, see formatLeaf; valid until others are asked for, or one is added. */
  startingWith(first: number): Buffer;
}

/** `folder` holds what is too much for the memory. */
export function leafStore(folder: string): LeafStore {
  const form = { endOf, groupOf: byteAt, groups: FIRST_BYTES };
  const spill = new LineSpill(folder, form, HELD_BYTES_MAX);
  const known = new Set<string>();
  const addLines = ({ batches, lines }: LeafLines): void => {
    for (const batch of batches) known.add(batch);
    spill.add(lines);
  };
  return {
    add: (leaf) => addLines({ batches: [leaf.batch], lines: Buffer.from(formatLeaf(leaf)) }),
    addLines,
    batches: () => [...known],
    startingWith: (first) => spill.take(first),
  };
}
