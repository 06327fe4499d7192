/**
 * Listed files of a host that is not trusted. A body comes from the disk cache or from the host, and is hashed either way.
 *
 *  - Many who ask for the same bytes share one fetch, and only so many fetches run and wait at once.
 *  - Wrong bytes and missing files are remembered for some seconds, so that asking again costs the host nothing. The log
 *    names each path once.
 *  - While the host does not answer, one fetch now and then tries it. All others fail at once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { storedPath } from '../../compiler/contract/path.ts';
import type { FileEntry } from '../../compiler/contract/release.ts';
import { BoundedMap } from '../bounded-map.ts';
import { costOfFetching, FILE_COST, type Spend } from '../http/cost.ts';
import type { Log } from '../http/line-log.ts';
import { messageOf } from '../message-of.ts';
import { DamagedFileError, hasHash, UnreachableFileError } from '../release/read-body.ts';
import type { Blob, DiskCache } from './disk-cache.ts';
import type { Outage } from './outage.ts';
import { Slots, SlotsFullError } from './slots.ts';
import { HostError, type StaticHost } from './static-host.ts';

/** Fetches at once. */
export const FETCHES_MAX = 16;
/** Fetches that wait for others. */
const WAITING_MAX = 256;
/** How long it is remembered that the host has something else, and that it did not answer. */
const REFUSED_MS = 10_000;
const SILENT_MS = 2_000;
const REFUSED_MAX = 10_000;
const ATTEMPTS_MAX = 3;
/** Before the second attempt; before each later one four times as long. */
const PAUSE_MS = 100;
/** A fetch that took so long is not repeated: somebody waits for it. */
const PATIENCE_MS = 5_000;

/** Bytes with the place on the host where they are to be found. */
export interface HostedBlob extends Blob {
  /** What errors and the log call it. */
  readonly path: string;
  /** Below the address of the host. */
  readonly at: string;
}

export interface RemoteFilesOptions {
  readonly host: StaticHost;
  readonly cache: DiskCache;
  readonly outage: Outage;
  readonly log: Log;
}

export class RemoteFiles {
  readonly #options: RemoteFilesOptions;
  readonly #slots = new Slots(FETCHES_MAX, WAITING_MAX);
  readonly #fetching = new Map<string, Promise<Buffer>>();
  readonly #refused = new BoundedMap<string, { readonly error: Error; readonly until: number }>(
    REFUSED_MAX,
  );
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
    const fetched = this.#join({ path, at: storedPath(path, sha256), sha256, size });
    return fetched.then(
      () => true,
      () => false,
    );
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
    try {
      const bytes = await this.#slots.run(() => this.#fromHost(blob));
      await this.#options.cache.write(blob.sha256, bytes);
      this.#named.delete(blob.sha256);
      return bytes;
    } catch (error) {
      if (!(error instanceof SlotsFullError)) throw error;
      throw unreachable(blob, error);
    }
  }

  async #fromHost(blob: HostedBlob): Promise<Buffer> {
    const { outage } = this.#options;
    if (!outage.mayTry()) throw unreachable(blob);
    const startedAt = performance.now();
    try {
      const bytes = await this.#attempts(blob, startedAt);
      outage.worked();
      if (hasHash(bytes, blob.sha256)) return bytes;
      const state = `${bytes.length} bytes that are not the listed ones`;
      throw new HostError(state, { isFinal: true });
    } catch (error) {
      throw this.#failure(blob, error, startedAt);
    }
  }

  async #attempts({ at, size }: HostedBlob, startedAt: number): Promise<Buffer> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const file = await this.#options.host.get({ path: at, max: size });
        if (file !== null) return file.bytes;
        throw new HostError('status 304', { isFinal: true });
      } catch (error) {
        const isFinal = !(error instanceof HostError) || error.isFinal;
        const isLate = performance.now() - startedAt > PATIENCE_MS;
        const isOut = this.#options.outage.since !== null;
        if (isFinal || isLate || isOut || attempt === ATTEMPTS_MAX) throw error;
        await sleep(PAUSE_MS * 4 ** (attempt - 1));
      }
    }
  }

  #failure(blob: HostedBlob, error: unknown, startedAt: number): Error {
    const { outage, log } = this.#options;
    const detail = messageOf(error);
    const isFinal = error instanceof HostError && error.isFinal;
    if (isFinal) outage.worked();
    else outage.failed(startedAt, detail);
    const failure = isFinal ? damaged(blob, error) : unreachable(blob, error);
    const until = performance.now() + (isFinal ? REFUSED_MS : SILENT_MS);
    this.#refused.set(blob.sha256, { error: failure, until });
    const isNews = isFinal && !this.#named.has(blob.sha256);
    if (isNews) log({ event: 'remote_file_refused', path: blob.path, error: detail });
    if (isFinal) this.#named.set(blob.sha256, true);
    return failure;
  }
}

function damaged({ path }: HostedBlob, cause: unknown): DamagedFileError {
  const message = `Cannot serve "${path}": the host gave ${messageOf(cause)}; publish again`;
  return new DamagedFileError(message, { cause, isLogged: true });
}

function unreachable({ path }: HostedBlob, cause?: unknown): UnreachableFileError {
  return new UnreachableFileError(`Cannot serve "${path}": the host does not answer`, { cause });
}
