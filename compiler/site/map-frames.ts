import type { SiteMapRow, SitePoint } from '../contract/site.ts';

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
