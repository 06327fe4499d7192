import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../../compiler/format/errors.ts';
import type { FileEntry } from '../../../compiler/format/release.ts';
import { storedPath } from '../../../compiler/products/shapes/path.ts';
import { DamagedFileError, hasHash, UnreachableFileError } from '../../heart/release/read-body.ts';
import { costOfFetching, FILE_COST, type Spend } from '../../wire/cost.ts';
import type { Log } from '../../wire/log/line-log.ts';
import { BoundedMap } from '../../wire/maps.ts';
import { readPlainFile } from '../../wire/plain-file.ts';
import type { Trouble } from '../../wire/service-state.ts';
import { Slots, SlotsFullError } from '../../wire/slots.ts';
import { HostError, patientGet, type StaticHost } from './static-host.ts';

/**
 * Listed files of a host that is not trusted. A body comes from the disk cache or from the host, and is hashed either way.
 *
 *  - Many who ask for the same bytes share one fetch, and only so many fetches run and wait at once.
 *  - Wrong bytes and missing files are remembered for some seconds, so that asking again costs the host nothing. The log
 *    names each path once.
 *  - A file that does not come makes the head be asked for. Where that does not come either, the host is away: until it is
 *    back, nothing is fetched, and whoever asks for more than the cache has is refused at once.
 */

export const FETCHES_MAX = 16;
const WAITING_MAX = 256;
/** How long it is remembered that a file could not be had. */
const REFUSED_MS = 3_000;
const REFUSED_MAX = 10_000;

/** Bytes with the place on the host where they are to be found. */
interface HostedBlob extends Blob {
  /** What errors and the log call it. */
  path: string;
  /** Below the address of the host. */
  at: string;
}

interface RemoteFilesOptions {
  host: StaticHost;
  cache: DiskCache;
  /** Whether the host is away. */
  outage: Pick<Trouble, 'since'>;
  /** Called when a file did not come: the host may be away. */
  suspect: () => void;
  log: Log;
  refusedMs?: number;
}

export class RemoteFiles {
  readonly #options: RemoteFilesOptions;
  readonly #slots = new Slots(FETCHES_MAX, WAITING_MAX);
  readonly #fetching = new Map<string, Promise<Buffer>>();
  readonly #refused = new BoundedMap<string, { error: Error; until: number }>(REFUSED_MAX);
  readonly #named = new BoundedMap<string, true>(REFUSED_MAX);

  constructor(options: RemoteFilesOptions) {
    this.#options = options;
  }

  /** The bytes of a listed file, checked; see ReleasePlace. */
  async body({ path, sha256, size }: FileEntry, spend: Spend): Promise<Buffer> {
    return this.read({ path, at: storedPath(path, sha256), sha256, size }, spend);
  }

  /** The same for whatever has a hash. */
  async read(blob: HostedBlob, spend: Spend): Promise<Buffer> {
    spend(FILE_COST);
    const kept = await this.#options.cache.read(blob);
    if (kept !== null) return kept;
    const refused = this.#refused.get(blob.sha256);
    if (refused !== undefined && performance.now() < refused.until) throw refused.error;
    spend(costOfFetching(blob.size));
    return this.#join(blob);
  }

  /** Makes sure that a file is in the cache; whether it is. Never rejects. */
  async bring({ path, sha256, size }: FileEntry): Promise<boolean> {
    const { cache } = this.#options;
    if (await cache.has({ sha256, size })) return true;
    const blob = { path, at: storedPath(path, sha256), sha256, size };
    return (await this.#join(blob).catch(() => null)) !== null;
  }

  #join(blob: HostedBlob): Promise<Buffer> {
    const { sha256 } = blob;
    const known = this.#fetching.get(sha256);
    if (known !== undefined) return known;
    const fetching = this.#fetch(blob).finally(() => this.#fetching.delete(sha256));
    this.#fetching.set(sha256, fetching);
    return fetching;
  }

