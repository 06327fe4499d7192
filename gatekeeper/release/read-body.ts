import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { storedPath } from '../../compiler/contract/path.ts';
import type { FileEntry } from '../../compiler/contract/release.ts';

/** A listed file that is gone, changed or no plain file: never served, never charged. */
export class DamagedFileError extends Error {
  override readonly name = 'DamagedFileError';
}

// A planted link or pipe must neither be followed nor hang the open.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** How bytes come off the disk; tests replace it. */
export type ReadFile = (path: string, size: number) => Promise<Buffer>;

/** Reads a plain file of exactly `size` bytes without following a link at its end. */
export async function readPlainFile(path: string, size: number): Promise<Buffer> {
  const handle = await open(path, FLAGS);
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new Error('not a plain file');
    if (stat.size !== size) throw new Error(`${stat.size} bytes instead of ${size}`);
    return await readAll(handle, size);
  } finally {
    await handle.close();
  }
}

async function readAll(handle: FileHandle, size: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(size);
  let have = 0;
  while (have < size) {
    const { bytesRead } = await handle.read(bytes, have, size - have, have);
    if (bytesRead === 0) throw new Error(`cut off after ${have} bytes`);
    have += bytesRead;
  }
  return bytes;
}

/** Reads a listed file of a data folder and checks its hash; throws a DamagedFileError for any difference. */
export async function readBody(data: string, entry: FileEntry, read: ReadFile): Promise<Buffer> {
  const place = `${data}/${storedPath(entry.path, entry.sha256)}`;
  const bytes = await read(place, entry.size).catch((cause: unknown) => {
    throw new DamagedFileError(`Cannot serve "${entry.path}": unreadable; compile again`, {
      cause,
    });
  });
  if (createHash('sha256').update(bytes).digest('hex') === entry.sha256) return bytes;
  throw new DamagedFileError(`Cannot serve "${entry.path}": hash differs; compile again`);
}
