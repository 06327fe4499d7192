import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { MEMORY_BYTES_MAX } from '../verify/release-memory.ts';
import type { MemoryFile } from '../verify/verify-command.ts';

/** The file that `verify --remember` reads and replaces. */
export function memoryFile(path: string): MemoryFile {
  const text = existsSync(path) ? readSmall(path) : null;
  return {
    text,
    save(next) {
      if (next === text) return;
      const draft = `${path}.${process.pid}.tmp`;
      writeFileSync(draft, next);
      renameSync(draft, path);
    },
  };
}

/** A longer file is none of ours, and no text is no memory either: the reader says so. */
function readSmall(path: string): string {
  return statSync(path).size <= MEMORY_BYTES_MAX ? readFileSync(path, 'utf8') : '';
}
