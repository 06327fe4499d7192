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
import { atOnce } from '../../format/lists.ts';
import {
  FILES_NAME,
  type FileEntry,
  parseFiles,
  publicFileUrl,
  RELEASES_FOLDER,
} from '../../format/release.ts';
import { LOG_FOLDER } from '../../format/tiles.ts';
import { FILES_FOLDER, storedPath } from '../../products/shapes/path.ts';
import { currentName, releaseNames, removeUnlisted } from '../../release/release-folders.ts';
import { switchCurrent } from '../../release/release-store.ts';
import type { Clock } from '../../system/clock.ts';
import { readPlain } from '../../system/plain-file.ts';
import { asked, type Fetch, refusal, UnreachableError } from '../../verify/monitor/log-client.ts';

/** Says that a folder is a mirror, and of which address. */
const MARKER_NAME = 'mirror.txt';
const MARKER_BYTES_MAX = 4096;
/** Files on their way, each by its path and its hash: several may have the same bytes. */
const PARTS_FOLDER = '.parts';

export const LIST_BYTES_MAX = 256 * 1024 * 1024;

/**
 * A folder that holds the public part of one release and its whole log, in the layout of a data folder, so that whatever reads
 * one reads it too.
 * A file that is half there stays half there when the program ends, and goes on at the next run.
 */
