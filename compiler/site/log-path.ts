import { defined } from '../contract/defined.ts';
import { inclusionRanges, type Range } from '../contract/merkle.ts';

/** One step from a leaf of the log to its root: two subtrees become one. */
export interface LogStep {
  /** Entries under the subtree that the proof brings, `end` left out. */
  readonly sibling: Range;
  readonly siblingHash: string;
  readonly side: 'left' | 'right';
  /** Entries under both together. */
  readonly joined: Range;
}

/** The steps of an inclusion proof, leaf first; empty for a proof that is not of this tree. */
export function logPath(index: number, size: number, proof: readonly string[]): LogStep[] {
  const ranges = rangesOf(index, size);
  if (ranges.length !== proof.length) return [];
  let own: Range = { start: index, end: index + 1 };
  return ranges.map((sibling, at) => {
    const side = sibling.end <= own.start ? 'left' : 'right';
    own = { start: Math.min(own.start, sibling.start), end: Math.max(own.end, sibling.end) };
    return { sibling, siblingHash: defined(proof[at], 'the hash'), side, joined: own };
  });
}

function rangesOf(index: number, size: number): Range[] {
  try {
    return inclusionRanges(index, size);
  } catch {
    return [];
  }
}

/** "entry 7" or "entries 0 to 8,191". */
export function rangeText({ start, end }: Range): string {
  const text = (value: number): string => value.toLocaleString('en');
  return end - start === 1 ? `entry ${text(start)}` : `entries ${text(start)} to ${text(end - 1)}`;
}
