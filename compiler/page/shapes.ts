import type { SiteMapRow, SitePoint } from '../catalog/site.ts';
import { defined } from '../format/errors.ts';
import { inclusionRanges, type Range } from '../format/merkle.ts';

/** Stops of the time slider; the free last seven reach no further back. */
const FRAMES_MAX = 7;

/** Days on which something was observed, the newest seven, oldest first. */
export function frameDays(rows: readonly SiteMapRow[]): string[] {
  const days = new Set<string>();
  for (const [, , , , points] of rows) {
    for (const [observed] of points) days.add(observed.slice(0, 10));
  }
  return [...days].sort().slice(-FRAMES_MAX);
}

/** The newest reading up to the end of a day; null where the free ones begin later. */
export function pointOn(points: readonly SitePoint[], day: string): SitePoint | null {
  return points.findLast(([observed]) => observed.slice(0, 10) <= day) ?? null;
}

/** One step from a hash that a release took in to the root that it states: two subtrees become one. */
export interface LogStep {
  /** Hashes under the subtree that the proof brings, `end` left out. */
  readonly sibling: Range;
  readonly siblingHash: string;
  readonly side: 'left' | 'right';
  /** Hashes under both together. */
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

/** "hash 8" or "hashes 1 to 8,192": people count from one. */
export function rangeText({ start, end }: Range): string {
  const text = (value: number): string => value.toLocaleString('en');
  return end - start === 1 ? `hash ${text(end)}` : `hashes ${text(start + 1)} to ${text(end)}`;
}
