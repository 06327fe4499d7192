import { defined } from '../../contract/defined.ts';
import { firstWhere } from '../../contract/lists.ts';
import { FILES_NAME, type FileEntry, formatFiles, type Release } from '../../contract/release.ts';
import { ForgottenError } from '../remember/forgotten-error.ts';
import { type FileListBytes, listedFiles, pathOrder, sizeAt } from './file-list-bytes.ts';
import { HashedFile } from './hashed-file.ts';
import { PublicLines } from './public-lines.ts';
import { editLines, type LineEdit } from './sorted-lines.ts';

/** Behind every character of a path. */
const BEHIND_ALL = '\x7f';

/** A path that is listed now; null where it no longer is. */
interface ListEdit {
  readonly path: string;
  readonly entry: FileEntry | null;
}

/** What a list came to that was written. */
export interface WrittenList {
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

/** Paths that are listed of a stretch of edits. */
function* pathsIn(edits: readonly ListEdit[], from: number, to: number): Generator<string> {
  for (let at = from; at < to; at += 1) {
    const edit = edits[at];
    if (edit !== undefined && edit.entry !== null) yield edit.path;
  }
}

/** Where the edit of a path stands, or would. */
function placeOf(edits: readonly ListEdit[], path: string): number {
  return firstWhere(edits.length, (at) => defined(edits[at], 'the edit').path >= path);
}
