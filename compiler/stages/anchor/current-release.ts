import type { FileEntry } from '../../contract/release.ts';
import { CompileError } from '../intake/compile-error.ts';
import { readStored } from '../publish/listed-files.ts';
import { currentName, readRelease, releaseFiles } from '../publish/release-folders.ts';
import type { PreviousRelease } from './previous-log.ts';

/** The files of the release that `current` names in a data folder; null before the first. */
export function currentRelease(data: string): PreviousRelease | null {
  const name = currentName(data);
  if (name === null) return null;
  const { issuer_did } = readRelease(data, name);
  const listed = releaseFiles(data, name);
  // What cannot be read is not the same as what was never there: a log begun anew would be a fork.
  if (listed === null) throw damaged(name, 'its list of files is not the one that was signed');
  return {
    issuerDid: issuer_did,
    read(path) {
      const entry = listed.find(path);
      return entry === null ? null : storedOrRefuse(data, entry);
    },
  };
}

function storedOrRefuse(data: string, entry: FileEntry): Buffer {
  try {
    return readStored(data, entry);
  } catch (cause) {
    throw damaged(entry.path, cause instanceof Error ? cause.message : 'unreadable');
  }
}

function damaged(file: string, state: string): CompileError {
  const message =
    `the log of the release before cannot be read: ${state}; restore that release from a copy, since a log is ` +
    'never begun anew';
  return new CompileError([{ code: 'log_refused', file, message }]);
}
