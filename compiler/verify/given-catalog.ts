import { dirname } from 'node:path';
import { WHOLE_CATALOG_PATH } from '../contract/catalog/whole-catalog.ts';
import { HEAD_BYTES_MAX, RELEASE_NAME } from '../contract/release.ts';
import { type Disk, readAll } from './disk.ts';
import { openFileList } from './file-list.ts';
import type { KeyTrust } from './key-trust.ts';
import { type ProvenCatalog, provenCatalog } from './proven-catalog.ts';
import { Faults } from './release-fault.ts';
import { isReleaseFolder, releaseRoot } from './release-root.ts';
import { BODY_BYTES_MAX, StoredBodies } from './stored-bodies.ts';

/**
 * What was passed with --catalog: the file of a service with the `release.json` beside it, or a release or data folder. Throws
 * a RangeError for anything that the issuer did not sign.
 */
export function givenCatalog(disk: Disk, path: string, trusted: KeyTrust): ProvenCatalog {
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
  return provenCatalog({ catalog, head, ...trusted });
}

function catalogOfRelease(disk: Disk, path: string, trusted: KeyTrust): ProvenCatalog {
  const faults = new Faults();
  const root = releaseRoot(disk, path, faults);
  const [fault] = faults.kept;
  if (root === null) throw new RangeError(`Cannot use "${path}" of --catalog: ${fault?.detail}`);
  const bodies = new StoredBodies(disk, root, openFileList(disk, root));
  const catalog = bodies.bytes(WHOLE_CATALOG_PATH);
  if (catalog === null) {
    throw new RangeError(`Cannot use "${path}" of --catalog: it holds no "${WHOLE_CATALOG_PATH}"`);
  }
  const head = readAll(disk.chunks(`${root}/${RELEASE_NAME}`), HEAD_BYTES_MAX);
  return provenCatalog({ catalog, head, ...trusted });
}
