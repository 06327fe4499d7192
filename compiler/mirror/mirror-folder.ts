import { hash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { FILES_FOLDER, storedPath } from '../contract/path.ts';
import { FILES_NAME, type FileEntry, parseFiles, RELEASES_FOLDER } from '../contract/release.ts';
import { currentName, releaseNames, removeUnlisted } from '../stages/publish/release-folders.ts';
import { switchCurrent } from '../stages/publish/release-store.ts';
import { readPlain } from '../verify/plain-file.ts';

/** Says that a folder is a mirror, and of which address. */
const MARKER_NAME = 'mirror.txt';
const MARKER_BYTES_MAX = 4096;
/** Files on their way, each by its path and its hash: several may have the same bytes. */
const PARTS_FOLDER = '.parts';

/** Longest public list that is read. */
export const LIST_BYTES_MAX = 256 * 1024 * 1024;

/** What came of storing a file. */
type Stored = 'good' | 'wrong';

/**
 * A folder that holds the public part of one release, in the layout of a data folder, so that whatever reads one reads it too.
 * A file that is half there stays half there when the program ends, and goes on at the next run.
 */
export class MirrorFolder {
  readonly #folder: string;
  /** Where files were put since this run began. */
  readonly #come = new Set<string>();

  /** Throws a RangeError for a folder that holds something else than a mirror of this address. */
  constructor(folder: string, address: string) {
    this.#folder = folder;
    const marker = join(folder, MARKER_NAME);
    const isEmpty =
      !existsSync(folder) || readdirSync(folder).every((name) => name.startsWith('.lock'));
    if (isEmpty) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(marker, `${address}\n`);
    }
    const known = existsSync(marker) ? readPlain(marker, MARKER_BYTES_MAX).toString().trim() : null;
    this.#refuseLinks();
    if (known === address) return;
    const state = known === null ? 'it holds something else' : `it mirrors ${known}`;
    throw new RangeError(
      `Cannot mirror ${address} in "${folder}": ${state}; name a folder of its own`,
    );
  }

  /** What a link leads to is not the mirror's to change. */
  #refuseLinks(): void {
    for (const name of [RELEASES_FOLDER, FILES_FOLDER, PARTS_FOLDER]) {
      const path = join(this.#folder, name);
      if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
      throw new RangeError(`Cannot mirror into "${path}": it is a link; remove it`);
    }
  }

  /** The folder of a release. */
  rootOf(name: string): string {
    return join(this.#folder, RELEASES_FOLDER, name);
  }

  /** Writes a small file of a release whole. */
  put(name: string, file: string, bytes: Uint8Array): void {
    const root = this.rootOf(name);
    mkdirSync(root, { recursive: true });
    const fresh = this.#fresh(file);
    writeFileSync(fresh, bytes);
    renameSync(fresh, join(root, file));
  }

  /** Whether a listed file is here with its own bytes. */
  holds({ path, sha256, size }: FileEntry): boolean {
    try {
      return hash('sha256', readPlain(this.#place({ path, sha256 }), size), 'hex') === sha256;
    } catch {
      return false;
    }
  }

  /** How many bytes of a file came before. */
  partLength(entry: FileEntry): number {
    return statSync(this.#part(entry), { throwIfNoEntry: false })?.size ?? 0;
  }

  dropPart(entry: FileEntry): void {
    rmSync(this.#part(entry), { force: true });
  }

  /** Adds bytes to a file as they come, behind those that came before; the sink says how many there are. */
  async append(entry: FileEntry, chunks: AsyncIterable<Uint8Array>): Promise<number> {
    mkdirSync(join(this.#folder, PARTS_FOLDER), { recursive: true });
    const file = openSync(this.#part(entry), 'a');
    let length = this.partLength(entry);
    try {
      for await (const chunk of chunks) {
        // One byte too many shows that there are too many.
        const some = chunk.subarray(0, entry.size + 1 - length);
        for (let at = 0; at < some.length; ) at += writeSync(file, some, at);
        length += some.length;
        if (length > entry.size) break;
      }
    } finally {
      closeSync(file);
    }
    return length;
  }

  /** Puts a file that has come into its place, also one of other bytes: the verifier names it. */
  finish(entry: FileEntry): Stored {
    const place = this.#place(entry);
    mkdirSync(dirname(place), { recursive: true });
    renameSync(this.#part(entry), place);
    this.#come.add(place);
    return this.holds(entry) ? 'good' : 'wrong';
  }

  /** Whether a file came since this run began. */
  hasCome(entry: FileEntry): boolean {
    return this.#come.has(this.#place(entry));
  }

  /** Removes every release but the one that is held and this: a service whose releases fail one after the other fills no disk. */
  dropReleases(name: string): void {
    const held = currentName(this.#folder);
    for (const other of releaseNames(this.#folder)) {
      if (other !== name && other !== held) rmSync(this.rootOf(other), { recursive: true });
    }
  }

  /** Removes the files that neither these entries nor the release that is held lists. */
  dropFiles(entries: readonly FileEntry[]): void {
    const stored = [...entries, ...this.#heldEntries()].map((each) =>
      storedPath(each.path, each.sha256),
    );
    const listed = new Set([...stored, ...entries.map((entry) => this.#partPath(entry))]);
    for (const folder of [FILES_FOLDER, PARTS_FOLDER]) {
      if (existsSync(join(this.#folder, folder))) removeUnlisted(this.#folder, folder, listed);
    }
  }

  /** Makes a release the one that is held, and removes what it does not list. */
  keepOnly(name: string, entries: readonly FileEntry[]): void {
    switchCurrent(this.#folder, name);
    this.dropReleases(name);
    this.dropFiles(entries);
    rmSync(join(this.#folder, PARTS_FOLDER), { recursive: true, force: true });
  }

  /** What the release lists that is held; nothing of one that is damaged, which is fetched again. */
  #heldEntries(): FileEntry[] {
    const held = currentName(this.#folder);
    try {
      const path = held === null ? null : join(this.rootOf(held), FILES_NAME);
      return path === null ? [] : parseFiles(readPlain(path, LIST_BYTES_MAX).toString('utf8'));
    } catch {
      return [];
    }
  }

  #place({ path, sha256 }: Pick<FileEntry, 'path' | 'sha256'>): string {
    return join(this.#folder, storedPath(path, sha256));
  }

  #part(entry: FileEntry): string {
    return join(this.#folder, this.#partPath(entry));
  }

  #partPath({ path, sha256 }: FileEntry): string {
    return `${PARTS_FOLDER}/${hash('sha256', storedPath(path, sha256), 'hex')}`;
  }

  #fresh(name: string): string {
    mkdirSync(join(this.#folder, PARTS_FOLDER), { recursive: true });
    return join(this.#folder, PARTS_FOLDER, name);
  }
}
