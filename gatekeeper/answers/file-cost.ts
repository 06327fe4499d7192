import type { ReleaseIndex } from '../release/release-index.ts';

/** What opening, reading and hashing a file costs, in the units of the rate limit; one in memory costs nothing. */
const FILE_COST = 4;

/** What an answer from a file costs beyond a plain one; asked before the file is read. */
export function costOfReadingFile(path: string, release: ReleaseIndex): number {
  return release.isHeld(path) ? 0 : FILE_COST;
}
