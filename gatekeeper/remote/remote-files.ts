/**
 * Listed files of a host that is not trusted. A body comes from the disk cache or from the host, and is hashed either way.
 *
 *  - Many who ask for the same bytes share one fetch, and only so many fetches run and wait at once.
 *  - Wrong bytes and missing files are remembered for some seconds, so that asking again costs the host nothing. The log
 *    names each path once.
 *  - A file that does not come makes the head be asked for. Where that does not come either, the host is away: until it is
 *    back, nothing is fetched, and whoever asks for more than the cache has is refused at once.
 */
import { storedPath } from '../../compiler/contract/path.ts';
import type { FileEntry } from '../../compiler/contract/release.ts';
import { costOfFetching, FILE_COST, type Spend } from '../http/cost.ts';
import type { Log } from '../log/line-log.ts';
import { DamagedFileError, hasHash, UnreachableFileError } from '../release/read-body.ts';
import type { Trouble } from '../state/service-state.ts';
import { BoundedMap } from '../system/bounded-map.ts';
import { messageOf } from '../system/message-of.ts';
import { Slots, SlotsFullError } from '../system/slots.ts';
import type { Blob, DiskCache } from './disk-cache.ts';
import { patientGet } from './patient-get.ts';
import { HostError, type StaticHost } from './static-host.ts';

/** Fetches at once. */
export const FETCHES_MAX = 16;
/** Fetches that wait for others. */
const WAITING_MAX = 256;
/** How long it is remembered that a file could not be had. */
const REFUSED_MS = 3_000;
const REFUSED_MAX = 10_000;

/** Bytes with the place on the host where they are to be found. */
interface HostedBlob extends Blob {
  /** What errors and the log call it. */
  readonly path: string;
  /** Below the address of the host. */
  readonly at: string;
}

interface RemoteFilesOptions {
  readonly host: StaticHost;
  readonly cache: DiskCache;
  /** Whether the host is away. */
  readonly outage: Pick<Trouble, 'since'>;
  /** Called when a file did not come: the host may be away. */
  readonly suspect: () => void;
  readonly log: Log;
  /** Milliseconds for which it is remembered that a file could not be had. */
  readonly refusedMs?: number;
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
    const { host, outage } = this.#options;
    if (outage.since !== null) throw unreachable(blob);
    try {
      const file = await patientGet(host, { path: blob.at, max: blob.size });
      const bytes = file?.bytes ?? Buffer.alloc(0);
      if (hasHash(bytes, blob.sha256)) return bytes;
      const state = `${bytes.length} bytes that are not the listed ones`;
      throw new HostError(state, { isFinal: true });
    } catch (error) {
      throw this.#failure(blob, error);
    }
  }

  #failure(blob: HostedBlob, error: unknown): Error {
    const { suspect, log, refusedMs = REFUSED_MS } = this.#options;
    const { path, sha256 } = blob;
    const isFinal = error instanceof HostError && error.isFinal;
    if (!isFinal) suspect();
    const failure = isFinal ? damaged(blob, error) : unreachable(blob, error);
    this.#refused.set(sha256, { error: failure, until: performance.now() + refusedMs });
    if (!this.#named.has(sha256)) {
      log({ event: 'remote_file_refused', path, error: messageOf(error) });
    }
    this.#named.set(sha256, true);
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
