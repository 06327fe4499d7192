import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isCode } from '../format/errors.ts';
import type { FileEntry } from '../format/release.ts';
import { storedPath } from '../products/shapes/path.ts';

/** Nothing of a block that is written whole is read from the disk first. */
const BLOCK_BYTES = 4096;
/** Longer bodies are few. */
const BODY_BYTES_MAX = 64 * BLOCK_BYTES;
/** What is remembered of spare files is bounded: those beyond are removed at once. */
const SPARES_MAX = 100_000;

/**
 * Bodies that no release lists any more. A body of the same path is written over them and takes a name of its own: a file
 * system needs a tenth of the time for this that it needs to make one file and to remove another. They are removed where
 * nothing is written over them.
 */
export class SpareFiles {
  readonly #data: string;
  readonly #give: () => Iterable<FileEntry>;
  /** Where they are stored, by the paths of the bodies. */
  #left: Map<string, string[]> | null = null;
  readonly #room = Buffer.alloc(BODY_BYTES_MAX);

  /** `give` makes the files of the data folder spare; it is asked once, before the first of them is touched. */
  constructor(data: string, give: () => Iterable<FileEntry>) {
    this.#data = data;
    this.#give = give;
  }

  /** Writes the file of an entry over a spare one of its path; false where none will do, or where the file is there. */
  writeOver({ path, sha256 }: FileEntry, bytes: Uint8Array): boolean {
    const full = join(this.#data, storedPath(path, sha256));
    const places = this.#places().get(path);
    const at = places?.indexOf(full) ?? -1;
    // What is written under this name is in use from now on.
    if (at !== -1) places?.splice(at, 1);
    const spare = places?.at(-1);
    if (spare === undefined || existsSync(full) || !this.#overwrite(spare, bytes)) return false;
    renameSync(spare, full);
    places?.pop();
    return true;
  }

  remove(): void {
    for (const places of this.#places().values()) for (const place of places) removeFile(place);
    this.#left = new Map();
  }

  /** Removes those that are left of the ones that were given away already. */
  removeGiven(): void {
    if (this.#left !== null) this.remove();
  }

  #places(): Map<string, string[]> {
    if (this.#left !== null) return this.#left;
    const left = new Map<string, string[]>();
    this.#left = left;
    for (const { path, sha256 } of this.#give()) {
      const place = join(this.#data, storedPath(path, sha256));
      const places = left.get(path);
      if (left.size >= SPARES_MAX) removeFile(place);
      else if (places === undefined) left.set(path, [place]);
      else places.push(place);
    }
    return left;
  }

  /** False for a file that is gone, no plain file, not ours to write, or that a copy shares by a link. */
  #overwrite(place: string, bytes: Uint8Array): boolean {
    const file = bytes.length > BODY_BYTES_MAX ? null : openPlace(place);
    if (file === null) return false;
    try {
      const stat = fstatSync(file);
      if (!stat.isFile() || stat.nlink !== 1) return false;
      this.#room.set(bytes);
      const length = Math.ceil(bytes.length / BLOCK_BYTES) * BLOCK_BYTES;
      for (let at = 0; at < length; ) at += writeSync(file, this.#room, at, length - at);
      ftruncateSync(file, bytes.length);
      return true;
    } finally {
      closeSync(file);
    }
  }
}

/** Null for a file that is gone, or not ours to write. */
function openPlace(place: string): number | null {
  try {
    return openSync(place, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
}

/** Removes a file that may be gone. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
  }
}
