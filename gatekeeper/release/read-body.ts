import { createHash } from 'node:crypto';
import { storedPath } from '../../compiler/contract/path.ts';
import type { FileEntry } from '../../compiler/contract/release.ts';

/** A listed file that is missing, changed or not a plain file: never served, never charged. */
export class DamagedFileError extends Error {
  override readonly name = 'DamagedFileError';
}

/** How a file of at most so many bytes comes off the disk; tests replace it. */
export type ReadFile = (path: string, max: number) => Promise<Buffer>;

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
