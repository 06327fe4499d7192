import { hashSpill } from './hash-lines.ts';
import { formatLeaf, type Leaf } from './leaf-lines.ts';

/** Collects what the log is to hold, in memory that does not grow. */
export interface LeafStore {
  add(leaf: Leaf): void;
  /** Adds lines of formatLeaf. */
  addLines(lines: Uint8Array): void;
  /** Lines of the leaves whose hash begins with a byte; valid until others are asked for, or one is added. */
  startingWith(first: number): Buffer;
}

/** `folder` holds what is too much for the memory. */
export function leafStore(folder: string): LeafStore {
  const spill = hashSpill(folder);
  return {
    add: (leaf) => spill.add(Buffer.from(formatLeaf(leaf))),
    addLines: (lines) => spill.add(lines),
    startingWith: (first) => spill.take(first),
  };
}
