import { type AnchorCheck, anchorsOf } from './anchored-before.ts';
import type { Disk } from './disk.ts';
import { openFileList } from './file-list.ts';
import { type GivenLog, givenLog } from './given-log.ts';
import { type KeyTrust, type Trusted, trustedList } from './key-trust.ts';
import { LogTimes } from './log-times.ts';
import { Faults } from './release-fault.ts';
import { readHead } from './release-head.ts';
import { keysIn, releaseKeys } from './release-keys.ts';
import { isReleaseFolder, releaseRoot } from './release-root.ts';
import { StoredBodies } from './stored-bodies.ts';

/** What a reader knows of the keys of an issuer. */
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
  return { ...known, anchors, log: givenLog(log, head, known.keys) };
}
