import { lstatSync, readdirSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { isCode } from '../format/errors.ts';
import { namedChunks, plainChunks } from './plain-file.ts';

const NEWLINE = 0x0a;

export type EntryKind = 'file' | 'folder' | 'link' | 'other';

/** What a verifier asks of a disk; it writes nothing, and follows a link only where it is asked where that leads. */
export interface Disk {
  /** The entry at a path, or null when there is none. */
  entry(path: string): { kind: EntryKind; size: number } | null;
  /** Names in a folder with their kind, in any order. */
  list(path: string): readonly { readonly name: string; readonly kind: EntryKind }[];
  link(path: string): string;
  /** The whole path of an entry that is there, every link and every `.` on the way resolved. */
  real(path: string): string;
  /** The bytes of a plain file, no link; a chunk is valid until the next one is asked for. */
  chunks(path: string): Iterable<Uint8Array>;
  /** The same of what a person named, which may be a link or a pipe. */
  named(path: string): Iterable<Uint8Array>;
}

export const nodeDisk: Disk = {
  entry(path) {
    const stats = statsOf(path);
    return stats === null ? null : { kind: kindOf(stats), size: stats.size };
  },
  list: (path) =>
    readdirSync(path, { withFileTypes: true }).map((entry) => ({
      name: entry.name,
      kind: kindOf(entry),
    })),
  link: (path) => readlinkSync(path),
  real: (path) => realpathSync(path),
  chunks: plainChunks,
  named: namedChunks,
};

/** Nothing is below a file either, or below a pipe that a shell gave a name. */
function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if (isCode(error, 'ENOTDIR')) return null;
    throw error;
  }
}

function kindOf(entry: Pick<Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink'>): EntryKind {
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isDirectory()) return 'folder';
  return entry.isFile() ? 'file' : 'other';
}

/** All bytes of a source; throws a RangeError beyond `max`, before more than that is held. */
export function readAll(chunks: Iterable<Uint8Array>, max: number): Uint8Array {
  const parts: Uint8Array[] = [];
  let size = 0;
  for (const chunk of chunks) {
    size += chunk.length;
    if (size > max) throw new RangeError(`Cannot read the file: longer than ${max} bytes`);
    parts.push(chunk.slice());
  }
  return Buffer.concat(parts);
}

/** All bytes of what a person named on the command line. */
export function readNamed(path: string, max: number): Uint8Array {
  return readAll(namedChunks(path), max);
}

/** The lines of a source without their line ends; throws a RangeError for a line beyond `max` bytes. */
export function* lines(chunks: Iterable<Uint8Array>, max: number): Generator<Uint8Array> {
  let held: Uint8Array = new Uint8Array(0);
  for (const chunk of chunks) {
    const bytes = Buffer.concat([held, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      yield bytes.subarray(start, end);
      start = end + 1;
    }
    held = bytes.subarray(start);
    if (held.length > max) throw new RangeError(`Cannot read the file: a line beyond ${max} bytes`);
  }
  if (held.length > 0) throw new RangeError('Cannot read the file: its last line has no end');
}
