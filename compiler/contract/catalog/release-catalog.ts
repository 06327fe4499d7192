import { type Release, tables } from '../release.ts';
import { BUILTIN } from './builtin.ts';
import type { Catalog } from './catalog.ts';
import { catalogJsonSchema } from './catalog-file.ts';
import { parseCatalog, WHOLE_CATALOG_PATH } from './whole-catalog.ts';

/** `sha256:` of the canonical JSON of a value. */
type DigestOf = (value: unknown) => string;

/** `catalog.json` of a release, whose hash was checked. */
interface CatalogBytes {
  readonly bytes: Uint8Array;
  /** Hex. */
  readonly sha256: string;
}

/** What a release says of the catalogue that it was compiled from. */
interface Carried {
  readonly head: Pick<Release, 'table_digest' | 'catalog_sha256'>;
  /** Null for a release without one. */
  readonly file: CatalogBytes | null;
  readonly digestOf: DigestOf;
  /** `parseCatalog` by default, which takes nothing for granted. */
  readonly read?: (bytes: Uint8Array) => Catalog;
}

/** The table digest of a release of the built-in catalogue. */
export function builtinDigest(digestOf: DigestOf): string {
  return digestOf(tables(BUILTIN));
}

/**
 * The table digest of a release of another catalogue: of its `catalog.json`, of the format that it was checked by, and of the
 * machine that makes operations of it, which that of the built-in catalogue stands for. To write all tables out would cost a large catalogue half a second.
 */
export function ownDigest(sha256: string, digestOf: DigestOf): string {
  return digestOf({
    catalog: `sha256:${sha256}`,
    format: digestOf(catalogJsonSchema()),
    machine: builtinDigest(digestOf),
  });
}

/**
 * The catalogue that a release was compiled from, held to the digest of its head. A release without `catalog.json` has the
 * built-in one of this version, or is refused: throws a RangeError that says what to do.
 */
export function releaseCatalog({ head, file, digestOf, read = parseCatalog }: Carried): Catalog {
  const { table_digest: tableDigest, catalog_sha256: stated } = head;
  if (stated !== undefined && stated !== `sha256:${file?.sha256}`) {
    refuse(`its "${WHOLE_CATALOG_PATH}" is not the one that its head signs`);
  }
  if (builtinDigest(digestOf) === tableDigest) return BUILTIN;
  if (file === null) refuse(`carries no "${WHOLE_CATALOG_PATH}"`);
  if (ownDigest(file.sha256, digestOf) !== tableDigest) {
    refuse(`its head is not made of its "${WHOLE_CATALOG_PATH}" by the rules of this version`);
  }
  return read(file.bytes);
}

function refuse(state: string): never {
  throw new RangeError(
    `compiled with another table of lines and endpoints (${state}); compile again with this version`,
  );
}
