import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { storedPath } from '../../contract/path.ts';
import {
  CATALOG_PATH,
  FILE_LINE_BYTES_MAX,
  FILES_NAME,
  type FileEntry,
  parseFiles,
  type Release,
} from '../../contract/release.ts';
import { readPlain } from '../../verify/plain-file.ts';
import { differentLines, endOf, findLine, lineAt, textOrder } from './sorted-lines.ts';

/** The list of files of a release as its bytes: nothing of it is parsed before it is asked for. */
export interface FileListBytes {
  readonly bytes: Buffer;
  find(path: string): FileEntry | null;
  has(entry: FileEntry): boolean;
  /** Paths that begin with a prefix, in order. */
  under(prefix: string): Iterable<string>;
}

/** Path of a line of FILES_NAME. */
export function pathOfLine(line: string): string {
  return line.slice(line.indexOf(' ', line.indexOf(' ') + 1) + 1);
}

const LISTED_LINES = { parse: (line: string): string => line, key: pathOfLine };

const SPACE = 0x20;
const DIGIT_ZERO = 0x30;
/** A line begins with a sha256 in hex and a space. */
const SIZE_AT = 65;

/** The order of lines of FILES_NAME by their paths, which are ASCII. */
export function pathOrder(bytes: Buffer, start: number, path: string): number {
  let at = start + SIZE_AT;
  while (at < bytes.length && bytes[at] !== SPACE) at += 1;
  return textOrder(bytes, at + 1, path);
}

/** The size that the line from a place on states. */
export function sizeAt(bytes: Buffer, start: number): number {
  let size = 0;
  for (let at = start + SIZE_AT; at < bytes.length && bytes[at] !== SPACE; at += 1) {
    size = 10 * size + (bytes[at] ?? 0) - DIGIT_ZERO;
  }
  return size;
}

function entryOf(line: string): FileEntry {
  const [entry] = parseFiles(`${line}\n`);
  if (entry === undefined) throw new RangeError(`Cannot read ${FILES_NAME}: "${line}"`);
  return entry;
}

export function listedFiles(bytes: Buffer): FileListBytes {
  const lines = { bytes, order: pathOrder };
  const find = (path: string): FileEntry | null => {
    const at = findLine(lines, path);
    return at.found ? entryOf(lineAt(bytes, at.start)) : null;
  };
  return {
    bytes,
    find,
    has: (entry) => find(entry.path)?.sha256 === entry.sha256,
    *under(prefix) {
      for (let at = findLine(lines, prefix).start; at < bytes.length; ) {
        const path = pathOfLine(lineAt(bytes, at));
        if (!path.startsWith(prefix)) return;
        yield path;
        at = endOf(bytes, at);
      }
    },
  };
}

/** The bytes of a listed file; throws when the disk holds something else. */
export function readStored(data: string, { path, size, sha256 }: FileEntry): Buffer {
  const bytes = readPlain(join(data, storedPath(path, sha256)), size);
  if (hash('sha256', bytes, 'hex') === sha256) return bytes;
  throw new Error(`Cannot read "${path}": its bytes are not the listed ones; compile with --full`);
}

/** The catalog of a release; null where it is not listed, or is damaged or gone. */
export function readCatalog(data: string, files: Pick<FileListBytes, 'find'>): Buffer | null {
  const entry = files.find(CATALOG_PATH);
  if (entry === null) return null;
  try {
    return readStored(data, entry);
  } catch {
    return null;
  }
}

/** The list in the folder of a release; null when it is missing, or not the one that the head signs. */
export function readListed(
  folder: string,
  head: Pick<Release, 'files_sha256' | 'files_count'>,
): FileListBytes | null {
  const path = join(folder, FILES_NAME);
  if (!existsSync(path)) return null;
  const bytes = readPlain(path, head.files_count * FILE_LINE_BYTES_MAX);
  return `sha256:${hash('sha256', bytes, 'hex')}` === head.files_sha256 ? listedFiles(bytes) : null;
}

/** The entries of one list that another does not have. */
export function* onlyIn(one: Buffer, other: Buffer): Generator<FileEntry> {
  for (const pair of differentLines(one, other, LISTED_LINES)) {
    if (pair.one !== null) yield entryOf(pair.one);
  }
}

/** What became of a listed path from one list to another. */
export interface ListedChange {
  readonly path: string;
  readonly change: 'added' | 'changed' | 'gone';
}

/** Every path that two lists do not list alike, in order. */
export function* listedChanges(before: Buffer, after: Buffer): Generator<ListedChange> {
  for (const { one, other } of differentLines(before, after, LISTED_LINES)) {
    if (one === null) yield { path: pathOfLine(other), change: 'added' };
    else yield { path: pathOfLine(one), change: other === null ? 'gone' : 'changed' };
  }
}
