import { hash, randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { lockData } from '../stages/publish/data-lock.ts';
import { switchCurrent, syncTree } from '../stages/publish/release-store.ts';
import { readPlain } from '../verify/plain-file.ts';
import { type Destination, LongerError, UploadError } from './destination.ts';

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
        const code = cause instanceof Error && 'code' in cause ? cause.code : null;
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
