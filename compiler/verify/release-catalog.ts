import { BUILTIN } from '../contract/catalog/builtin.ts';
import type { Catalog } from '../contract/catalog/catalog.ts';
import {
  builtinCatalog,
  builtinDigest,
  ownDigest,
  releaseCatalog,
  WHOLE_CATALOG_PATH,
} from '../contract/catalog/whole-catalog.ts';
import type { Release } from '../contract/release.ts';
import { canonicalHash } from './body-check.ts';
import type { Disk } from './disk.ts';
import type { FileList } from './file-list.ts';
import { StoredBodies } from './stored-bodies.ts';

/** What a release says it was compiled from, as far as this program can read it. */
export interface ReadCatalog {
  /** The built-in one where the release was compiled from other tables. */
  readonly catalog: Catalog;
  /** Whether the head was made of this catalogue and the words of this program. */
  readonly ownTables: boolean;
}

type CatalogHead = Pick<Release, 'table_digest' | 'catalog_sha256'>;

interface CarriedBy {
  readonly disk: Disk;
  readonly root: string;
  readonly head: CatalogHead;
  readonly list: FileList;
}

/** The catalogue of a release; an older release of other tables is no fault. */
export function readReleaseCatalog({ disk, root, head, list }: CarriedBy): ReadCatalog {
  const bytes = new StoredBodies(disk, root, list).bytes(WHOLE_CATALOG_PATH);
  const entry = list.find(WHOLE_CATALOG_PATH);
  const file = bytes === null || entry === null ? null : { bytes, sha256: entry.sha256 };
  const carried = { head, file, digestOf: canonicalHash };
  try {
    return { catalog: releaseCatalog(carried), ownTables: true };
  } catch {
    return { catalog: BUILTIN, ownTables: false };
  }
}

/**
 * Why the catalogue that a release carries is not the one of its head; null where it is. `ownTables`: whether the head can be
 * made again by this program.
 */
export function carriedFault(
  sha256: string,
  { head, ownTables }: Pick<ReadCatalog, 'ownTables'> & { readonly head: CatalogHead },
): string | null {
  const { catalog_sha256: stated = `sha256:${sha256}` } = head;
  const isSame = stated === `sha256:${sha256}` && (!ownTables || isMadeOf(sha256, head));
  return isSame ? null : 'not the catalogue that the head was made of';
}

function isMadeOf(sha256: string, { table_digest }: CatalogHead): boolean {
  return table_digest === builtinDigest(canonicalHash)
    ? canonicalHash(builtinCatalog().file) === `sha256:${sha256}`
    : table_digest === ownDigest(sha256, canonicalHash);
}
