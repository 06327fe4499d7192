import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import {
  CONTRACT_VERSION,
  FILE_LINE_BYTES_MAX,
  FILES_NAME,
  HEAD_BYTES_MAX,
  RELEASE_NAME,
  type Release,
} from '../contract/release.ts';
import { reason } from './body-check.ts';
import { type Disk, readAll } from './disk.ts';
import type { KeyTrust } from './key-trust.ts';
import type { Faults } from './release-fault.ts';
import { type ReportHeadFault, signedHead } from './signed-head.ts';

interface OpenHead extends KeyTrust {
  readonly disk: Disk;
  readonly root: string;
  readonly faults: Faults;
}

/**
 * Reads and checks `release.json`, its version and the hash of the list, which may be the public one; null when it cannot be
 * read as one.
 */
export function readHead(open: OpenHead): Release | null {
  const head = readHeadAlone(open);
  if (head === null) return null;
  if (head.contract_version !== CONTRACT_VERSION) {
    const detail = `this program reads version ${CONTRACT_VERSION}; use its own`;
    open.faults.add(RELEASE_NAME, 'contract_version', detail);
  }
  const files = filesHash(open.disk, open.root, head.files_count);
  if (files !== head.files_sha256 && files !== head.public_files?.sha256) {
    open.faults.add(RELEASE_NAME, 'files_sha256', `${FILES_NAME} hashes to ${files}`);
  }
  return head;
}

/** Reads and checks `release.json` by itself, of whatever version: its format says how it is signed. */
export function readHeadAlone({ disk, root, faults, ...trusted }: OpenHead): Release | null {
  const fault: ReportHeadFault = (where, detail) => faults.add(RELEASE_NAME, where, detail);
  try {
    return signedHead(
      readAll(disk.chunks(`${root}/${RELEASE_NAME}`), HEAD_BYTES_MAX),
      trusted,
      fault,
    );
  } catch (error) {
    fault('', reason(error));
    return null;
  }
}

function filesHash(disk: Disk, root: string, count: number): string {
  const path = `${root}/${FILES_NAME}`;
  const found = disk.entry(path);
  const kind = found?.kind ?? 'missing file';
  if (kind !== 'file') return `nothing: it is a ${kind}`;
  // The signed count bounds what is worth reading.
  if ((found?.size ?? 0) > count * FILE_LINE_BYTES_MAX)
    return 'nothing: too long for its count of files';
  const hash = sha256.create();
  try {
    for (const chunk of disk.chunks(path)) hash.update(chunk);
  } catch (error) {
    return `nothing: ${reason(error)}`;
  }
  return `sha256:${bytesToHex(hash.digest())}`;
}
