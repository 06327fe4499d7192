import { WHOLE_CATALOG_PATH } from '../../compiler/contract/catalog/whole-catalog.ts';
import { KEYS_PATH } from '../../compiler/contract/key-history.ts';
import { FILE_LINE_BYTES_MAX, type Release } from '../../compiler/contract/release.ts';
import { FOR_EVERYBODY } from '../http/cost.ts';
import { messageOf } from '../system/message-of.ts';
import { StartError } from '../system/start-error.ts';
import { OFFERS_PATH, parseOffers } from './offers.ts';
import { DamagedFileError, UnreachableFileError } from './read-body.ts';
import {
  catalogIn,
  checkFiles,
  checkHead,
  checkIssuer,
  DamagedReleaseError,
  keysOf,
  type ReleaseTerms,
} from './release-head.ts';
import { type ReadOptions, ReleaseIndex } from './release-index.ts';
import type { ReleasePlace, ReleaseSource } from './release-source.ts';

/** What a release must be like, and how it is read. */
export interface PlaceTerms extends ReleaseTerms, ReadOptions {}

interface OpenOptions extends PlaceTerms {
  readonly source: ReleaseSource;
}

/** Verifies the newest release of a source; throws a StartError that tells what to do. */
export async function openRelease({ source, ...terms }: OpenOptions): Promise<ReleaseIndex> {
  return openPlace(await source.newest(), terms);
}

/** Reads and verifies the release at a place; throws a StartError that tells what to do. */
export async function openPlace(place: ReleasePlace, terms: PlaceTerms): Promise<ReleaseIndex> {
  const head = checkHead(place.head, terms);
  // The signed count bounds what is worth reading.
  const list = await place.list(head, head.files_count * FILE_LINE_BYTES_MAX);
  const files = await checkFiles(list, head);
  const bytesOf = async (path: string): Promise<Buffer | null> => {
    const entry = files.get(path);
    if (entry === undefined) return null;
    return place
      .body(entry, FOR_EVERYBODY)
      .catch((cause: unknown) => refuseFile(cause, head, path));
  };
  const keys = keysOf(head, await bytesOf(KEYS_PATH));
  checkIssuer(head, keys, terms.issuerDid);
  const catalog = catalogIn(head, await bytesOf(WHOLE_CATALOG_PATH));
  const manifest = await bytesOf(OFFERS_PATH);
  if (manifest === null) {
    throw new StartError(`Cannot serve release: it has no "${OFFERS_PATH}"; compile again`);
  }
  const offers = parseOffers(manifest);
  return new ReleaseIndex(place, { head, keys, files, catalog, offers }, terms);
}

/** What a release cannot be opened without is a reason not to start, and no fault of the program. */
function refuseFile(cause: unknown, { sequence }: Release, path: string): never {
  if (cause instanceof UnreachableFileError) throw new StartError(messageOf(cause), { cause });
  if (!(cause instanceof DamagedFileError)) throw cause;
  throw new DamagedReleaseError(
    `Cannot serve release ${sequence}: "${path}" is missing or damaged; restore dist-data from a copy, or compile again with --full`,
    { cause },
  );
}
