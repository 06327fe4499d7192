import type { LeafStore } from '../publish/leaf-store.ts';
import type { Press } from '../publish/press.ts';
import { anchorStore } from './anchor-store.ts';
import { currentRelease } from './current-release.ts';
import { readLastCheckpoint } from './last-checkpoint.ts';
import { type WrittenLog, writeLog } from './write-log.ts';

/** Writes the log of a release into it: that of the data folder so far, and what the leaves add. */
export function continueLog(data: string, press: Press, leaves: LeafStore): WrittenLog {
  const anchors = anchorStore(data);
  return writeLog({
    press,
    leaves,
    previous: currentRelease(data),
    lastSigned: readLastCheckpoint(data),
    anchorOf: (rootHex) => anchors.read(rootHex),
  });
}
