import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { MEMORY_BYTES_MAX } from '../verify/release-memory.ts';
import type { MemoryFile } from '../verify/verify-command.ts';
import { errorText } from './error-text.ts';

/** The file that `verify --remember` reads and replaces; throws a RangeError where there can be none. */
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

/** A longer file is none of ours, and no text is no memory either: the reader says so. */
function readSmall(path: string): string {
  const found = statSync(path);
  if (found.isDirectory()) {
    throw new RangeError(`Cannot read "${path}" of --remember: it is a folder; name a file`);
  }
  return found.size <= MEMORY_BYTES_MAX ? readFileSync(path, 'utf8') : '';
}

function replace(path: string, text: string): void {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, text);
    renameSync(draft, path);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw new RangeError(
      `Cannot remember in "${path}" what was verified, though it was. ${errorText(cause)}`,
      { cause },
    );
  }
}
