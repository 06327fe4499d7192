import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RELEASE_NAME, releaseSchema } from '../../contract/release.ts';
import type { PreviousRelease } from './previous-log.ts';

/** The files of the release that `current` names in a data folder; null before the first. */
export function currentRelease(data: string): PreviousRelease | null {
  const root = join(data, 'current');
  const head = join(root, RELEASE_NAME);
  if (!existsSync(head)) return null;
  const { issuer_did } = releaseSchema.parse(JSON.parse(readFileSync(head, 'utf8')));
  return {
    issuerDid: issuer_did,
    read(path) {
      const full = join(root, path);
      return existsSync(full) ? readFileSync(full) : null;
    },
  };
}
