import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FILES_NAME, RELEASE_NAME, type Release } from '../../contract/release.ts';
import { jcs } from '../seal/jcs.ts';
import type { Sealer } from '../seal/sealer.ts';
import type { ReleaseList, WrittenList } from './release-list.ts';

export type UnsignedHead = Omit<
  Release,
  'files_sha256' | 'files_count' | 'public_files' | 'signature'
>;

/** What was written of a release. */
interface WrittenHead extends Omit<WrittenList, 'sha256' | 'publicFiles'> {
  readonly release: Release;
}

interface ReleaseParts {
  readonly list: ReleaseList;
  readonly head: UnsignedHead;
}

/** Writes the list of files and the signed head into the folder of a release. */
export function writeHead(root: string, { list, head }: ReleaseParts, sealer: Sealer): WrittenHead {
  const { sha256, count, bytesAdded, publicFiles } = list.write(join(root, FILES_NAME));
  const unsigned = {
    ...head,
    files_sha256: `sha256:${sha256}`,
    files_count: count,
    public_files: publicFiles,
  };
  const release: Release = { ...unsigned, signature: sealer.signText(jcs(unsigned)) };
  writeFileSync(join(root, RELEASE_NAME), `${JSON.stringify(release, null, 2)}\n`, { flag: 'wx' });
  return { release, count, bytesAdded };
}
