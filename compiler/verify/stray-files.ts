import { FILES_FOLDER, storedPath } from '../contract/path.ts';
import { FILES_NAME, RELEASE_NAME, type Release } from '../contract/release.ts';
import { RELEASE_PROOF_NAME } from '../contract/release-leaf.ts';
import type { Disk } from './disk.ts';
import { type FileList, openFileList } from './file-list.ts';
import { dataFolder, type Found, foundFiles } from './release-tree.ts';

/** A stored path: `files/`, the path up to its extension, 20 digits of the hash, the extension. */
const STORED = /^files\/(.+)\.[0-9a-f]{20}(\.[a-z][a-z0-9]{0,9})?$/;

/** What is in the folder of a release beside its head, its list, and the proof of its head where it has a leaf. */
export function* strangersIn(disk: Disk, root: string, head: Release): Generator<Found> {
  const proof = head.log_index === undefined ? [] : [RELEASE_PROOF_NAME];
  const own = new Set([RELEASE_NAME, FILES_NAME, ...proof]);
  for (const found of foundFiles(disk, root, '')) {
    if (!own.has(found.path) || found.kind !== 'file') yield found;
  }
}

/**
 * What does not belong among the files of all releases: anything that is no plain file, and files that no release here
 * lists, as a compile that was killed leaves them.
 */
export function* strayFiles(disk: Disk, root: string, own: FileList): Generator<Found> {
  const data = dataFolder(root);
  const folder = disk.entry(`${data}/${FILES_FOLDER}`)?.kind;
  if (folder === undefined) return;
  if (folder !== 'folder') {
    yield { path: FILES_FOLDER, kind: folder };
    return;
  }
  const lists = [own, ...otherLists(disk, root)];
  for (const found of foundFiles(disk, data, FILES_FOLDER)) {
    const isOurs = found.kind === 'file' && lists.some((list) => isIn(list, found.path));
    if (!isOurs) yield found;
  }
}

function isIn(list: FileList, stored: string): boolean {
  const [, stem = '', extension = ''] = STORED.exec(stored) ?? [];
  const entry = list.find(stem + extension);
  return entry !== null && storedPath(entry.path, entry.sha256) === stored;
}

function otherLists(disk: Disk, root: string): FileList[] {
  return disk.list(`${root}/..`).flatMap(({ name, kind }) => {
    const folder = `${root}/../${name}`;
    const hasList = kind === 'folder' && disk.entry(`${folder}/${FILES_NAME}`)?.kind === 'file';
    return hasList ? readableList(disk, folder) : [];
  });
}

/** The list of another release may be damaged; what it names is then nobody's. */
function readableList(disk: Disk, folder: string): FileList[] {
  try {
    return [openFileList(disk, folder)];
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}
