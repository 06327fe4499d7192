import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { defined } from '../../compiler/contract/defined.ts';
import { firstWhere } from '../../compiler/contract/lists.ts';
import { FILES_NAME, type FileEntry, publicStretches } from '../../compiler/contract/release.ts';

const [NEWLINE, SPACE, ZERO, SLASH, DOT] = [0x0a, 0x20, 0x30, 0x2f, 0x2e];
const HASH_CHARS = 64;
const SIZE_DIGITS_MAX = 15;

/** By byte: whether it may stand in that part of a line. */
const HEX = bytesIn('0123456789abcdef');
const DIGIT = bytesIn('0123456789');
const PATH = bytesIn('abcdefghijklmnopqrstuvwxyz0123456789._~/-');

function bytesIn(text: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(text)) table[byte] = 1;
  return table;
}

/** Looked up where its bytes lie: as objects, half a million entries would take a second of every start and 250 MB. */
export class ListedFiles {
  readonly #bytes: Buffer;
  /** Where each line begins, and where one more would. */
  readonly #starts: Uint32Array;

  private constructor(bytes: Buffer, starts: Uint32Array) {
    this.#bytes = bytes;
    this.#starts = starts;
  }

  /** A short list; throws a RangeError that names the line for anything malformed or unsorted. */
  static of(bytes: Buffer): ListedFiles {
    const lines = new LineStarts(bytes);
    lines.take(bytes.length);
    return new ListedFiles(bytes, lines.all());
  }

  /** The same of a long one, which others do not wait for. */
  static async inTurns(bytes: Buffer): Promise<ListedFiles> {
    const lines = new LineStarts(bytes);
    await inTurns(bytes.length, (_, to) => lines.take(to));
    return new ListedFiles(bytes, lines.all());
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

  *keys(): Generator<string> {
    for (let line = 0; line < this.size; line += 1) yield this.pathAt(line);
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

/** Checks every line and its place, and notes where it begins. */
class LineStarts {
  readonly #bytes: Buffer;
  /** The last one is where the next line begins. */
  readonly #starts: number[] = [0];
  #start = 0;
  #before = { from: 0, to: 0 };

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Goes on with the lines that begin in front of a place. */
  take(end: number): void {
    while (this.#start < end) this.#takeLine(this.#start);
  }

  all(): Uint32Array {
    return new Uint32Array(this.#starts);
  }

  #takeLine(start: number): void {
    const bytes = this.#bytes;
    const before = this.#before;
    const from = pathStart(bytes, start);
    const to = from === -1 ? -1 : pathEnd(bytes, from);
    const isBehind =
      to !== -1 && (start === 0 || bytes.compare(bytes, before.from, before.to, from, to) > 0);
    if (!isBehind) {
      throw new RangeError(
        `Cannot read ${FILES_NAME}: line ${this.#starts.length} is malformed, cut off or unsorted`,
      );
    }
    this.#before = { from, to };
    this.#start = to + 1;
    this.#starts.push(this.#start);
  }
}

/** Behind `<sha256> <size> `; -1 where a line does not begin so. */
function pathStart(bytes: Buffer, start: number): number {
  const hashEnd = start + HASH_CHARS;
  const sizeAt = hashEnd + 1;
  if (run(bytes, start, HEX) < hashEnd || bytes[hashEnd] !== SPACE) return -1;
  const sizeEnd = run(bytes, sizeAt, DIGIT);
  const digits = sizeEnd - sizeAt;
  const isSize = digits === 1 || (digits > 1 && bytes[sizeAt] !== ZERO);
  return isSize && digits <= SIZE_DIGITS_MAX && bytes[sizeEnd] === SPACE ? sizeEnd + 1 : -1;
}

/** Where a path ends in a line break; -1 for anything else, and where a segment is empty or begins with a dot. */
function pathEnd(bytes: Buffer, from: number): number {
  const end = run(bytes, from, PATH);
  if (end === from || bytes[end] !== NEWLINE || bytes[end - 1] === SLASH) return -1;
  for (let at = from; at !== 0 && at < end; at = bytes.indexOf(SLASH, at) + 1) {
    if (bytes[at] === DOT || bytes[at] === SLASH) return -1;
  }
  return end;
}

/** The end of the run of bytes that a table allows. */
function run(bytes: Buffer, from: number, allowed: Uint8Array): number {
  let at = from;
  while (at < bytes.length && allowed[bytes[at] ?? 0] === 1) at += 1;
  return at;
}

/** Bytes that are worked on before others have their turn: some milliseconds of the serving thread. */
const TURN_BYTES = 1024 * 1024;

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
