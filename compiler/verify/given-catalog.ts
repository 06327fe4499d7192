import { dirname } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { WHOLE_CATALOG_PATH } from '../contract/catalog/whole-catalog.ts';
import { HEAD_BYTES_MAX, RELEASE_NAME } from '../contract/release.ts';
import { type Disk, readAll } from './disk.ts';
import { openFileList } from './file-list.ts';
import type { KeyTrust } from './key-trust.ts';
import { type ProvenCatalog, provenCatalog } from './proven-catalog.ts';
import { isPublished } from './published-statement.ts';
import { Faults } from './release-fault.ts';
import { isReleaseFolder, releaseRoot } from './release-root.ts';
import { BODY_BYTES_MAX, StoredBodies } from './stored-bodies.ts';

/** A proven catalogue, and what its release was passed with. */
export interface GivenCatalog extends ProvenCatalog {
  /** Whether the release is at hand and lists this statement, by `sha256:` of it. */
  readonly lists: (statement: string) => boolean;
}

/**
 * What was passed with --catalog: the file of a service with the `release.json` beside it, or a release or data folder. Throws
 * a RangeError for anything that the issuer did not sign.
 */
export function givenCatalog(disk: Disk, path: string, trusted: KeyTrust): GivenCatalog {
  const kind = disk.entry(path)?.kind;
  if (kind === undefined) throw new RangeError(`Cannot read "${path}" of --catalog: no such file`);
  if (kind !== 'file' && isReleaseFolder(disk, path)) return catalogOfRelease(disk, path, trusted);
  if (kind === 'folder') {
    throw new RangeError(
      `Cannot use "${path}" of --catalog: a folder without a release; name one with a release, or a catalog.json`,
    );
  }
  const beside = `${dirname(path)}/${RELEASE_NAME}`;
  if (disk.entry(beside) === null) {
    throw new RangeError(
      `Cannot use "${path}": nothing proves it; save /.well-known/${RELEASE_NAME} of the service as "${beside}"`,
    );
  }
  const catalog = readAll(disk.named(path), BODY_BYTES_MAX);
  const head = readAll(disk.named(beside), HEAD_BYTES_MAX);
  return { ...provenCatalog({ catalog, head, ...trusted }), lists: () => false };
}

function catalogOfRelease(disk: Disk, path: string, trusted: KeyTrust): GivenCatalog {
  const faults = new Faults();
  const root = releaseRoot(disk, path, faults);
  const [fault] = faults.kept;
  if (root === null) throw new RangeError(`Cannot use "${path}" of --catalog: ${fault?.detail}`);
  const list = openFileList(disk, root);
  const bodies = new StoredBodies(disk, root, list);
  const catalog = bodies.bytes(WHOLE_CATALOG_PATH);
  if (catalog === null) {
    throw new RangeError(`Cannot use "${path}" of --catalog: it holds no "${WHOLE_CATALOG_PATH}"`);
  }
  const head = readAll(disk.chunks(`${root}/${RELEASE_NAME}`), HEAD_BYTES_MAX);
  const proven = provenCatalog({ catalog, head, ...trusted });
  // Whoever stored the folder could list anything, but for the head that signs the list.
  const listed = `sha256:${bytesToHex(sha256(new Uint8Array(list.shared)))}`;
  const isList = listed === proven.head.files_sha256;
  return { ...proven, lists: (statement) => isList && isPublished(bodies, statement) };
}
