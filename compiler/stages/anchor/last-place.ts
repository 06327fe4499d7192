import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RELEASES_FOLDER, type Release, releaseName } from '../../contract/release.ts';
import { BLOCKS_PATH } from '../../contract/statement-tree.ts';
import { CHECKPOINT_PATH } from '../../contract/tiles.ts';
import { type LastPlace, readRelease } from '../publish/release-folders.ts';
import type { FileListBytes } from '../publish/release-list.ts';
import { canonicalDigest } from '../seal/jcs.ts';
import { type OpenLog, refused } from './log-folder.ts';

/** The release that is current. */
interface Previous {
  readonly head: Release;
  files(): Pick<FileListBytes, 'find'> | null;
}

/** Name of the release of the newest entry where it stands but is not current, as a kill before the switch leaves it; else null. */
export function unswitchedRelease(
  data: string,
  { last }: OpenLog,
  current: string | null,
): string | null {
  const name = releaseName(last);
  if (current === name || !existsSync(join(data, RELEASES_FOLDER, name))) return null;
  return canonicalDigest(readRelease(data, name)) === last.head ? name : null;
}

/** What the next release follows: the newest entry of the log, whose release may be lost; null before the first. Throws a CompileError where the log is not that of the current release. */
export function lastPlace(log: OpenLog | null, previous: Previous | null): LastPlace | null {
  const head = previous?.head;
  if (log === null) {
    if (previous === null || head === undefined) return null;
    if (previous.files()?.find(BLOCKS_PATH)) {
      throw refused(CHECKPOINT_PATH, 'it is lost, and the current release is in it');
    }
    return placeOf(head);
  }
  const { last } = log;
  if (head === undefined) return { ...last };
  const own = log.entryOf(head.sequence);
  if (own?.head === canonicalDigest(head)) {
    return last.sequence === head.sequence ? placeOf(head) : { ...head, ...last };
  }
  throw refused(
    CHECKPOINT_PATH,
    own === null
      ? `its newest entry is release ${last.sequence}, and release ${head.sequence} is the current one`
      : `release ${head.sequence} is another one in it`,
  );
}

function placeOf(head: Release): LastPlace {
  return { ...head, head: canonicalDigest(head) };
}
