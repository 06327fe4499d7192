import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readNamed } from '../verify/disk.ts';
import { readPlain, STORED_BYTES_MAX } from '../verify/plain-file.ts';
import type { BatchDisk } from './merge-batch.ts';
import { ImportError, PAYLOAD_BYTES_MAX } from './payload.ts';

/** What an import reads and writes. */
export interface ImportDisk {
  /** The bytes of a payload or note; throws an ImportError when there are too many, else the disk's own error. */
  readFile(path: string): Uint8Array;
  /** The snapshots folder. */
  snapshots(folder: string): BatchDisk;
}

/** The real disk; a file appears under its name only when all of it is written. */
export const importDisk: ImportDisk = {
  readFile: readBounded,
  snapshots: (folder) => ({
    read: (path) => {
      const file = join(folder, path);
      return existsSync(file) ? readPlain(file, STORED_BYTES_MAX).toString('utf8') : null;
    },
    write: (path, text) => {
      const file = join(folder, path);
      // a name with a dot in front is no part of the snapshots if the write is cut short
      const unfinished = join(folder, `.${basename(dirname(path))}-${basename(path)}`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(unfinished, text);
      renameSync(unfinished, file);
    },
  }),
};

function readBounded(path: string): Uint8Array {
  try {
    return readNamed(path, PAYLOAD_BYTES_MAX);
  } catch (cause) {
    // What the disk itself says is told by the command, with what to do.
    if (!(cause instanceof RangeError)) throw cause;
    const state = `more than ${PAYLOAD_BYTES_MAX} bytes; ask the source for less`;
    throw new ImportError({ subject: path, state }, { cause });
  }
}
