import { join } from 'node:path';
import type { Staging } from '../publish/release-store.ts';
import { anchorStore } from './anchor-store.ts';
import { currentRelease } from './current-release.ts';
import { readLastCheckpoint } from './last-checkpoint.ts';
import { type LogParts, type WrittenLog, writeLog } from './write-log.ts';

/** Writes the log into a release: the data folder's log so far, plus the new leaves. */
export function continueLog(
  { data, previous, scratch }: Pick<Staging, 'data' | 'previous' | 'scratch'>,
  { press, leaves, resumeSince }: Pick<LogParts, 'press' | 'leaves' | 'resumeSince'>,
): WrittenLog {
  const release = currentRelease(data, previous);
  return writeLog({
    press,
    leaves,
    resumeSince,
    scratch: join(scratch, 'log'),
    previous: release,
    lastSigned: readLastCheckpoint(data),
    anchors: anchorStore(data, release),
  });
}
