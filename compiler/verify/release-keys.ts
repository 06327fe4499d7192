import {
  isContinued,
  KEYS_BYTES_MAX,
  KEYS_PATH,
  type KeyHistory,
  readKeyHistory,
} from '../contract/key-history.ts';
import type { FileEntry } from '../contract/release.ts';
import { decodeUtf8, parseJson } from '../contract/strict-json.ts';
import { reason } from './body-check.ts';
import { type Disk, readAll } from './disk.ts';
import { listFault, type Trusted } from './key-trust.ts';
import type { Faults } from './release-fault.ts';
import { listedFiles, placeOfFile } from './release-tree.ts';
import { isSignedBy } from './verify-citation.ts';

interface ReleaseKeys extends Trusted {
  readonly disk: Disk;
  readonly root: string;
  readonly faults: Faults;
  /** A list from elsewhere; it may know of a revocation that the release does not. */
  readonly keys?: KeyHistory;
}

/**
 * What to pass on as `keys`: the newer of the lists that a release and a reader have; none where neither has one. A list
 * that does not hold, or that the reader's root keys do not vouch for, is a fault.
 */
export function releaseKeys(release: ReleaseKeys): { keys?: KeyHistory } {
  const { faults, roots = [] } = release;
  const keys = newestList(release);
  const lack = roots.length > 0 ? 'missing, and root keys vouch for a list of keys alone' : null;
  const fault = keys === undefined ? lack : listFault(keys, release);
  if (fault !== null) faults.add(KEYS_PATH, '', fault);
  return keys === undefined ? {} : { keys };
}

function newestList({ disk, root, faults, keys }: ReleaseKeys): KeyHistory | undefined {
  const own = ownKeys({ disk, root, faults });
  if (own === null || keys === undefined) return own ?? keys;
  if (isContinued(keys, own)) return own;
  if (!isContinued(own, keys)) {
    faults.add(KEYS_PATH, '', 'fork: not the keys that were given, nor a later list of them');
  }
  return keys;
}

/** The list of keys in a release that may not be signed by a known key yet; null without one. */
function ownKeys({ disk, root, faults }: Omit<ReleaseKeys, keyof Trusted>): KeyHistory | null {
  const entry = listedKeys(disk, root);
  try {
    return entry === null ? null : keysIn(disk.chunks(placeOfFile(root, entry)));
  } catch (error) {
    faults.add(KEYS_PATH, '', reason(error));
    return null;
  }
}

/** Where a release lists its keys; null also for a list of files that cannot be read, which is a fault of the head. */
function listedKeys(disk: Disk, root: string): FileEntry | null {
  try {
    for (const entry of listedFiles(disk, root)) if (entry.path === KEYS_PATH) return entry;
    return null;
  } catch {
    return null;
  }
}

/** Reads a list of keys; throws a RangeError or TypeError for one that does not hold. */
export function keysIn(chunks: Iterable<Uint8Array>): KeyHistory {
  const text = decodeUtf8(readAll(chunks, KEYS_BYTES_MAX));
  return readKeyHistory(parseJson(text), isSignedBy);
}
