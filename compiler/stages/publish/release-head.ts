import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FILES_NAME, RELEASE_NAME, type Release } from '../../contract/release.ts';
import { jcs } from '../seal/jcs.ts';
import type { Sealer } from '../seal/sealer.ts';

export type UnsignedHead = Omit<Release, 'files_sha256' | 'files_count' | 'signature'>;

export interface ReleaseParts {
  /** Text of the list of files, sorted by path. */
  readonly list: Buffer;
  readonly count: number;
  readonly head: UnsignedHead;
}

/** Writes the list of files and the signed head into the folder of a release. */
export function writeHead(root: string, parts: ReleaseParts, sealer: Sealer): Release {
  const { list, count, head } = parts;
  const files_sha256 = `sha256:${hash('sha256', list, 'hex')}`;
  const unsigned = { ...head, files_sha256, files_count: count };
  const release: Release = { ...unsigned, signature: sealer.signText(jcs(unsigned)) };
  writeFileSync(join(root, FILES_NAME), list, { flag: 'wx' });
  writeFileSync(join(root, RELEASE_NAME), `${JSON.stringify(release, null, 2)}\n`, { flag: 'wx' });
  return release;
}
