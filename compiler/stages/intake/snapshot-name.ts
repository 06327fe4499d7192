import type { Dirent } from 'node:fs';
import type { Catalog } from '../../contract/catalog/catalog.ts';
import { COLLECTIONS } from '../../contract/collections.ts';
import { nearest } from '../../contract/nearest.ts';

/** Files that desktops and editors leave next to the user's files. */
const LITTER = [
  /^\.DS_Store$/,
  /^(Thumbs\.db|desktop\.ini)$/i,
  /^\._/,
  /~$/,
  /\.sw[a-p]$/,
  /^#.*#$/,
  /^\.#/,
];
const ENDING = '.ndjson';

/** Whether an entry was left by a desktop or an editor: nobody stored it, and nothing of it is read. */
export function isLitter(entry: Dirent): boolean {
  return !entry.isDirectory() && LITTER.some((pattern) => pattern.test(entry.name));
}

/** The names that files may have: of the signals and collections. */
export function storedIds({ signals }: Catalog): readonly string[] {
  return [...signals, ...COLLECTIONS].map(({ id }) => id);
}

/** The signal or collection among `ids` that a file name stands for; null for any other name. */
export function storedId(name: string, ids: readonly string[]): string | null {
  if (!name.endsWith(ENDING)) return null;
  const id = name.slice(0, -ENDING.length);
  return ids.includes(id) ? id : null;
}

/** The name of the file of a signal or collection. */
export function snapshotName(id: string): string {
  return `${id}${ENDING}`;
}

/** Why an entry of a batch is not a snapshot file, and how to make it one. */
export function nameFault(entry: Dirent, ids: readonly string[]): string {
  if (storedId(entry.name, ids) !== null) {
    return `not a plain file: ${kindOf(entry)}; store the file itself there`;
  }
  // A file of a known id with another ending is one of another format.
  const intended = ids.find((id) => entry.name.startsWith(`${id}.`));
  if (intended !== undefined) {
    return `not a snapshot file: its name does not end in ${ENDING}; write one JSON object per line and name it ${intended}${ENDING}`;
  }
  const near = nearest(entry.name.replace(/\.[a-z]+$/, ''), ids);
  const hint = near === null ? '' : `did you mean ${near}${ENDING}? `;
  return `not a snapshot file: no signal or collection of that name; ${hint}"signalpress lines" lists the names`;
}

function kindOf(entry: Dirent): string {
  if (entry.isSymbolicLink()) return 'a link';
  if (entry.isDirectory()) return 'a folder';
  return entry.isFIFO() ? 'a pipe' : 'a device or socket';
}
