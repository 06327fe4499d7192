import {
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
} from 'node:fs';

const CHUNK_BYTES = 262_144;
const NEWLINE = 0x0a;

export type EntryKind = 'file' | 'folder' | 'link' | 'other';

export interface DiskEntry {
  readonly kind: EntryKind;
  readonly size: number;
}

/** What a verifier asks of a disk; it writes nothing, and follows a link only where it is asked where that leads. */
export interface Disk {
  /** The entry at a path, or null when there is none. */
  entry(path: string): DiskEntry | null;
  /** Names in a folder with their kind, in any order. */
  list(path: string): readonly { readonly name: string; readonly kind: EntryKind }[];
  /** Where a link points. */
  link(path: string): string;
  /** The whole path of an entry that is there, every link and every `.` on the way resolved. */
  real(path: string): string;
  /** The bytes of a file; a chunk is valid until the next one is asked for. */
  chunks(path: string): Iterable<Uint8Array>;
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
  chunks: fileChunks,
};

/** Nothing is below a file either, or below a pipe that a shell gave a name. */
function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return null;
    throw error;
  }
}

function kindOf(entry: Pick<Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink'>): EntryKind {
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isDirectory()) return 'folder';
  return entry.isFile() ? 'file' : 'other';
}

/** The bytes of an open file or of standard input (0), in chunks. */
export function* openChunks(file: number): Generator<Uint8Array> {
  const buffer = new Uint8Array(CHUNK_BYTES);
  for (;;) {
    const read = readSync(file, buffer, 0, CHUNK_BYTES, null);
    if (read === 0) return;
    yield buffer.subarray(0, read);
  }
}

function* fileChunks(path: string): Generator<Uint8Array> {
  const file = openSync(path, 'r');
  try {
    yield* openChunks(file);
  } finally {
    closeSync(file);
  }
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
