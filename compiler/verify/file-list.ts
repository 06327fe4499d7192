import { firstWhere } from '../contract/lists.ts';
import { FILES_NAME, type FileEntry, parseFiles, publicStretches } from '../contract/release.ts';
import { type Disk, readAll } from './disk.ts';
import { listedFiles } from './release-tree.ts';

/** Longest list of files; 8 million lines of 130 bytes. */
const LIST_BYTES_MAX = 2 ** 30;
/** Bytes of the list whose lines are one piece of work. */
const CHUNK_BYTES = 8_192;
const NEWLINE = 0x0a;
/** Where the size begins in a line: behind 64 digits and a space. */
const SIZE_AT = 65;

/** The list of files of a release, looked up where it lies; its bytes can be shared between threads. */
export class FileList {
  readonly shared: SharedArrayBuffer;
  readonly #bytes: Buffer;

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

  /** Its public lines, in pieces. */
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

  /** How many files have a path that begins so. */
  count(prefix: string): number {
    let lines = 0;
    for (const _ of this.paths(prefix)) lines += 1;
    return lines;
  }

  /** The paths that begin so, in order. */
  *paths(prefix: string): Generator<string> {
    for (let at = this.#firstNotBefore(prefix); at < this.#bytes.length; at = this.#lineEnd(at)) {
      const path = this.#pathAt(at);
      if (!path.startsWith(prefix)) return;
      yield path;
    }
  }

  /** Where the first line at or behind a byte begins. */
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
