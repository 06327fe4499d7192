import { watch } from 'node:fs';
import { access, readdir, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isCode, messageOf } from '../../../compiler/format/errors.ts';
import {
  CURRENT_LINK,
  FILES_NAME,
  HEAD_BYTES_MAX,
  RELEASE_NAME,
  RELEASES_FOLDER,
} from '../../../compiler/format/release.ts';
import { FILES_FOLDER } from '../../../compiler/products/shapes/path.ts';
import { FILE_COST } from '../../wire/cost.ts';
import { isOfDisk, readPlainFile } from '../../wire/plain-file.ts';
import { StartError } from '../../wire/start-error.ts';
import { DamagedReleaseError } from './open-release.ts';
import { DamagedFileError, type ReadFile, readBody } from './read-body.ts';
import type { LogPart, ReleasePlace, ReleaseSource } from './release-source.ts';

/** How often the link is read when the file system reports nothing. */
const POLL_MS = 1000;

/** The folder that holds `current`; `read` stands in for the disk where bodies are read. */
export function folderSource(dataDir: string, read: ReadFile = readPlainFile): ReleaseSource {
  let isReadable = true;
  const releases = join(dataDir, RELEASES_FOLDER);
  return {
    folder: {
      names: () => readdir(releases),
      place: (name) => folderPlace(join(releases, name), read),
    },
    pollMs: POLL_MS,
    async mark() {
      const link = await readlink(join(dataDir, CURRENT_LINK)).catch(() => null);
      isReadable = link !== null;
      return link === null ? null : basename(link);
    },
    async newest() {
      return folderPlace(await releaseRoot(dataDir), read);
    },
    watch(changed) {
      // File system events only make a swap quicker; without them the poll does.
      try {
        const watcher = watch(dataDir, { persistent: false }, changed);
        return watcher.on('error', () => watcher.close());
      } catch {
        return null;
      }
    },
    failure: () => (isReadable ? null : 'the folder of releases cannot be read'),
    close: async () => undefined,
  };
}

/** The release in a folder whose links are resolved, so that a swap changes nothing for it. */
async function folderPlace(root: string, read: ReadFile): Promise<ReleasePlace> {
  const data = dirname(dirname(root));
  return {
    mark: basename(root),
    head: await readOrRefuse(join(root, RELEASE_NAME), HEAD_BYTES_MAX),
    isThere: async () => (await isAt(join(root, RELEASE_NAME))) && isAt(join(data, FILES_FOLDER)),
    list: (_, max) => readOrRefuse(join(root, FILES_NAME), max),
    log: (path, part) => readLog(join(data, path), part, read),
    lasting: (make) => make(),
    body(entry, spend) {
      spend(FILE_COST);
      return readBody(data, entry, read);
    },
    kept(entry, spend) {
      spend(FILE_COST);
      return readBody(data, entry, read).catch((error: DamagedFileError) => {
        if (isOfDisk(error.cause)) throw error;
        return null;
      });
    },
  };
}

function isAt(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function releaseRoot(dataDir: string): Promise<string> {
  const link = join(dataDir, CURRENT_LINK);
  try {
    return await realpath(link);
  } catch (cause) {
    const named = await readlink(link).catch(() => null);
    if (named === null) {
      throw new StartError(
        `Cannot open release "${link}": nothing there; run "signalpress compile" first, or set SIGNALPRESS_DATA`,
        { cause },
      );
    }
    throw new DamagedReleaseError(
      `Cannot open release "${link}": "${named}" is missing; restore dist-data from a copy, or compile again`,
      { cause },
    );
  }
}

async function readOrRefuse(path: string, max: number): Promise<Buffer> {
  try {
    return await readPlainFile(path, max);
  } catch (cause) {
    throw new DamagedReleaseError(`Cannot read "${path}": ${messageOf(cause)}; compile again`, {
      cause,
    });
  }
}

async function readLog(
  path: string,
  { max, start, fault }: LogPart,
  read: ReadFile,
): Promise<Buffer | null> {
  const damaged = (why: string, cause?: unknown): DamagedFileError =>
    new DamagedFileError(`Cannot read "${path}": ${why}; restore the log from a copy`, { cause });
  let bytes: Buffer;
  try {
    bytes = await read(path, max, start);
  } catch (cause) {
    if (isCode(cause, 'ENOENT') || isCode(cause, 'ENOTDIR')) return null;
    throw damaged(messageOf(cause), cause);
  }
  const why = fault(bytes);
  if (why !== null) throw damaged(why);
  return bytes;
}
