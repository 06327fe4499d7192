import { tables } from '../release.ts';
import { BUILTIN } from './builtin.ts';
import type { Catalog } from './catalog.ts';
import { parseCatalog, WHOLE_CATALOG_PATH } from './whole-catalog.ts';

/** What a release says of the catalogue that it was compiled from. */
interface Carried {
  /** Of its head. */
  readonly tableDigest: string;
  /** `catalog.json`; null for a release without one. */
  readonly bytes: Uint8Array | null;
  /** `sha256:` of the canonical JSON of a value. */
  readonly digestOf: (value: unknown) => string;
}

/**
 * The catalogue that a release was compiled from, held to the digest of its head. A release without `catalog.json` has the
 * built-in one of this version, or is refused: throws a RangeError that says what to do.
 */
export function releaseCatalog({ tableDigest, bytes, digestOf }: Carried): Catalog {
  if (digestOf(tables(BUILTIN)) === tableDigest) return BUILTIN;
  if (bytes === null) refuse(`carries no "${WHOLE_CATALOG_PATH}"`);
  const catalog = parseCatalog(bytes);
  if (digestOf(tables(catalog)) !== tableDigest) {
    refuse(`its head is not made of its "${WHOLE_CATALOG_PATH}" and the words of this version`);
  }
  return catalog;
}

function refuse(state: string): never {
  throw new RangeError(
    `compiled with another table of lines and endpoints (${state}); compile again with this version`,
  );
}
