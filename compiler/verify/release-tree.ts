import { storedPath } from '../contract/path.ts';
import {
  FILE_LINE_BYTES_MAX,
  FILES_NAME,
  type FileEntry,
  formatFiles,
  parseFiles,
} from '../contract/release.ts';
import { decodeUtf8 } from '../contract/strict-json.ts';
import { type Disk, type EntryKind, lines } from './disk.ts';

/** Plain segments only: nothing hidden, nothing upwards, nothing a file system folds together. */
const PATH = /^[a-z0-9_~-][a-z0-9._~-]*(\/[a-z0-9_~-][a-z0-9._~-]*)*$/;
const SHA256 = /^[0-9a-f]{64}$/;

/** Whether a text is a path that stays inside a release. */
function isReleasePath(text: string): boolean {
  return PATH.test(text);
}

/** The folder of the files of all releases, seen from the folder of one; links on the way are followed. */
export function dataFolder(root: string): string {
  return `${root}/../..`;
}

/** Where the bytes of a listed file stand. */
export function placeOfFile(root: string, { path, sha256 }: FileEntry): string {
  return `${dataFolder(root)}/${storedPath(path, sha256)}`;
}

/** The lines of the list of files; throws a RangeError for one that is malformed or out of order. */
export function* listedFiles(disk: Disk, root: string): Generator<FileEntry> {
  let last = '';
  let number = 0;
  for (const bytes of lines(disk.chunks(`${root}/${FILES_NAME}`), FILE_LINE_BYTES_MAX)) {
    number += 1;
    const line = `${decodeUtf8(bytes)}\n`;
    const [entry] = parseFiles(line);
    const good =
      entry !== undefined &&
      formatFiles([entry]) === line &&
      SHA256.test(entry.sha256) &&
      isReleasePath(entry.path);
    if (!good || entry.path <= last) {
      throw new RangeError(`Cannot read ${FILES_NAME}: line ${number} is malformed or unsorted`);
    }
    last = entry.path;
    yield entry;
  }
}

/** Something on the disk, by its path below the folder that was looked through. */
export interface Found {
  readonly path: string;
  readonly kind: EntryKind;
}

/** Everything below a folder that is no folder itself, in order. */
export function* foundFiles(disk: Disk, root: string, folder: string): Generator<Found> {
  const entries = [...disk.list(folder === '' ? root : `${root}/${folder}`)];
  for (const { kind, name } of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = folder === '' ? name : `${folder}/${name}`;
    if (kind === 'folder') yield* foundFiles(disk, root, path);
    else yield { path, kind };
  }
}
