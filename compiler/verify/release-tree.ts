import { FILES_FOLDER, storedPath } from '../contract/path.ts';
import {
  FILES_NAME,
  type FileEntry,
  formatFiles,
  parseFiles,
  RELEASE_NAME,
} from '../contract/release.ts';
import { decodeUtf8 } from '../contract/strict-json.ts';
import { type Disk, type EntryKind, lines } from './disk.ts';

/** Longest line of the list of files. */
const LINE_BYTES_MAX = 4096;
/** Plain segments only: nothing hidden, nothing upwards, nothing a file system folds together. */
const PATH = /^[a-z0-9_~-][a-z0-9._~-]*(\/[a-z0-9_~-][a-z0-9._~-]*)*$/;
const SHA256 = /^[0-9a-f]{64}$/;

/** Whether a text is a path that stays inside a release. */
export function isReleasePath(text: string): boolean {
  return PATH.test(text);
}

/** A path of a release: listed, found in the folder of the release, or both. */
export interface TreeEntry {
  readonly path: string;
  readonly listed: FileEntry | null;
  readonly found: EntryKind | null;
}

/** The folder of the files of all releases, seen from the folder of one; links on the way are followed. */
function dataFolder(root: string): string {
  return `${root}/../..`;
}

/** Where the bytes of a listed file stand. */
export function placeOfFile(root: string, { path, sha256 }: FileEntry): string {
  return `${dataFolder(root)}/${storedPath(path, sha256)}`;
}

/** Every listed file with what stands at its place, in path order, then what else is in the folder of the release. */
export function* releaseTree(disk: Disk, root: string): Generator<TreeEntry> {
  for (const listed of listedFiles(disk, root)) {
    const found = disk.entry(placeOfFile(root, listed))?.kind ?? null;
    yield { path: listed.path, listed, found };
  }
  for (const { path, kind } of foundFiles(disk, root, '')) {
    if (path !== RELEASE_NAME && path !== FILES_NAME) yield { path, listed: null, found: kind };
  }
}

/**
 * What does not belong among the files of all releases: anything that is no plain file, and files that no release here
 * lists, as a compile that was killed leaves them.
 */
export function* strayFiles(disk: Disk, root: string): Generator<Found> {
  const data = dataFolder(root);
  const folder = disk.entry(`${data}/${FILES_FOLDER}`)?.kind;
  if (folder === undefined) return;
  if (folder !== 'folder') {
    yield { path: FILES_FOLDER, kind: folder };
    return;
  }
  const listed = listedAnywhere(disk, root);
  for (const found of foundFiles(disk, data, FILES_FOLDER)) {
    if (found.kind !== 'file' || !listed.has(found.path)) yield found;
  }
}

function listedAnywhere(disk: Disk, root: string): ReadonlySet<string> {
  const places = new Set<string>();
  const add = (folder: string): void => {
    for (const { path, sha256 } of listedFiles(disk, folder)) places.add(storedPath(path, sha256));
  };
  add(root);
  for (const { name, kind } of disk.list(`${root}/..`)) {
    const folder = `${root}/../${name}`;
    if (kind === 'folder' && disk.entry(`${folder}/${FILES_NAME}`)?.kind === 'file') {
      addReadable(() => add(folder));
    }
  }
  return places;
}

/** The list of another release may be damaged; what it names is then nobody's. */
function addReadable(add: () => void): void {
  try {
    add();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
}

/** The lines of the list of files; throws a RangeError for one that is malformed or out of order. */
export function* listedFiles(disk: Disk, root: string): Generator<FileEntry> {
  let last = '';
  let number = 0;
  for (const bytes of lines(disk.chunks(`${root}/${FILES_NAME}`), LINE_BYTES_MAX)) {
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
function* foundFiles(disk: Disk, root: string, folder: string): Generator<Found> {
  const entries = [...disk.list(folder === '' ? root : `${root}/${folder}`)];
  for (const { kind, name } of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = folder === '' ? name : `${folder}/${name}`;
    if (kind === 'folder') yield* foundFiles(disk, root, path);
    else yield { path, kind };
  }
}