  async #fetch(blob: HostedBlob): Promise<Buffer> {
    const { host, outage, cache } = this.#options;
    const ask = async (): Promise<Buffer> => {
      if (outage.since !== null) throw unreachable(blob);
      const file = await patientGet(host, { path: blob.at, max: blob.size }).catch((error) => {
        throw this.#failure(blob, error);
      });
      const bytes = file?.bytes ?? Buffer.alloc(0);
      if (hasHash(bytes, blob.sha256)) return bytes;
      const state = `${bytes.length} bytes that are not the listed ones`;
      throw this.#failure(blob, new HostError(state, { isFinal: true }));
    };
    const bytes = await this.#slots.run(ask).catch((error: unknown) => {
      throw error instanceof SlotsFullError ? unreachable(blob, error) : error;
    });
    await cache.write(blob.sha256, bytes);
    this.#named.delete(blob.sha256);
    return bytes;
  }

  #failure(blob: HostedBlob, error: unknown): Error {
    const { suspect, log, refusedMs = REFUSED_MS } = this.#options;
    const { path, sha256 } = blob;
    const isFinal = error instanceof HostError && error.isFinal;
    if (!isFinal) suspect();
    const why = `Cannot serve "${path}": the host gave ${messageOf(error)}; publish again`;
    const failure = isFinal
      ? new DamagedFileError(why, { cause: error, isLogged: true })
      : unreachable(blob, error);
    this.#refused.set(sha256, { error: failure, until: performance.now() + refusedMs });
    if (!this.#named.has(sha256))
      log({ event: 'remote_file_refused', path, error: messageOf(error) });
    this.#named.set(sha256, true);
    return failure;
  }
}

function unreachable({ path }: HostedBlob, cause?: unknown): UnreachableFileError {
  return new UnreachableFileError(`Cannot serve "${path}": the host does not answer`, { cause });
}

/**
 * Bytes by their sha256, in a folder of bounded size. Several processes may share the folder, and none of them keeps a
 * list of it: a file is written beside its place and renamed, read with its hash checked, and found to be too old by the
 * time of its last use.
 *
 *  - A read that does not match its hash removes the file, so that it is fetched again.
 *  - The bound is restored after each sixteenth of it that a process has written. So the folder may hold that much more,
 *    for each process.
 *  - Nothing is synced: what a power cut leaves is found out by its hash.
 */

/** What is left of the bound after files were removed. */
const FILLED_SHARE = 0.9;
const SWEEPS_A_BOUND = 16;
const FRESH = 'fresh-';
/** A file that was being written so long ago has lost its writer. */
const FRESH_MS_MAX = 3_600_000;
const NOTE_BYTES_MAX = 200;
const PREFIX = /^[0-9a-f]{2}$/;

interface Blob {
  /** In hex. */
  sha256: string;
  /** Most bytes that are read. */
  size: number;
}

interface DiskCacheOptions {
  folder: string;
  bytesMax: number;
  clock: () => number;
  log: Log;
}

export class DiskCache {
  readonly #options: DiskCacheOptions;
  readonly #madeFolders = new Set<string>();
  /** What the present release cannot be opened without. */
  #pinned: ReadonlySet<string> = new Set();
  #writtenSince = 0;
  #sweeping: Promise<void> | null = null;
  #isWritable = true;

  constructor(options: DiskCacheOptions) {
    this.#options = options;
  }

  get bytesMax(): number {
    return this.#options.bytesMax;
  }

  /** Keeps these for as long as no others are pinned, whatever their age. */
  pin(hashes: readonly string[]): void {
    this.#pinned = new Set(hashes);
  }

  /** The bytes, checked; null when they are not here. */
  async read({ sha256, size }: Blob): Promise<Buffer | null> {
    const path = this.#pathOf(sha256);
    const bytes = await readPlainFile(path, size).catch(() => null);
    if (bytes === null) return null;
    if (!hasHash(bytes, sha256)) {
      this.#options.log({ event: 'cache_file_damaged', sha256 });
      await rm(path, { force: true }).catch(() => undefined);
      return null;
    }
    this.#touch(path);
    return bytes;
  }

