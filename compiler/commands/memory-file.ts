import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { NotPlainError, readPlain } from '../verify/plain-file.ts';
import { MEMORY_BYTES_MAX } from '../verify/release-chain.ts';
import type { MemoryFile } from '../verify/verify-command.ts';
import { errorText } from './error-text.ts';

/** The file that `verify --remember` reads and replaces; throws a RangeError for an unusable path. */
export function memoryFile(path: string): MemoryFile {
  if (path === '') throw new RangeError('Cannot remember: --remember is empty; name a file');
  const text = existsSync(path) ? readSmall(path) : null;
  return {
    text,
    save(next) {
      if (next !== text) replace(path, next);
    },
  };
}

/** A longer file is not one of ours; it reads as empty, which the caller then refuses. */
function readSmall(path: string): string {
  try {
    return readPlain(path, MEMORY_BYTES_MAX).toString('utf8');
  } catch (cause) {
    if (!(cause instanceof NotPlainError)) throw cause;
    if (cause.code === 'ETOOLONG') return '';
    const state = cause.code === 'EISDIR' ? 'a folder' : 'not a plain file';
    throw new RangeError(`Cannot read "${path}" of --remember: it is ${state}; name a file`, {
      cause,
    });
  }
}

function replace(path: string, text: string): void {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, text);
    renameSync(draft, path);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw new RangeError(
      `Cannot remember in "${path}" what was verified; the verification itself is done. ${errorText(cause)}`,
      { cause },
    );
  }
}
