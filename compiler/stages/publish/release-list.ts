import { FILES_NAME, type FileEntry, formatFiles } from '../../contract/release.ts';
import { ForgottenError } from '../remember/forgotten-error.ts';
import { type ListedFiles, listedFiles, pathOfLine } from './listed-files.ts';
import { editedLines } from './sorted-lines.ts';

/** The list of files of a release: that of the release before, where this one goes on from it, with what differs. */
export class ReleaseList {
  readonly #before: ListedFiles;
  readonly #edits = new Map<string, FileEntry | null>();

  constructor(before: ListedFiles | null) {
    this.#before = before ?? listedFiles(Buffer.alloc(0));
  }

  add(entries: readonly FileEntry[]): void {
    for (const entry of entries) this.#edits.set(entry.path, entry);
  }

  /** Takes paths away that the release before has. */
  remove(paths: readonly string[]): void {
    for (const path of paths) this.#edits.set(path, null);
  }

  added(): FileEntry[] {
    return [...this.#edits.values()].filter((entry) => entry !== null);
  }

  /** Files as listed now. */
  listed(): ListedFiles {
    const edits = [...this.#edits].map(([key, entry]) => {
      return { key, line: entry === null ? null : formatFiles([entry]) };
    });
    edits.sort((a, b) => (a.key < b.key ? -1 : 1));
    try {
      const lines = { bytes: this.#before.bytes, keyOf: pathOfLine };
      return listedFiles(Buffer.concat(editedLines(lines, edits)));
    } catch (cause) {
      throw new ForgottenError(`Cannot change "${FILES_NAME}": a file is not listed`, { cause });
    }
  }

  /** By how much the bytes of all files differ from those of the release before. */
  bytesAdded(): number {
    let bytes = 0;
    for (const [path, entry] of this.#edits) {
      bytes += (entry?.size ?? 0) - (this.#before.find(path)?.size ?? 0);
    }
    return bytes;
  }
}
