import type { KeyHistory } from '../../contract/key-history.ts';
import type { Release } from '../../contract/release.ts';
import { clockCorrected, isNewestKey } from '../../contract/release.ts';
import { canonicalDigest } from '../seal/canonical-digest.ts';

/** When a release is published, and whether the operator says that the releases of a later time were a wrong clock's. */
export interface PublicationTime {
  /** ISO-8601 UTC. */
  readonly asOf: string;
  readonly acceptClock?: boolean;
}

/** What a head says about its place after the current release. */
export function nextPlace(
  previous: Release | null,
  asOf: string,
): Pick<Release, 'sequence' | 'as_of' | 'previous' | 'clock_corrected'> {
  const place = { sequence: (previous?.sequence ?? 0) + 1, as_of: asOf };
  return {
    ...place,
    previous: previous === null ? null : canonicalDigest(previous),
    ...clockCorrected(previous, place),
  };
}

/**
 * Why a release may not be published at this time after the current one, and what to do; null if it may. Time never
 * goes back, unless the operator says so and the current release is of the future.
 */
export function timeFault(
  previous: Release | null,
  { asOf, acceptClock = false }: PublicationTime,
): string | null {
  const isBehind = previous !== null && Date.parse(asOf) < Date.parse(previous.as_of);
  if (acceptClock) {
    return isBehind
      ? null
      : '--accept-clock is not needed: no release here has a later time; leave it out';
  }
  if (!isBehind) return null;
  return (
    `"${asOf}" is before the current release, as of ${previous.as_of}; correct the clock or --as-of; ` +
    'if this clock is right now but once ran ahead, pass --accept-clock with the time that another clock shows'
  );
}

/** Why a key may not sign a clock correction; null if it may, or if there is no correction. */
export function correctorFault(
  { acceptClock = false }: PublicationTime,
  did: string,
  keys: KeyHistory,
): string | null {
  if (!acceptClock || isNewestKey(did, keys)) return null;
  return `only the newest key may sign a release after a clock correction, and "${did}" is an older one; pass the newest with --key`;
}