export class MirrorFolder {
  readonly #folder: string;
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
    // What a link leads to is not the mirror's to change.
    for (const name of [RELEASES_FOLDER, FILES_FOLDER, PARTS_FOLDER, LOG_FOLDER]) {
      const path = join(folder, name);
      if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
      throw new RangeError(`Cannot mirror into "${path}": it is a link; remove it`);
    }
    if (known === address) return;
    const state = known === null ? 'it holds something else' : `it mirrors ${known}`;
    throw new RangeError(
      `Cannot mirror ${address} in "${folder}": ${state}; name a folder of its own`,
    );
  }

  get path(): string {
    return this.#folder;
  }

  rootOf(name: string): string {
    return join(this.#folder, RELEASES_FOLDER, name);
  }

  put(name: string, file: string, bytes: Uint8Array): void {
    const parts = join(this.#folder, PARTS_FOLDER);
    for (const folder of [this.rootOf(name), parts]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(parts, file), bytes);
    renameSync(join(parts, file), join(this.rootOf(name), file));
  }

  holds({ path, sha256, size }: FileEntry): boolean {
    try {
      return hash('sha256', readPlain(this.#place({ path, sha256 }), size), 'hex') === sha256;
    } catch {
      return false;
    }
  }

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

  /**
   * Puts a file that has come into its place, also one of other bytes: the verifier names it. Answers whether it is the
   * listed one.
   */
  finish(entry: FileEntry): boolean {
    const place = this.#place(entry);
    mkdirSync(dirname(place), { recursive: true });
    renameSync(this.#part(entry), place);
    this.#come.add(place);
    return this.holds(entry);
  }

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
}

const PARALLEL = 8;
/** How often a file is asked for before the address counts as out of reach. */
const ATTEMPTS_MAX = 8;
const PAUSE_MS = 250;
const PAUSE_MS_MAX = 60_000;
/** Beside what any answer may take, so many bytes must come in a millisecond: who trickles is cut off. */
const BYTES_A_MS = 16;
/** Statuses that say nothing about a file, only about the moment. */
const BUSY = [408, 425, 429];

export interface FetchBy {
  readonly address: string;
  readonly fetch: Fetch;
  readonly folder: MirrorFolder;
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'steady' | 'sleep'>;
  /** Milliseconds of the steady clock at which everything has to be there. */
  readonly end: number;
  /** Longest wait for an answer beside what its bytes take, in milliseconds. */
  readonly answerMs: number;
}

export interface Ungiven {
  readonly path: string;
  readonly detail: string;
}

export interface Fetched {
  /** Files that came as listed. */
  files: number;
  bytes: number;
  /** Files that went on where an earlier answer ended. */
  resumed: number;
  readonly ungiven: Ungiven[];
}

/**
 * Fetches files, several at once, and adds to what was fetched. What the service refuses or gives otherwise is told, and is for
 * the verifier to judge; an address that cannot be reached throws an UnreachableError once the others have ended.
 */
export async function fetchFiles(
  wanted: readonly FileEntry[],
  by: FetchBy,
  sum: Fetched,
  told: (done: number) => void = () => undefined,
): Promise<void> {
  let done = 0;
  await atOnce(wanted, PARALLEL, async (entry) => {
    const { detail, bytes, isResumed } = await patiently(by, () => fetchOnce(entry, by));
    if (detail === null) sum.files += 1;
    else sum.ungiven.push({ path: entry.path, detail });
    done += 1;
    sum.bytes += bytes;
    sum.resumed += isResumed ? 1 : 0;
    told(done);
  });
}

interface FetchedFile {
  /** Why it is not the listed one; null where it is. */
  readonly detail: string | null;
  readonly bytes: number;
  readonly isResumed: boolean;
}

/** Asks again where that may help: after a while of an address that does not answer, at once where null came of it. */
export async function patiently<T>(
  { clock, signal, end }: Pick<FetchBy, 'clock' | 'signal' | 'end'>,
  ask: () => Promise<T | null>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const found = await ask();
      if (found !== null) return found;
    } catch (error) {
      const isOver = signal.aborted || attempt >= ATTEMPTS_MAX || clock.steady() > end;
      if (!(error instanceof UnreachableError) || isOver) throw error;
      const waitMs = Math.max(error.waitMs, PAUSE_MS * 2 ** attempt);
      await clock.sleep(Math.min(waitMs, PAUSE_MS_MAX), signal);
    }
  }
}

/** One answer; null where a part that came before was of something else, so that all of it is to be asked for. */
async function fetchOnce(entry: FileEntry, by: FetchBy): Promise<FetchedFile | null> {
  const { address, folder, fetch, signal } = by;
  const from = folder.partLength(entry);
  const headers = from > 0 ? { range: `bytes=${from}-` } : {};
  const asking = { fetch, waitMs: waitFor(entry.size, by), headers, signal };
  return asked(address + publicFileUrl(entry), asking, async (response) => {
    const { status, body } = response;
    const range = response.headers.get('content-range');
    const isResumed = status === 206 && from > 0 && range?.startsWith(`bytes ${from}-`) === true;
    if (status !== 200 && !isResumed) {
      const detail = await settled(response);
      folder.dropPart(entry);
      // What came before may be of something else, or too long.
      return from > 0 ? null : { detail, bytes: 0, isResumed };
    }
    if (!isResumed) folder.dropPart(entry);
    const length = await folder.append(entry, body ?? new Blob([]).stream());
    const bytes = isResumed ? length - from : length;
    if (folder.finish(entry)) return { detail: null, bytes, isResumed };
    // The part that came before may have been the wrong one.
    if (isResumed) return null;
    const isLong = length !== entry.size;
    const detail = isLong ? `another length than ${entry.size} bytes` : 'other bytes';
    return { detail, bytes, isResumed };
  });
}

/** Longest wait for an answer of so many bytes, in milliseconds. */
export function waitFor(
  bytes: number,
  { clock, end, answerMs }: Pick<FetchBy, 'clock' | 'end' | 'answerMs'>,
): number {
  return Math.max(0, Math.min(answerMs + bytes / BYTES_A_MS, end - clock.steady()));
}

/** Why an answer is not what was asked for; throws an UnreachableError where it says nothing about that. */
export async function settled(response: Response): Promise<string> {
  await response.body?.cancel();
  const { status } = response;
  const error = refusal(response);
  if (status >= 500 || BUSY.includes(status)) throw error;
  return error.message;
}
