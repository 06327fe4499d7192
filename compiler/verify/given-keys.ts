import { dirname } from 'node:path';
import { WHOLE_CATALOG_PATH } from '../contract/catalog/whole-catalog.ts';
import { logOrigin } from '../contract/checkpoint.ts';
import { HEAD_BYTES_MAX, RELEASE_NAME } from '../contract/release.ts';
import { anchorsOf, LogTimes } from './anchored-before.ts';
import { type Disk, readAll } from './disk.ts';
import { openFileList } from './file-list.ts';
import { type KeyTrust, type Trusted, trustedList } from './key-trust.ts';
import type { AnchorCheck, GivenLog } from './logged-check.ts';
import { Faults } from './release-fault.ts';
import { isReleaseFolder, keysIn, readHead, releaseKeys, releaseRoot } from './release-head.ts';
import { isOfSigner, type ProvenCatalog, provenCatalog } from './signed-head.ts';
import { BODY_BYTES_MAX, StoredBodies } from './stored-bodies.ts';

export interface GivenKeys extends Pick<KeyTrust, 'keys'> {
  readonly anchors?: AnchorCheck;
  readonly log?: GivenLog;
}

/** Reads what was passed with --keys: a list of keys, or a release or data folder, which has a log too where it is whole; throws for anything that does not hold. */
export function givenKeys(disk: Disk, path: string, trusted: Trusted): GivenKeys {
  const kind = disk.entry(path)?.kind;
  if (kind === undefined) throw new RangeError(`Cannot read "${path}" of --keys: no such file`);
  if (kind === 'file' || !isReleaseFolder(disk, path)) {
    if (kind !== 'folder') return { keys: trustedList(keysIn(disk.named(path)), trusted) };
    throw new RangeError(
      `Cannot read "${path}" of --keys: a folder without a release; pass a list of keys, or a release or data folder`,
    );
  }
  const faults = new Faults();
  const root = releaseRoot(disk, path, faults);
  const known = root === null ? {} : releaseKeys({ ...trusted, disk, root, faults });
  const head = root === null ? null : readHead({ ...trusted, ...known, disk, root, faults });
  const [fault] = faults.kept;
  if (root === null || head === null || fault !== undefined) {
    throw new RangeError(`Cannot use "${path}" for --keys: ${fault?.where} ${fault?.detail}`);
  }
  const list = openFileList(disk, root);
  // What came when is told by the index of the log, which no stranger has.
  if (list.isPublic) return known;
  const bodies = new StoredBodies(disk, root, list);
  const log = new LogTimes(bodies, head);
  const anchors = anchorsOf({ disk, root, head, bodies, log });
  return {
    ...known,
    anchors,
    log: ({ hash, origin, signer }) => {
      if (logOrigin(head.base_url) !== origin || !isOfSigner(head, signer, known.keys)) return null;
      const index = log.positionOf(hash);
      return index === null ? null : { index, size: log.size() };
    },
  };
}

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
