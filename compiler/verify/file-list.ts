import { defined } from '../format/errors.ts';
import { firstWhere } from '../format/lists.ts';
import {
  FILE_LINE_BYTES_MAX,
  FILES_NAME,
  type FileEntry,
  formatFiles,
  parseFiles,
  publicStretches,
} from '../format/release.ts';
import { decodeUtf8 } from '../format/strict-json.ts';
import { type FileRow, parseFilePath, storedPath } from '../products/shapes/path.ts';
import { type Disk, type EntryKind, lines, readAll } from '../system/disk.ts';

/** Longest list of files; 8 million lines of 130 bytes. */
const LIST_BYTES_MAX = 2 ** 30;
/** Bytes of the list whose lines are one piece of work. */
const CHUNK_BYTES = 8_192;
const NEWLINE = 0x0a;
/** Where the size begins in a line: after 64 digits and a space. */
const SIZE_AT = 65;

/** The list of files of a release, looked up where it lies; its bytes can be shared between threads. */
export class FileList {
  readonly shared: SharedArrayBuffer;
  readonly #bytes: Buffer;
  readonly #values = new Map<string, readonly string[]>();

  /** `shared` must be the list as `openFileList` has read it. */
  constructor(shared: SharedArrayBuffer) {
    this.shared = shared;
    this.#bytes = Buffer.from(shared);
  }

  /** Pieces that the list is cut into, each a few dozen files. */
  get chunks(): number {
    return Math.ceil(this.#bytes.length / CHUNK_BYTES);
  }

  /** Whether it lists nothing but what anybody may have: then it is the public list of a release. */
  get isPublic(): boolean {
    const shared = this.publicLines().reduce((sum, { length }) => sum + length, 0);
    return shared === this.#bytes.length;
  }

  publicLines(): Buffer[] {
    const stretches = publicStretches((text) => this.#firstNotBefore(text));
    return stretches.map(([from, to]) => this.#bytes.subarray(from, to));
  }

  /** The files whose line begins in a piece. */
  chunk(number: number): FileEntry[] {
    const start = this.#lineFrom(number * CHUNK_BYTES);
    const end = this.#lineFrom((number + 1) * CHUNK_BYTES);
    return parseFiles(this.#bytes.toString('latin1', start, end));
  }

  find(path: string): FileEntry | null {
    const at = this.#firstNotBefore(path);
    if (at === this.#bytes.length) return null;
    const [entry] = parseFiles(this.#bytes.toString('latin1', at, this.#lineEnd(at)));
    return entry?.path === path ? entry : null;
  }

  count(prefix: string): number {
    let lines = 0;
    for (const _ of this.paths(prefix)) lines += 1;
    return lines;
  }

  /** What the last parameter of a row is in each file of its folder, sorted. */
  values(row: FileRow, folder: string): readonly string[] {
    const known = this.#values.get(folder);
    if (known !== undefined) return known;
    const values = Array.from(this.paths(folder), (path) => {
      const all = defined(parseFilePath(row, path), 'the values of the path');
      return defined(Object.values(all).at(-1), 'the last value of the path');
    }).sort();
    this.#values.set(folder, values);
    return values;
  }

  *paths(prefix: string): Generator<string> {
    for (let at = this.#firstNotBefore(prefix); at < this.#bytes.length; at = this.#lineEnd(at)) {
      const path = this.#pathAt(at);
      if (!path.startsWith(prefix)) return;
      yield path;
    }
  }

  /** Where the first line at or after a byte begins. */
  #lineFrom(byte: number): number {
    if (byte <= 0) return 0;
    const before = this.#bytes.indexOf(NEWLINE, byte - 1);
    return before < 0 ? this.#bytes.length : before + 1;
  }

  #lineEnd(at: number): number {
    return this.#bytes.indexOf(NEWLINE, at) + 1;
  }

  #pathAt(at: number): string {
    const space = this.#bytes.indexOf(0x20, at + SIZE_AT);
    return this.#bytes.toString('latin1', space + 1, this.#lineEnd(at) - 1);
  }

  /** Start of the first line whose path is not before a text. */
  #firstNotBefore(path: string): number {
    return firstWhere(this.#bytes.length, (at) => {
      const start = at === 0 ? 0 : this.#bytes.lastIndexOf(NEWLINE, at - 1) + 1;
      return this.#pathAt(start) >= path;
    });
  }
}

/** Reads the list of a release; throws a RangeError for a line that is malformed or out of order. */
export function openFileList(disk: Disk, root: string): FileList {
  for (const _ of listedFiles(disk, root));
  const read = readAll(disk.chunks(`${root}/${FILES_NAME}`), LIST_BYTES_MAX);
  const shared = new SharedArrayBuffer(read.length);
  new Uint8Array(shared).set(read);
  return new FileList(shared);
}

/** Plain segments only: nothing hidden, nothing upwards, nothing a file system folds together. */
const PATH = /^[a-z0-9_~-][a-z0-9._~-]*(\/[a-z0-9_~-][a-z0-9._~-]*)*$/;
const SHA256 = /^[0-9a-f]{64}$/;

/** The folder of the files of all releases, seen from the folder of one; links on the way are followed. */
export function dataFolder(root: string): string {
  return `${root}/../..`;
}

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
      PATH.test(entry.path);
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
