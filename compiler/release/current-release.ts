import { messageOf } from '../format/errors.ts';
import { CompileError } from '../system/compile-error.ts';
import { readStored } from './release-list.ts';
import { type PreviousFiles, previousFiles } from './release-store.ts';

/** The release that is gone on from. */
export interface CurrentRelease {
  /** Who signed it. */
  readonly issuerDid: string;
  /** Null for a file that the release does not have; throws a CompileError for one that is damaged. */
  read(path: string): Buffer | null;
  /** Its paths that begin with a prefix, in order. */
  under(prefix: string): Iterable<string>;
}

/** The files of the release that `current` names in a data folder, unless they are open already; null before the first. */
export function currentRelease(
  data: string,
  open: PreviousFiles | null = previousFiles(data),
): CurrentRelease | null {
  if (open === null) return null;
  const listed = open.files();
  // What cannot be read is not the same as what was never there: a log that begins again would be a fork.
  if (listed === null) throw damaged(open.name, 'its list of files is not the one that was signed');
  return {
    issuerDid: open.head.issuer_did,
    read(path) {
      const entry = listed.find(path);
      try {
        return entry === null ? null : readStored(data, entry);
      } catch (cause) {
        throw damaged(path, messageOf(cause));
      }
    },
    under: (prefix) => listed.under(prefix),
  };
}

function damaged(file: string, state: string): CompileError {
  const message =
    `the previous release cannot be read: ${state}; restore that release from a copy, because a log is ` +
    'never restarted';
  return new CompileError([{ code: 'log_refused', file, message }]);
}
