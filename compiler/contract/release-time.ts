// The time of a release never goes back, with one exception that only the issuer can make: a wrong clock once published
// releases of the future, and the release that came after it was set right says so in its signed head.

import type { KeyHistory } from './key-history.ts';
import type { Release } from './release.ts';

/** A release as far as its place in time goes. */
type PlacedRelease = Pick<Release, 'sequence' | 'as_of'>;
type LaterRelease = Pick<Release, 'sequence' | 'as_of' | 'issuer_did' | 'clock_corrected'>;

/**
 * Whether a release with a higher sequence claims an earlier time than the one before it, without a valid correction.
 */
export function goesBack(before: PlacedRelease, later: LaterRelease, keys?: KeyHistory): boolean {
  if (Date.parse(later.as_of) >= Date.parse(before.as_of)) return false;
  const { clock_corrected: corrected } = later;
  if (corrected === undefined || !isNewestKey(later.issuer_did, keys)) return true;
  const isCovered =
    before.sequence < corrected.sequence &&
    corrected.sequence <= later.sequence &&
    Date.parse(before.as_of) <= Date.parse(corrected.latest);
  return !isCovered;
}

/**
 * Whether a key may set the clock right: the newest one that is not revoked, and any where no list is known. Whoever stole
 * an older one could otherwise date a release back to when that key was valid.
 */
export function isNewestKey(did: string, keys: KeyHistory | undefined): boolean {
  if (keys === undefined) return true;
  return keys.keys.findLast(({ revoked_from }) => revoked_from === null)?.did === did;
}

/** What a head says about clocks that were set right, behind another release: what that one said, or, where time goes back, that it does. */
export function clockCorrected(
  before: (PlacedRelease & Pick<Release, 'clock_corrected'>) | null,
  { sequence, as_of }: PlacedRelease,
): Pick<Release, 'clock_corrected'> {
  const known = before?.clock_corrected;
  if (before === null || Date.parse(as_of) >= Date.parse(before.as_of)) {
    return known === undefined ? {} : { clock_corrected: known };
  }
  const times = [before.as_of, ...(known === undefined ? [] : [known.latest])];
  const latest = times.reduce((a, b) => (Date.parse(a) >= Date.parse(b) ? a : b));
  return { clock_corrected: { sequence, latest } };
}
