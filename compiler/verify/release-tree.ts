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

/** A path of a release: listed, found on the disk, or both. */
export interface TreeEntry {
  readonly path: string;
  readonly listed: FileEntry | null;
  readonly found: EntryKind | null;
}

/** Joins the list of files with what stands on the disk, both in path order, one entry at a time. */
export function* releaseTree(disk: Disk, root: string): Generator<TreeEntry> {
  const listed = listedFiles(disk, root);
  const found = foundFiles(disk, root, '');
  let due = next(listed);
  let have = next(found);
  for (let path = first(due, have); path !== null; path = first(due, have)) {
    const isDue = due?.path === path;
    const isHave = have?.path === path;
    yield { path, listed: isDue ? due : null, found: isHave ? (have?.kind ?? null) : null };
    if (isDue) due = next(listed);
    if (isHave) have = next(found);
  }
}

function next<T>(source: Generator<T>): T | null {
  const step = source.next();
  return step.done === true ? null : step.value;
}

/** The first path of the two, or null at the end of both. */
function first(a: { path: string } | null, b: { path: string } | null): string | null {
  const isFirst = a !== null && (b === null || a.path < b.path);
  return (isFirst ? a : b)?.path ?? null;
}

/** The lines of the list of files; throws a RangeError for one that is malformed or out of order. */
function* listedFiles(disk: Disk, root: string): Generator<FileEntry> {
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

interface Found {
  readonly path: string;
  readonly kind: EntryKind;
}

/** Everything below a folder that is no folder itself, in the order of the whole paths. */
function* foundFiles(disk: Disk, root: string, folder: string): Generator<Found> {
  const entries = disk.list(folder === '' ? root : `${root}/${folder}`).map(({ name, kind }) => ({
    kind,
    name,
    // A folder sorts as the paths below it do.
    order: kind === 'folder' ? `${name}/` : name,
  }));
  for (const { kind, name } of entries.sort((a, b) => (a.order < b.order ? -1 : 1))) {
    const path = folder === '' ? name : `${folder}/${name}`;
    if (kind === 'folder') yield* foundFiles(disk, root, path);
    else if (path !== RELEASE_NAME && path !== FILES_NAME) yield { path, kind };
  }
}
