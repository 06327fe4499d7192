import { createHash, type Hash, hash } from 'node:crypto';
import { closeSync, existsSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../format/errors.ts';
import { firstWhere } from '../format/lists.ts';
import {
  CATALOG_PATH,
  FILE_LINE_BYTES_MAX,
  FILES_NAME,
  type FileEntry,
  formatFiles,
  isPublicPath,
  parseFiles,
  publicStretches,
  RELEASE_NAME,
  type Release,
} from '../format/release.ts';
import { storedPath } from '../products/shapes/path.ts';
import { ForgottenError } from '../system/compile-error.ts';
import { jcs } from '../system/jcs.ts';
import { openPlain, readPlain } from '../system/plain-file.ts';
import type { Sealer } from '../system/sealer.ts';
import {
  differentLines,
  editLines,
  endOf,
  findLine,
  type LineEdit,
  lineAt,
  textOrder,
} from './sorted-lines.ts';

/** Behind every character of a path. */
const BEHIND_ALL = '\x7f';

/** A path that is listed now; null where it no longer is. */
interface ListEdit {
  readonly path: string;
  readonly entry: FileEntry | null;
}

interface WrittenList {
  /** Of the file, in hex. */
  readonly sha256: string;
  readonly count: number;
  readonly publicFiles: NonNullable<Release['public_files']>;
  /** By how much the bytes of all files differ from those of the previous release. */
  readonly bytesAdded: number;
}

/** The list of files of a release: that of the previous release, where this one goes on from it, with what differs. */
export class ReleaseList {
  readonly #before: FileListBytes;
  readonly #countBefore: number;
  #edits: ListEdit[] = [];
  #isSorted = true;

  /** `count` is the number of files that `before` lists. */
  constructor(before: FileListBytes | null, count: number) {
    this.#before = before ?? listedFiles(Buffer.alloc(0));
    this.#countBefore = before === null ? 0 : count;
  }

  add(entries: readonly FileEntry[]): void {
    for (const entry of entries) this.#edits.push({ path: entry.path, entry });
    this.#isSorted = false;
  }

  /** Takes paths away that the previous release has. */
  remove(paths: readonly string[]): void {
    for (const path of paths) this.#edits.push({ path, entry: null });
    this.#isSorted = false;
  }

  added(): FileEntry[] {
    return this.#sorted().flatMap(({ entry }) => entry ?? []);
  }

  find(path: string): FileEntry | null {
    const edits = this.#sorted();
    const edit = edits[placeOf(edits, path)];
    return edit?.path === path ? edit.entry : this.#before.find(path);
  }

  *under(prefix: string): Generator<string> {
    const edits = this.#sorted();
    let at = placeOf(edits, prefix);
    for (const path of this.#before.under(prefix)) {
      const end = placeOf(edits, path);
      yield* pathsIn(edits, at, end);
      if (edits[end]?.path !== path) yield path;
      at = end;
    }
    yield* pathsIn(edits, at, placeOf(edits, prefix + BEHIND_ALL));
  }

  /** Writes the list into a new file; throws a ForgottenError when a path that is taken away is not listed. */
  write(path: string): WrittenList {
    const file = new HashedFile(path);
    const open = new PublicLines(this.#before.bytes);
    const edits = this.#sorted();
    let count = this.#countBefore;
    let bytesAdded = 0;
    let sha256 = '';
    try {
      editLines({ bytes: this.#before.bytes, order: pathOrder }, linesOf(edits), {
        keep(bytes, from, to) {
          file.copy(bytes, from, to);
          open.keep(from, to);
        },
        drop(bytes, from) {
          count -= 1;
          bytesAdded -= sizeAt(bytes, from);
        },
        add(line) {
          file.text(line);
          open.add(line);
        },
      });
    } catch (cause) {
      throw new ForgottenError(`Cannot change "${FILES_NAME}": a file is not listed`, { cause });
    } finally {
      sha256 = file.close();
    }
    for (const { entry } of edits) {
      if (entry === null) continue;
      count += 1;
      bytesAdded += entry.size;
    }
    return { sha256, count, bytesAdded, publicFiles: open.sum() };
  }

  /** By path, each once: what was said last of a path stands. */
  #sorted(): readonly ListEdit[] {
    if (!this.#isSorted) {
      this.#edits.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
      this.#edits = this.#edits.filter(({ path }, at, all) => all[at + 1]?.path !== path);
      this.#isSorted = true;
    }
    return this.#edits;
  }
}

function* linesOf(edits: readonly ListEdit[]): Generator<LineEdit> {
  for (const { path, entry } of edits) {
    yield { key: path, line: entry === null ? null : formatFiles([entry]) };
  }
}

function* pathsIn(edits: readonly ListEdit[], from: number, to: number): Generator<string> {
  for (let at = from; at < to; at += 1) {
    const edit = edits[at];
    if (edit !== undefined && edit.entry !== null) yield edit.path;
  }
}

function placeOf(edits: readonly ListEdit[], path: string): number {
  return firstWhere(edits.length, (at) => defined(edits[at], 'the edit').path >= path);
}

/** The list of files of a release as its bytes: nothing of it is parsed before it is asked for. */
export interface FileListBytes {
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

const LISTED_LINES = { parse: (line: string): string => line, key: pathOfLine };

const SPACE = 0x20;
const DIGIT_ZERO = 0x30;
/** A line begins with a sha256 in hex and a space. */
const SIZE_AT = 65;

/** The order of lines of FILES_NAME by their paths, which are ASCII. */
function pathOrder(bytes: Buffer, start: number, path: string): number {
  let at = start + SIZE_AT;
  while (at < bytes.length && bytes[at] !== SPACE) at += 1;
  return textOrder(bytes, at + 1, path);
}

function sizeAt(bytes: Buffer, start: number): number {
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

/** The same of a release that this compile goes on from; throws a ForgottenError instead. */
export function readRemembered(data: string, entry: FileEntry): Buffer {
  try {
    return readStored(data, entry);
  } catch (cause) {
    throw new ForgottenError(`Cannot go on from "${entry.path}"`, { cause });
  }
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

/** The public lines of a list, hashed while the list is written behind another one. */
class PublicLines {
  readonly #before: Buffer;
  readonly #stretches: ReturnType<typeof publicStretches>;
  readonly #hash: Hash = createHash('sha256');
  #count = 0;

  constructor(before: Buffer) {
    this.#before = before;
    const lines = { bytes: before, order: pathOrder };
    this.#stretches = publicStretches((text) => findLine(lines, text).start);
  }

  /** Lines of the other list from one place up to another stay. */
  keep(from: number, to: number): void {
    for (const [start, end] of this.#stretches) {
      const stretch = this.#before.subarray(Math.max(from, start), Math.min(to, end));
      this.#hash.update(stretch);
      for (let at = 0; at < stretch.length; at = endOf(stretch, at)) this.#count += 1;
    }
  }

  /** Adds a line with its line end. */
  add(line: string): void {
    if (!isPublicPath(pathOfLine(line))) return;
    this.#hash.update(line, 'latin1');
    this.#count += 1;
  }

  /** What the head states; call it once. */
  sum(): NonNullable<Release['public_files']> {
    return { sha256: `sha256:${this.#hash.digest('hex')}`, count: this.#count };
  }
}

/** Bytes that are gathered before they are hashed and written. */
const HELD_BYTES = 1 << 20;

/** A new file that is hashed while it is written, in memory that does not grow. */
export class HashedFile {
  readonly #file: number;
  readonly #hash: Hash = createHash('sha256');
  readonly #held = Buffer.allocUnsafe(HELD_BYTES);
  #length = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'wx');
  }

  copy(bytes: Buffer, from: number, to: number): void {
    for (let at = from; at < to; ) {
      const copied = bytes.copy(this.#held, this.#length, at, to);
      this.#advance(copied);
      at += copied;
    }
  }

  /** Adds text of one byte a character that is shorter than what is held at once. */
  text(text: string): void {
    if (this.#length + text.length > HELD_BYTES) this.#flush();
    this.#advance(this.#held.write(text, this.#length, 'latin1'));
  }

  /** The sha256 of the whole file, hex; call it once, also after a failure. */
  close(): string {
    try {
      this.#flush();
      return this.#hash.digest('hex');
    } finally {
      closeSync(this.#file);
    }
  }

  #advance(bytes: number): void {
    this.#length += bytes;
    if (this.#length === HELD_BYTES) this.#flush();
  }

  #flush(): void {
    const bytes = this.#held.subarray(0, this.#length);
    this.#hash.update(bytes);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    this.#length = 0;
  }
}

/** The sha256 of a file, hex, in memory that does not grow. */
export function fileDigest(path: string): string {
  const file = openPlain(path);
  try {
    const digest = createHash('sha256');
    const bytes = Buffer.allocUnsafe(HELD_BYTES);
    for (let read = readSync(file, bytes); read > 0; read = readSync(file, bytes)) {
      digest.update(bytes.subarray(0, read));
    }
    return digest.digest('hex');
  } finally {
    closeSync(file);
  }
}

export type UnsignedHead = Omit<
  Release,
  'files_sha256' | 'files_count' | 'public_files' | 'signature'
>;

/** Writes the list of files and the signed head into the folder of a release. */
export function writeHead(
  root: string,
  { list, head }: { list: ReleaseList; head: UnsignedHead },
  sealer: Sealer,
) {
  const { sha256, count, bytesAdded, publicFiles } = list.write(join(root, FILES_NAME));
  const unsigned = {
    ...head,
    files_sha256: `sha256:${sha256}`,
    files_count: count,
    public_files: publicFiles,
  };
  const release: Release = { ...unsigned, signature: sealer.signText(jcs(unsigned)) };
  writeFileSync(join(root, RELEASE_NAME), `${JSON.stringify(release, null, 2)}\n`, { flag: 'wx' });
  return { release, count, bytesAdded };
}