  /** Whether a file of that size is here, unread. */
  async has({ sha256, size }: Blob): Promise<boolean> {
    const stats = await stat(this.#pathOf(sha256)).catch(() => null);
    return stats?.isFile() === true && stats.size === size;
  }

  /** Keeps bytes that were checked. */
  async write(sha256: string, bytes: Buffer): Promise<void> {
    if (bytes.length > this.#options.bytesMax) return;
    await this.#keep(this.#pathOf(sha256), bytes);
    this.#writtenSince += bytes.length;
    if (this.#writtenSince * SWEEPS_A_BOUND > this.#options.bytesMax) await this.sweep();
  }

  /** Removes what was not used for longest until the bound holds, and what killed writers left. Never rejects. */
  sweep(): Promise<void> {
    this.#writtenSince = 0;
    this.#sweeping ??= this.#sweep()
      .catch((error: unknown) => {
        this.#options.log({ event: 'cache_not_swept', error: messageOf(error) });
      })
      .finally(() => {
        this.#sweeping = null;
      });
    return this.#sweeping;
  }

  #pathOf(sha256: string): string {
    return join(this.#options.folder, sha256.slice(0, 2), sha256);
  }

  /** A disk that does not take a file is reported once: nothing but speed depends on it. */
  async #keep(path: string, bytes: Buffer): Promise<void> {
    try {
      await this.#store(path, bytes);
      this.#isWritable = true;
    } catch (error) {
      const { log } = this.#options;
      if (this.#isWritable) log({ event: 'cache_not_written', error: messageOf(error) });
      this.#isWritable = false;
    }
  }

  #touch(path: string): void {
    const now = new Date(this.#options.clock());
    // Only the order of removal depends on it.
    utimes(path, now, now).catch(() => undefined);
  }

  /** The word that was noted last under a name; null for none. */
  async noted(name: string): Promise<string | null> {
    const path = join(this.#options.folder, name);
    const bytes = await readPlainFile(path, NOTE_BYTES_MAX).catch(() => null);
    return bytes === null ? null : bytes.toString('latin1').trim();
  }

  /** Notes one word under a name, beside the files. */
  note(name: string, word: string): Promise<void> {
    return this.#keep(join(this.#options.folder, name), Buffer.from(`${word}\n`));
  }

  async #store(path: string, bytes: Buffer): Promise<void> {
    const folder = dirname(path);
    if (!this.#madeFolders.has(folder)) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      this.#madeFolders.add(folder);
    }
    const fresh = join(folder, `${FRESH}${randomBytes(8).toString('hex')}`);
    try {
      await writeFile(fresh, bytes, { flag: 'wx', mode: 0o600 });
      await rename(fresh, path);
    } catch (error) {
      this.#madeFolders.delete(folder);
      await rm(fresh, { force: true }).catch(() => undefined);
      throw error;
    }
    this.#touch(path);
  }

  /** Two passes without a list of all files: how many bytes were last used in each second, then what is too old. */
  async #sweep(): Promise<void> {
    const bytesBySecond = new Map<number, number>();
    let total = 0;
    await this.#each(async ({ path, name, size, second }) => {
      if (name.startsWith(FRESH)) {
        const isLost = this.#options.clock() - second * 1000 > FRESH_MS_MAX;
        if (isLost) await rm(path, { force: true });
        return;
      }
      total += size;
      bytesBySecond.set(second, (bytesBySecond.get(second) ?? 0) + size);
    });
    if (total <= this.#options.bytesMax) return;
    let excess = total - this.#options.bytesMax * FILLED_SHARE;
    // The newest second whose files must go, the oldest first, until so many bytes are free.
    let [newestDoomed, freed] = [Number.POSITIVE_INFINITY, 0];
    for (const second of [...bytesBySecond.keys()].sort((a, b) => a - b)) {
      freed += bytesBySecond.get(second) ?? 0;
      if (freed < excess) continue;
      newestDoomed = second;
      break;
    }
    await this.#each(async ({ path, name, size, second }) => {
      if (excess <= 0 || second > newestDoomed || this.#pinned.has(name)) return;
      await rm(path, { force: true });
      excess -= size;
    });
  }

  /** `second` is that of the last use of a file. */
  async #each(
    use: (file: { path: string; name: string; size: number; second: number }) => Promise<void>,
  ): Promise<void> {
    const { folder } = this.#options;
    const prefixes = await readdir(folder).catch(() => []);
    for (const prefix of prefixes.filter((name) => PREFIX.test(name))) {
      for (const name of await readdir(join(folder, prefix))) {
        const path = join(folder, prefix, name);
        // Another process may have removed it.
        const stats = await stat(path).catch(() => null);
        if (stats === null) continue;
        await use({ path, name, size: stats.size, second: Math.floor(stats.mtimeMs / 1000) });
      }
    }
  }
}
