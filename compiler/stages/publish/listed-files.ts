import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { storedPath } from '../../contract/path.ts';
import {
  FILE_LINE_BYTES_MAX,
  FILES_NAME,
  type FileEntry,
  parseFiles,
  type Release,
} from '../../contract/release.ts';
import { readPlain } from '../../verify/plain-file.ts';
import { endOf, findLine, lineAt, textOrder } from './sorted-lines.ts';

/** The list of files of a release as its bytes: nothing of it is parsed before it is asked for. */
export interface ListedFiles {
  readonly bytes: Buffer;
  find(path: string): FileEntry | null;
  has(entry: FileEntry): boolean;
  /** Paths that begin with a prefix, in order. */
  under(prefix: string): Iterable<string>;
}

/** Path of a line of FILES_NAME. */
function pathOfLine(line: string): string {
  return line.slice(line.indexOf(' ', line.indexOf(' ') + 1) + 1);
}

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

export function listedFiles(bytes: Buffer): ListedFiles {
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

/** The list in the folder of a release; null when it is missing, or not the one that the head signs. */
export function readListed(
  folder: string,
  head: Pick<Release, 'files_sha256' | 'files_count'>,
): ListedFiles | null {
  const path = join(folder, FILES_NAME);
  if (!existsSync(path)) return null;
  const bytes = readPlain(path, head.files_count * FILE_LINE_BYTES_MAX);
  return `sha256:${hash('sha256', bytes, 'hex')}` === head.files_sha256 ? listedFiles(bytes) : null;
}

/** The entries of one list that another does not have. Both are sorted, so equal stretches are skipped whole. */
export function* onlyIn(one: Buffer, other: Buffer): Generator<FileEntry> {
  let at = 0;
  let beside = 0;
  while (at < one.length) {
    const equal = equalLines(one.subarray(at), other.subarray(beside));
    at += equal;
    beside += equal;
    if (at >= one.length) return;
    const line = lineAt(one, at);
    const facing = beside < other.length ? lineAt(other, beside) : null;
    if (facing !== null && pathOfLine(facing) < pathOfLine(line)) {
      beside = endOf(other, beside);
      continue;
    }
    yield entryOf(line);
    at = endOf(one, at);
  }
}

/** Bytes of the whole lines that two texts begin with alike. */
function equalLines(one: Buffer, other: Buffer): number {
  const most = Math.min(one.length, other.length);
  let same = 0;
  for (let step = 64; same < most && step > 0; ) {
    const end = Math.min(same + step, most);
    if (one.compare(other, same, end, same, end) === 0) {
      same = end;
      step *= 2;
    } else {
      step = step >> 1;
    }
  }
  return same === 0 ? 0 : one.lastIndexOf(0x0a, same - 1) + 1;
}
