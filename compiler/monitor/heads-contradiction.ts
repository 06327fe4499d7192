import { goesBack, type Release, releaseName } from '../contract/release.ts';
import { canonicalHash } from '../verify/body-check.ts';

/**
 * Why two signed heads cannot both be of one honest service; null where they can. Needs nothing but the two heads, so that
 * a third person comes to the same answer. What a clock was set right by counts whoever signed it: this never says
 * too much.
 */
export function headsContradiction(one: Release, other: Release): string | null {
  const [old, later] = one.sequence <= other.sequence ? [one, other] : [other, one];
  if (old.base_url !== later.base_url) return null;
  const [before, after] = [releaseName(old), releaseName(later)];
  if (old.sequence === later.sequence) {
    const isSame = canonicalHash(old) === canonicalHash(later);
    return isSame ? null : `two releases have the number ${old.sequence}: ${before} and ${after}`;
  }
  const isNext = later.sequence === old.sequence + 1;
  if (isNext && later.previous !== null && later.previous !== canonicalHash(old)) {
    return `the release ${after} names another one before it than ${before}`;
  }
  return (
    logFault(old, later) ?? (goesBack(old, later) ? `${after} is dated before ${before}` : null)
  );
}

function logFault(old: Release, later: Release): string | null {
  const [before, after] = [releaseName(old), releaseName(later)];
  if (old.log_index === undefined) return null;
  if (later.log_index === undefined) return `${before} is in the log, and ${after} no longer is`;
  if (later.log_index > old.log_index) return null;
  return `the log shrank: ${before} is entry ${old.log_index}, and the later ${after} is entry ${later.log_index}`;
}
