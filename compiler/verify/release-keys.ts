import {
  isContinued,
  KEYS_BYTES_MAX,
  KEYS_PATH,
  type KeyHistory,
  readKeyHistory,
} from '../contract/key-history.ts';
import { decodeUtf8, parseJson } from '../contract/strict-json.ts';
import { type Disk, readAll } from './disk.ts';
import type { Faults } from './release-fault.ts';
import { listedFiles, placeOfFile } from './release-tree.ts';
import { isSignedBy } from './verify-citation.ts';

interface ReleaseKeys {
  readonly disk: Disk;
  readonly root: string;
  readonly faults: Faults;
  /** A list from elsewhere; it may know of a revocation that the release does not. */
  readonly keys?: KeyHistory;
}

/** What to pass on as `keys`: the newer of the lists that a release and a reader have; none where neither has one. */
export function releaseKeys({ disk, root, faults, keys }: ReleaseKeys): { keys?: KeyHistory } {
  const own = ownKeys(disk, root);
  if (own === null) return keys === undefined ? {} : { keys };
  if (keys === undefined || isContinued(keys, own)) return { keys: own };
  if (!isContinued(own, keys)) {
    faults.add(KEYS_PATH, '', 'fork: not the keys that were given, nor a later list of them');
  }
  return { keys };
}

/** The list of keys in a release that may not be signed by a known key yet; one that does not hold is named with its file. */
function ownKeys(disk: Disk, root: string): KeyHistory | null {
  try {
    for (const entry of listedFiles(disk, root)) {
      if (entry.path === KEYS_PATH) return keysIn(disk.chunks(placeOfFile(root, entry)));
    }
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
