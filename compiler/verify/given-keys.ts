import { dirname } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { WHOLE_CATALOG_PATH } from '../catalog/whole-catalog.ts';
import { NOTE_CHARS_MAX, openNote } from '../format/checkpoint.ts';
import { messageOf } from '../format/errors.ts';
import { HEAD_BYTES_MAX, RELEASE_NAME } from '../format/release.ts';
import { parseReleaseEntry } from '../format/release-entry.ts';
import { decodeUtf8 } from '../format/strict-json.ts';
import { CHECKPOINT_PATH, TILE_BYTES_MAX, tiledLog } from '../format/tiles.ts';
import { type Disk, readAll } from '../system/disk.ts';
import { openFileList } from './file-list.ts';
import { type KeyTrust, type Trusted, trustedList } from './key-trust.ts';
import type { GivenLog } from './logged-check.ts';
import { Faults } from './release-fault.ts';
import { isReleaseFolder, keysIn, readHead, releaseKeys, releaseRoot } from './release-head.ts';
import { type ProvenCatalog, provenCatalog } from './signed-head.ts';
import { BODY_BYTES_MAX, StoredBodies } from './stored-bodies.ts';

export interface GivenKeys extends Pick<KeyTrust, 'keys'> {
  /** The log beside the releases that were passed, or a saved one. */
  readonly log?: GivenLog;
}

/** Where a saved site has its list of keys, and its catalogue. */
const SITE_KEYS = '.well-known/keys.json';
const SITE_CATALOG = '.well-known/catalog.json';

/**
 * Reads what was passed with --mirror: a list of keys; a release, data or mirror folder, whose list it takes and whose log; or
 * what was saved of a site, its list below `.well-known/` and its log below `log/`. Throws for anything that does not hold.
 */
export function givenKeys(disk: Disk, path: string, trusted: Trusted): GivenKeys {
  const kind = disk.entry(path)?.kind;
  if (kind === undefined) throw new RangeError(`Cannot read "${path}" of --mirror: no such file`);
  const isRelease = kind !== 'file' && isReleaseFolder(disk, path);
  if (kind !== 'folder' && !isRelease) {
    return { keys: trustedList(keysIn(disk.named(path)), trusted) };
  }
  if (!isRelease) {
    const list = `${path}/${SITE_KEYS}`;
    const isListed = disk.entry(list) !== null;
    const log = givenLog(disk, path);
    if (isListed || log !== null) {
      return {
        ...(isListed ? { keys: trustedList(keysIn(disk.chunks(list)), trusted) } : {}),
        ...(log === null ? {} : { log }),
      };
    }
    throw new RangeError(
      `Cannot read "${path}" of --mirror: a folder without a release, ${SITE_KEYS} or ${CHECKPOINT_PATH}; pass a list of keys, or a release or data folder`,
    );
  }
  const faults = new Faults();
  const root = releaseRoot(disk, path, faults);
  const known = root === null ? {} : releaseKeys({ ...trusted, disk, root, faults });
  const head = root === null ? null : readHead({ ...trusted, ...known, disk, root, faults });
  const [fault] = faults.kept;
  if (root === null || head === null || fault !== undefined) {
    throw new RangeError(`Cannot use "${path}" for --mirror: ${fault?.where} ${fault?.detail}`);
  }
  // The log stands beside the folder of all releases.
  const log = givenLog(disk, `${root}/../..`);
  return { ...known, ...(log === null ? {} : { log }) };
}

/** The log in a folder, null without one; throws a RangeError for one that does not give what its checkpoint states. */
function givenLog(disk: Disk, folder: string): GivenLog | null {
  const place = `${folder}/${CHECKPOINT_PATH}`;
  if (disk.entry(place)?.kind !== 'file') return null;
  const note = decodeUtf8(readAll(disk.chunks(place), NOTE_CHARS_MAX));
  const opened = openNote(note);
  if (opened === null) throw new RangeError(`Cannot use "${place}": not a signed checkpoint`);
  const { size } = opened.checkpoint;
  const read = (path: string): Uint8Array => {
    const file = `${folder}/${path}`;
    if (disk.entry(file)?.kind !== 'file') throw new RangeError(`Cannot read "${file}": missing`);
    return readAll(disk.chunks(file), TILE_BYTES_MAX);
  };
  const { leafAt, entryAt } = tiledLog(opened.checkpoint, read, sha256);
  try {
    return { note, newest: size === 0 ? null : parseReleaseEntry(entryAt(size - 1)), leafAt };
  } catch (cause) {
    throw new RangeError(`Cannot use the log in "${folder}": ${messageOf(cause)}`, { cause });
  }
}

/** Whether a folder holds a catalogue: that of its release, or that of a saved site. */
export function holdsCatalog(disk: Disk, path: string): boolean {
  return isReleaseFolder(disk, path) || disk.entry(`${path}/${SITE_CATALOG}`) !== null;
}

/**
 * The catalogue in a file with the `release.json` beside it, in a saved site, or in a release or data folder. Throws a
 * RangeError for anything that the issuer did not sign.
 */
export function givenCatalog(disk: Disk, path: string, trusted: KeyTrust): ProvenCatalog {
  const kind = disk.entry(path)?.kind;
  if (kind !== 'file' && isReleaseFolder(disk, path)) return catalogOfRelease(disk, path, trusted);
  const file = kind === 'folder' ? `${path}/${SITE_CATALOG}` : path;
  const beside = `${dirname(file)}/${RELEASE_NAME}`;
  if (disk.entry(beside) === null) {
    throw new RangeError(
      `Cannot use "${file}": nothing proves it; save /.well-known/${RELEASE_NAME} of the service as "${beside}"`,
    );
  }
  const catalog = readAll(disk.named(file), BODY_BYTES_MAX);
  const head = readAll(disk.named(beside), HEAD_BYTES_MAX);
  return provenCatalog({ catalog, head, ...trusted });
}

function catalogOfRelease(disk: Disk, path: string, trusted: KeyTrust): ProvenCatalog {
  const faults = new Faults();
  const root = releaseRoot(disk, path, faults);
  const [fault] = faults.kept;
  if (root === null) throw new RangeError(`Cannot use "${path}": ${fault?.detail}`);
  const bodies = new StoredBodies(disk, root, openFileList(disk, root));
  const catalog = bodies.bytes(WHOLE_CATALOG_PATH);
  if (catalog === null) {
    throw new RangeError(`Cannot use "${path}": it holds no "${WHOLE_CATALOG_PATH}"`);
  }
  const head = readAll(disk.chunks(`${root}/${RELEASE_NAME}`), HEAD_BYTES_MAX);
  return provenCatalog({ catalog, head, ...trusted });
}
