import type { ReleaseIndex } from './release-index.ts';

/**
 * Works something out once for each release, which holds it: two may be asked about in turn while one takes the place of the
 * other. A failure is not kept.
 */
export function perRelease<Value>(
  make: (release: ReleaseIndex) => Value,
): (release: ReleaseIndex) => Value {
  return (release) => release.own.once(make, release);
}
