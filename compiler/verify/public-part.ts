import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { FILES_NAME, RELEASE_NAME, type Release } from '../contract/release.ts';
import type { FileList } from './file-list.ts';
import type { Faults } from './release-fault.ts';

/** How many files of a release are at hand, of how many. */
export interface HeldFiles {
  /** Whether that is the public part alone. */
  readonly isPublic: boolean;
  readonly held: number;
  readonly of: number;
}

/** What a head says of the list that is at hand, which it signs. */
export function heldFiles(head: Release, { isPublic }: FileList): HeldFiles {
  const of = head.files_count;
  return { isPublic, held: isPublic ? (head.public_files?.count ?? of) : of, of };
}

/** The public list that a head signs is the public lines of the whole list, and no others. */
export function checkPublicList(head: Release, list: FileList, faults: Faults): void {
  const { public_files: stated } = head;
  if (stated === undefined) return;
  const hash = sha256.create();
  let count = 0;
  for (const lines of list.publicLines()) {
    hash.update(lines);
    count += lines.reduce((sum, byte) => sum + (byte === 0x0a ? 1 : 0), 0);
  }
  const found = `sha256:${bytesToHex(hash.digest())}`;
  if (found !== stated.sha256) {
    faults.add(
      RELEASE_NAME,
      'public_files.sha256',
      `the public lines of ${FILES_NAME} hash to ${found}`,
    );
  }
  if (count !== stated.count) {
    faults.add(RELEASE_NAME, 'public_files.count', `${FILES_NAME} lists ${count} public files`);
  }
}
