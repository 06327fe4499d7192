import { join } from 'node:path';
import { messageOf } from '../../contract/errors.ts';
import { type FileEntry, RELEASES_FOLDER } from '../../contract/release.ts';
import { RELEASE_PROOF_NAME } from '../../contract/release-leaf.ts';
import { TLOG_PROOF_BYTES_MAX } from '../../contract/tlog-proof.ts';
import { readPlain } from '../../verify/plain-file.ts';
import { CompileError } from '../intake/compile-error.ts';
import { readStored } from '../publish/release-list.ts';
import { type PreviousFiles, previousFiles } from '../publish/release-store.ts';
import type { PreviousRelease } from './previous-log.ts';

/** The files of the release that `current` names in a data folder, unless they are open already; null before the first. */
export function currentRelease(
  data: string,
  open: PreviousFiles | null = previousFiles(data),
): PreviousRelease | null {
  if (open === null) return null;
  const listed = open.files();
  // What cannot be read is not the same as what was never there: a log that begins again would be a fork.
  if (listed === null) throw damaged(open.name, 'its list of files is not the one that was signed');
  return {
    issuerDid: open.head.issuer_did,
    leaf: leafOf(data, open),
    read(path) {
      const entry = listed.find(path);
      return entry === null ? null : storedOrRefuse(data, entry);
    },
    under: (prefix) => listed.under(prefix),
  };
}

function leafOf(data: string, { name, head }: PreviousFiles): PreviousRelease['leaf'] {
  if (head.log_index === undefined) return null;
  const path = join(data, RELEASES_FOLDER, name, RELEASE_PROOF_NAME);
  try {
    return { head, proof: readPlain(path, TLOG_PROOF_BYTES_MAX).toString('utf8') };
  } catch (cause) {
    throw damaged(RELEASE_PROOF_NAME, messageOf(cause));
  }
}

function storedOrRefuse(data: string, entry: FileEntry): Buffer {
  try {
    return readStored(data, entry);
  } catch (cause) {
    throw damaged(entry.path, messageOf(cause));
  }
}

function damaged(file: string, state: string): CompileError {
  const message =
    `the log of the previous release cannot be read: ${state}; restore that release from a copy, because a log is ` +
    'never restarted';
  return new CompileError([{ code: 'log_refused', file, message }]);
}
