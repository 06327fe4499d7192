import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { defined } from '../../../compiler/format/errors.ts';
import { firstWhere } from '../../../compiler/format/lists.ts';
import { FILES_NAME, type FileEntry, publicStretches } from '../../../compiler/format/release.ts';

const [NEWLINE, SPACE] = [0x0a, 0x20];
const HASH_CHARS = 64;
/** `<sha256> <size> <path>`, of whose segments none is empty or begins with a dot. */
const LINE =
  /^[0-9a-f]{64} (?:0|[1-9][0-9]{0,14}) (?:[a-z0-9_~-][a-z0-9._~-]*\/)*[a-z0-9_~-][a-z0-9._~-]*$/;

/** Looked up where its bytes lie: as objects, half a million entries would take a second of every start and 250 MB. */
export class ListedFiles {
  readonly #bytes: Buffer;
  /** Where each line begins, and where one more would. */
  readonly #starts: Uint32Array;

  private constructor(bytes: Buffer, starts: Uint32Array) {
    this.#bytes = bytes;
    this.#starts = starts;
  }

  /** Others have their turn meanwhile; rejects with a RangeError that names the line for anything malformed or unsorted. */
  static async inTurns(bytes: Buffer): Promise<ListedFiles> {
    const starts = [0];
    let [start, before] = [0, ''];
    await inTurns(bytes.length, (_, to) => {
      while (start < to) {
        const end = bytes.indexOf(NEWLINE, start);
        const line = bytes.toString('latin1', start, Math.max(start, end));
        const path = line.slice(line.indexOf(' ', HASH_CHARS + 1) + 1);
        if (!LINE.test(line) || path <= before) {
          throw new RangeError(
            `Cannot read ${FILES_NAME}: line ${starts.length} is malformed, cut off or unsorted`,
          );
        }
        before = path;
        start = end + 1;
        starts.push(start);
      }
    });
    return new ListedFiles(bytes, Uint32Array.from(starts));
  }

  get size(): number {
    return this.#starts.length - 1;
  }

  get(path: string): FileEntry | undefined {
    const wanted = Buffer.from(path, 'utf8');
    const line = firstWhere(this.size, (at) => this.#compare(at, wanted) >= 0);
    if (line === this.size || this.#compare(line, wanted) !== 0) return undefined;
    return this.#entry(line, path);
  }

  /** The lines of what anybody may have, as one text. */
  publicLines(): Buffer {
    const start = (text: string): number =>
      defined(this.#starts[this.firstFrom(text)], 'the start of a line');
    return Buffer.concat(
      publicStretches(start).map(([from, to]) => this.#bytes.subarray(from, to)),
    );
  }

  has(path: string): boolean {
    return this.get(path) !== undefined;
  }

  *values(): Generator<FileEntry> {
    for (let line = 0; line < this.size; line += 1) yield this.#entry(line, this.pathAt(line));
  }

  /** The path of a line, '' behind the last one. */
  pathAt(line: number): string {
    if (line >= this.size) return '';
    return this.#bytes.toString('latin1', this.#pathStart(line), this.#end(line));
  }

  /** The first line whose path is not before a text. */
  firstFrom(text: string): number {
    const wanted = Buffer.from(text, 'latin1');
    return firstWhere(this.size, (line) => this.#compare(line, wanted) >= 0);
  }

  /** Listed paths that start with a prefix, in order, at most `max`. */
  pathsUnder(prefix: string, max: number): readonly string[] {
    const paths: string[] = [];
    for (let line = this.firstFrom(prefix); paths.length < max; line += 1) {
      const path = this.pathAt(line);
      if (path === '' || !path.startsWith(prefix)) break;
      paths.push(path);
    }
    return paths;
  }

  /** Names of the files and folders that stand right below a folder, at most `max`; a folder's with its slash. */
  namesUnder(folder: string, max: number): readonly string[] {
    const names: string[] = [];
    let line = this.firstFrom(folder);
    while (names.length < max) {
      const path = this.pathAt(line);
      if (path === '' || !path.startsWith(folder)) break;
      const rest = path.slice(folder.length);
      const name = rest.slice(0, `${rest}/`.indexOf('/') + 1);
      names.push(name);
      // What follows a slash is behind it: the next byte leads past the whole folder.
      line = name.endsWith('/') ? this.firstFrom(`${folder}${name.slice(0, -1)}0`) : line + 1;
    }
    return names;
  }

  #entry(line: number, path: string): FileEntry {
    const start = this.#starts[line] ?? 0;
    const sizeAt = start + HASH_CHARS + 1;
    const sha256 = this.#bytes.toString('latin1', start, start + HASH_CHARS);
    const size = Number(this.#bytes.toString('latin1', sizeAt, this.#pathStart(line) - 1));
    return { path, size, sha256 };
  }

  #compare(line: number, wanted: Buffer): number {
    return this.#bytes.compare(wanted, 0, wanted.length, this.#pathStart(line), this.#end(line));
  }

  #pathStart(line: number): number {
    let at = (this.#starts[line] ?? 0) + HASH_CHARS + 1;
    while (this.#bytes[at] !== SPACE) at += 1;
    return at + 1;
  }

  #end(line: number): number {
    return (this.#starts[line + 1] ?? 0) - 1;
  }
}

/** Bytes that are worked on before others have their turn: some milliseconds of the serving thread. */
const TURN_BYTES = 512 * 1024;

/** Goes through something long in stretches, each told from where up to where, with turns for others between them. */
export async function inTurns(
  length: number,
  use: (from: number, to: number) => void,
): Promise<void> {
  for (let from = 0; from < length; from += TURN_BYTES) {
    if (from > 0) await setImmediate();
    use(from, Math.min(from + TURN_BYTES, length));
  }
}

export async function hexInTurns(bytes: Buffer): Promise<string> {
  const hash = createHash('sha256');
  await inTurns(bytes.length, (from, to) => hash.update(bytes.subarray(from, to)));
  return hash.digest('hex');
}

const LINE_END = 0x0a;

/** Where each line of a text begins, and where one more would. */
export function lineStarts(bytes: Buffer): Uint32Array {
  const starts = [0];
  for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, end + 1)) {
    starts.push(end + 1);
  }
  return Uint32Array.from(starts);
}

/** One line, without its end. */
export function lineOf(bytes: Buffer, starts: Uint32Array, number: number): string {
  const [start = 0, next = 1] = starts.subarray(number, number + 2);
  return bytes.toString('utf8', start, next - 1);
}
