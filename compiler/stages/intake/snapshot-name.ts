import type { Dirent } from 'node:fs';
import { COLLECTIONS } from '../../contract/collections.ts';
import { SIGNALS } from '../../contract/lines.ts';
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
const IDS: readonly string[] = [...SIGNALS, ...COLLECTIONS].map(({ id }) => id);

/** Whether an entry was left by a desktop or an editor: nobody stored it, and nothing of it is read. */
export function isLitter(entry: Dirent): boolean {
  return !entry.isDirectory() && LITTER.some((pattern) => pattern.test(entry.name));
}

/** The signal or collection that a file name stands for; null for any other name. */
export function storedId(name: string): string | null {
  if (!name.endsWith(ENDING)) return null;
  const id = name.slice(0, -ENDING.length);
  return IDS.includes(id) ? id : null;
}

/** The name of the file of a signal or collection. */
export function snapshotName(id: string): string {
  return `${id}${ENDING}`;
}

/** Why an entry of a batch is not a snapshot file, and how to make it one. */
export function nameFault(entry: Dirent): string {
  if (storedId(entry.name) !== null) {
    return `not a plain file: ${kindOf(entry)}; store the file itself there`;
  }
  // A file of a known id with another ending is one of another format.
  const meant = IDS.find((id) => entry.name.startsWith(`${id}.`));
  if (meant !== undefined) {
    return `not a snapshot file: its name does not end in ${ENDING}; write one JSON object per line and name it ${meant}${ENDING}`;
  }
  const near = nearest(entry.name.replace(/\.[a-z]+$/, ''), IDS);
  const hint = near === null ? '' : `did you mean ${near}${ENDING}? `;
  return `not a snapshot file: no signal or collection of that name; ${hint}"signalpress lines" lists the names`;
}

function kindOf(entry: Dirent): string {
  if (entry.isSymbolicLink()) return 'a link';
  if (entry.isDirectory()) return 'a folder';
  return entry.isFIFO() ? 'a pipe' : 'a device or socket';
}
