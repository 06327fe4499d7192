import { onceForEach } from '../system/once-per.ts';
import type { ReleaseIndex } from './release-index.ts';

/** Computes something once for each release and forgets it with the release; a failure is not kept. */
export function perRelease<Value>(
  make: (release: ReleaseIndex) => Promise<Value>,
): (release: ReleaseIndex) => Promise<Value> {
  const made = new WeakMap<ReleaseIndex, Promise<Value>>();
  return (release) => {
    const known = made.get(release);
    if (known !== undefined) return known;
    const making = make(release).catch((error: unknown) => {
      made.delete(release);
      throw error;
    });
    made.set(release, making);
    return making;
  };
}

/** The same for what needs no waiting; two releases may be asked about in turn while one takes the place of the other. */
export const oncePerRelease: <Value>(
  make: (release: ReleaseIndex) => Value,
) => (release: ReleaseIndex) => Value = onceForEach;
