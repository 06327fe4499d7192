import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { storedPath } from '../../contract/path.ts';
import { readStored } from '../publish/listed-files.ts';
import { currentName, readRelease, releaseFiles } from '../publish/release-folders.ts';
import type { PreviousRelease } from './previous-log.ts';

/** The files of the release that `current` names in a data folder; null before the first. */
export function currentRelease(data: string): PreviousRelease | null {
  const name = currentName(data);
  if (name === null) return null;
  const { issuer_did } = readRelease(data, name);
  const listed = releaseFiles(data, name);
  return {
    issuerDid: issuer_did,
    read(path) {
      const entry = listed?.find(path) ?? null;
      if (entry === null || !existsSync(join(data, storedPath(path, entry.sha256)))) return null;
      return readStored(data, entry);
    },
  };
}
