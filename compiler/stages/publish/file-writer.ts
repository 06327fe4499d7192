import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FileEntry } from '../../contract/release.ts';

/** Writes new files under one root and says what was written; never replaces a file. */
export interface FileWriter {
  write(path: string, content: string | Uint8Array): FileEntry;
  /** The bytes of a file that was written. */
  read(path: string): Uint8Array;
}

export function fileWriter(root: string): FileWriter {
  const made = new Set<string>();
  return {
    write(path, content) {
      const full = join(root, path);
      const folder = dirname(full);
      if (!made.has(folder)) {
        mkdirSync(folder, { recursive: true });
        made.add(folder);
      }
      const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
      writeFileSync(full, bytes, { flag: 'wx' });
      return fileEntry(path, bytes);
    },
    read: (path) => readFileSync(join(root, path)),
  };
}

/** What the list of files says of a file with these bytes. */
export function fileEntry(path: string, bytes: Uint8Array): FileEntry {
  return { path, size: bytes.length, sha256: hash('sha256', bytes, 'hex') };
}
