import { hash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isCode } from '../format/errors.ts';
import type { FileEntry } from '../format/release.ts';
import { storedPath } from '../products/shapes/path.ts';
import { removeFile, type SpareFiles } from './spare-files.ts';

/** Stores the files of a release and says what was stored. */
export interface FileWriter {
  write(path: string, content: string | Uint8Array): FileEntry;
  /** Stores bytes that `entry` was made of. */
  store(entry: FileEntry, bytes: Uint8Array): void;
}

export interface StoreWriter extends FileWriter {
  /** Removes what was written; for a compile that fails. */
  undo(): void;
}

interface Store {
  readonly data: string;
  /** A file that is only this compile's, for bytes that are to replace others. */
  readonly spare: string;
  /** Whether a release lists these very bytes at this path, so that the file that is there was made durable. */
  readonly isKept: (entry: FileEntry) => boolean;
  /** Files that new bodies may be written over. */
  readonly spares: Pick<SpareFiles, 'writeOver'>;
}

/** Writes into the files that all releases share: bytes that an earlier release lists are not written again. */
export function fileWriter({ data, spare, isKept, spares }: Store): StoreWriter {
  const folders = new Set<string>();
  const written: string[] = [];
  const makeFolder = (folder: string): void => {
    if (folders.has(folder)) return;
    mkdirSync(folder, { recursive: true });
    folders.add(folder);
  };
  const replace = (full: string, bytes: Uint8Array): void => {
    makeFolder(dirname(spare));
    writeFileSync(spare, bytes);
    renameSync(spare, full);
  };
  const store: FileWriter['store'] = (entry, bytes) => {
    const full = join(data, storedPath(entry.path, entry.sha256));
    makeFolder(dirname(full));
    if (spares.writeOver(entry, bytes)) {
      written.push(full);
      return;
    }
    // A file that no kept release lists may be half written, and another release may be reading it: it is replaced in one step.
    if (!create(full, bytes, written) && !isKept(entry)) replace(full, bytes);
  };
  return {
    store,
    write(path, content) {
      const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
      const entry = fileEntry(path, bytes);
      store(entry, bytes);
      return entry;
    },
    undo() {
      for (const full of written.splice(0)) removeFile(full);
      for (const folder of [...folders].reverse()) removeEmpty(folder, join(data));
      folders.clear();
    },
  };
}

/** Writes a new file; false when there is one already. */
function create(full: string, bytes: Uint8Array, written: string[]): boolean {
  let file: number;
  try {
    file = openSync(full, 'wx');
  } catch (error) {
    // Whatever else went wrong, a file that is there may be that of another release.
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
  written.push(full);
  try {
    writeFileSync(file, bytes);
  } finally {
    closeSync(file);
  }
  return true;
}

/** Removes a folder and those above it, below `top`, as far as nothing is in them. */
function removeEmpty(folder: string, top: string): void {
  for (let at = folder; at.length > top.length; at = dirname(at)) {
    try {
      rmdirSync(at);
    } catch {
      return;
    }
  }
}

/** What the list of files says of a file with these bytes. */
export function fileEntry(path: string, bytes: Uint8Array): FileEntry {
  return { path, size: bytes.length, sha256: hash('sha256', bytes, 'hex') };
}
