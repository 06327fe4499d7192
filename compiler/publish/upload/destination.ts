import { hash, randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { codeOf } from '../../format/errors.ts';
import { CURRENT_LINK, type FileEntry, RELEASE_NAME } from '../../format/release.ts';
import { switchCurrent, syncTree } from '../../release/release-store.ts';
import { lockData } from '../../system/data-lock.ts';
import { readPlain } from '../../system/plain-file.ts';

/** A file of a data folder, read and checked. */
export interface LocalFile {
  /** Where it stands on this machine. */
  readonly place: string;
  readonly bytes: Buffer;
}

/** A place that releases are published to. Paths are those below a data folder. */
export interface Destination {
  /** For people; it holds no secret. */
  readonly name: string;
  /** How many files may be written at once. */
  readonly parallel: number;
  /** The bytes of a file; null where there is none. Throws an UploadError, beyond `max` bytes a LongerError. */
  read(path: string, max: number): Promise<Buffer | null>;
  /** Writes a file whole or not at all; throws an UploadError. */
  write(path: string, file: LocalFile): Promise<void>;
  /** Whether a file is there that an earlier run wrote, where a power cut could have undone that. */
  holds?(path: string, file: Pick<FileEntry, 'sha256' | 'size'>): boolean;
  /** Makes a release the current one; everything else of it was written before. */
  switchTo(release: string, head: LocalFile): Promise<void>;
  /** Removes a file, which may be gone already; null where that is not possible. */
  readonly remove: ((path: string) => Promise<void>) | null;
  close(): Promise<void>;
}

/** Why a release could not be published; nothing that was served has changed. */
export class UploadError extends Error {
  override readonly name = 'UploadError';
}

/** A file there has more bytes than what was published. */
export class LongerError extends UploadError {}

/** A folder of this machine, also one that is mounted. It becomes a data folder like the one that was compiled. */
export function folderDestination(folder: string, data: string): Destination {
  if (resolve(folder) === resolve(data)) {
    throw new UploadError(
      `Cannot publish to "${folder}": it is the folder of releases itself; name another one`,
    );
  }
  const unlock = lockData(folder);
  const fresh = join(folder, `.upload-${randomBytes(8).toString('hex')}`);
  return {
    name: resolve(folder),
    // Writes are synchronous.
    parallel: 1,
    async read(path, max) {
      try {
        return readPlain(join(folder, path), max);
      } catch (cause) {
        const code = codeOf(cause);
        if (code === 'ENOENT') return null;
        const Fault = code === 'ETOOLONG' ? LongerError : UploadError;
        throw new Fault(`Cannot read "${join(folder, path)}"`, { cause });
      }
    },
    async write(path, { bytes }) {
      const full = join(folder, path);
      try {
        mkdirSync(dirname(full), { recursive: true });
        writeFileSync(fresh, bytes);
        renameSync(fresh, full);
      } catch (cause) {
        rmSync(fresh, { force: true });
        throw new UploadError(`Cannot write "${full}"`, { cause });
      }
    },
    holds(path, { sha256, size }) {
      try {
        return hash('sha256', readPlain(join(folder, path), size), 'hex') === sha256;
      } catch {
        return false;
      }
    },
    async switchTo(release) {
      await syncTree(folder);
      switchCurrent(folder, release);
    },
    remove: async (path) => rmSync(join(folder, path), { force: true }),
    close: async () => unlock(),
  };
}

/** Where a host has the head of the current release; it is the only file that ever changes. */
export const POINTER_PATH = `${CURRENT_LINK}/${RELEASE_NAME}`;
