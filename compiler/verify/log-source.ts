import type { Release } from '../contract/release.ts';
import { isPublicPath } from '../contract/release.ts';
import { RELEASE_PROOF_NAME } from '../contract/release-leaf.ts';
import { TLOG_PROOF_BYTES_MAX } from '../contract/tlog-proof.ts';
import { reason } from './body-check.ts';
import { type Disk, readAll } from './disk.ts';
import type { Faults } from './release-fault.ts';
import { listedFiles, placeOfFile } from './release-tree.ts';

/** Longest file of a log: a shard of the largest log has 16.8 million lines of 36 bytes. */
const FILE_BYTES_MAX = 2 ** 30;

/** The files of a release as a checker of its log asks for them. */
export interface LogSource {
  readonly head: Release;
  readonly faults: Faults;
  /** Listed paths below `log/` and `verify/`. */
  readonly paths: ReadonlySet<string>;
  /** Whether nothing but the public part is at hand, which has no index of the log. */
  readonly isPublic: boolean;
  /** The bytes of a listed file; null, and a fault, when there are none. */
  read(path: string): Uint8Array | null;
  /** The bytes of RELEASE_PROOF_NAME; null, and a fault, when there are none. */
  proof(): Uint8Array | null;
}

interface LogPlace {
  readonly disk: Disk;
  /** Folder of the release. */
  readonly root: string;
  readonly head: Release;
  readonly faults: Faults;
}

export function logSource({ disk, root, head, faults }: LogPlace): LogSource {
  const places = new Map<string, string>();
  let isPublic = true;
  for (const listed of listedFiles(disk, root)) {
    isPublic &&= isPublicPath(listed.path);
    if (/^(log|verify)\//.test(listed.path)) places.set(listed.path, placeOfFile(root, listed));
  }
  const readAt = (path: string, place: string | undefined, max: number): Uint8Array | null => {
    try {
      if (place === undefined || disk.entry(place)?.kind !== 'file') throw new Error('missing');
      return readAll(disk.chunks(place), max);
    } catch (error) {
      faults.add(path, '', reason(error));
      return null;
    }
  };
  return {
    head,
    faults,
    paths: new Set(places.keys()),
    isPublic,
    read: (path) => readAt(path, places.get(path), FILE_BYTES_MAX),
    proof: () => readAt(RELEASE_PROOF_NAME, `${root}/${RELEASE_PROOF_NAME}`, TLOG_PROOF_BYTES_MAX),
  };
}
