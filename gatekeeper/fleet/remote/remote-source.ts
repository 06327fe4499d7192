import { hash } from 'node:crypto';
import { messageOf } from '../../../compiler/format/errors.ts';
import { KEYS_PATH } from '../../../compiler/format/key-history.ts';
import {
  CURRENT_LINK,
  FILES_NAME,
  type FileEntry,
  HEAD_BYTES_MAX,
  RELEASE_NAME,
  RELEASES_FOLDER,
  type Release,
  releaseName,
} from '../../../compiler/format/release.ts';
import { TLOG_PROOF_BYTES_MAX } from '../../../compiler/format/tlog-proof.ts';
import { OFFERS_PATH } from '../../heart/release/open-release.ts';
import { DamagedFileError, UnreachableFileError } from '../../heart/release/read-body.ts';
import type {
  KnownRelease,
  LogPart,
  ReleasePlace,
  ReleaseSource,
} from '../../heart/release/release-source.ts';
import { FOR_EVERYBODY } from '../../wire/cost.ts';
import type { Log } from '../../wire/log/line-log.ts';
import type { ServiceState, Trouble } from '../../wire/service-state.ts';
import { inTime, Slots } from '../../wire/slots.ts';
import { StartError } from '../../wire/start-error.ts';
import { DiskCache, FETCHES_MAX, RemoteFiles } from './remote-files.ts';
import { HostError, patientGet, type StaticHost, staticHost } from './static-host.ts';

/**
 * Releases on a static host: nginx, S3, a CDN. The host is not trusted. It serves a data folder as it is:
 *
 *  1. `current/release.json` is the signed head of the newest release, and the only file that ever changes. It is asked for
 *     every few seconds, with the tag that it had. Its signature, its issuer and its place in the sequence are checked like
 *     those of a release on the disk.
 *  2. `releases/<name>/files.txt` is the list that the head signs; the head gives the name.
 *  3. `files/…` are the bodies, each checked against the list.
 *  4. `log/…` is the log. Its checkpoint is signed, and all else of it is checked against the root that this states.
 *
 * The first three are kept in a cache by their hash, and so is the proof that the release is in the log. So a start works
 * without the host, and what was read is sold on while the host is away. Whoever holds the host can keep a new release back,
 * for as long as `valid_until` allows, and make files missing. It cannot make anything false be served.
 */

const POLL_MS = 5_000;
/** Longest list that is read: that of some two million files. */
const LIST_BYTES_MAX = 256 * 1024 * 1024;
const POINTER_PATH = `${CURRENT_LINK}/${RELEASE_NAME}`;

/** Beside what it takes to connect, this many bytes a millisecond must come; no answer may take longer than a limit. */
const ANSWER_MS = 10_000;
const BYTES_A_MS = 100;
const DEADLINE_MS_MAX = 90_000;
/** Files of the log that are fetched at once, and how many callers wait for their turn. */
const LOG_FETCHES_MAX = 4;
const LOG_WAITING_MAX = 64;
/** The tag of a head is made of its time and length by some hosts, so the head itself is read now and then. */
const TAG_MS_MAX = 60_000;

/** Fetches ahead at once; the others are for who waits. */
const FETCHES_AHEAD = 6;
/** How long a new release waits for what is fetched ahead. */
const SWITCH_MS_MAX = 45_000;
/** How much of the cache a release may take to be fetched whole. */
const WHOLE_SHARE = 0.8;

interface RemoteOptions {
  url: URL;
  /** One header of every request, `Name: value`. */
  auth: string | null;
  cacheDir: string;
  cacheBytesMax: number;
  answerMs?: number;
  refusedMs?: number;
  clock: () => number;
  log: Log;
  state: ServiceState;
}

/** The head that the host gave last. */
interface Pointer {
  head: Buffer;
  mark: string;
  etag: string | null;
  /** When it was read, by a steady clock. */
  readAt: number;
}

/** Throws nothing before something is read. */
export class RemoteSource implements ReleaseSource {
  readonly pollMs = POLL_MS;
  readonly #url: URL;
  /** Names the release that was served last; a cache may be shared by shops. */
  readonly #noteName: string;
  /** Names the proof that was read last: one note, since nothing removes notes. */
  readonly #proofNoteName: string;
  readonly #log: Log;
  readonly #host: StaticHost;
  readonly #cache: DiskCache;
  readonly #files: RemoteFiles;
  /** The run of fetching ahead that counts; one that was begun later takes its place. */
  #run = 0;
  /** Whether the last run has brought all files of a release. */
  #isWhole = false;
  readonly #logSlots = new Slots(LOG_FETCHES_MAX, LOG_WAITING_MAX);
  /** The host does not answer. */
  readonly #outage: Trouble;
  /** It answers, but not with a head. */
  readonly #headless: Trouble;
  /** Hashes of what the present release cannot be opened without. */
  #needed: readonly string[] = [];
  /** Hash of the proof that is kept; null until one is. */
  #keptProof: string | null = null;
  #pointer: Pointer | null = null;
  #looking: Promise<Pointer> | null = null;
  #isFirst = true;
  #isClosed = false;

  constructor(options: RemoteOptions) {
    const { url, auth, cacheDir, cacheBytesMax, clock, log: write, state } = options;
    // What is cut off by the end of the program is no news.
    const log: Log = (entry) => {
      if (!this.#isClosed) write(entry);
    };
    this.#url = url;
    const site = hash('sha256', url.href).slice(0, 16);
    this.#noteName = `newest-${site}`;
    this.#proofNoteName = `proof-${site}`;
    this.#log = log;
    const answerMs = options.answerMs ?? ANSWER_MS;
    const deadline = (bytes: number) =>
      Math.min(DEADLINE_MS_MAX, answerMs + Math.ceil(bytes / BYTES_A_MS));
    this.#host = staticHost({ url, auth, connections: FETCHES_MAX, deadline });
    this.#cache = new DiskCache({ folder: cacheDir, bytesMax: cacheBytesMax, clock, log });
    this.#outage = state.trouble('data_host_unreachable');
    this.#headless = state.trouble('data_host_without_head');
    const [host, cache, outage] = [this.#host, this.#cache, this.#outage];
    const suspect = (): void => void this.mark();
    this.#files = new RemoteFiles({ ...options, host, cache, outage, suspect, log });
  }

  async mark(): Promise<string | null> {
    try {
      return (await this.#look()).mark;
    } catch {
      return null;
    }
  }

  async newest(): Promise<ReleasePlace> {
    try {
      const { head } = await this.#look();
      return this.#place(head);
    } catch (cause) {
      const where = `${this.#url.origin}${this.#url.pathname}`;
      throw new StartError(
        `Cannot read "${POINTER_PATH}" of "${where}": ${messageOf(cause)}; ` +
          'publish a release there, correct SIGNALPRESS_DATA, or wait for the host',
        { cause },
      );
    }
  }

  async kept(): Promise<ReleasePlace | null> {
    const mark = await this.#cache.noted(this.#noteName);
    if (mark === null || !/^[0-9a-f]{64}$/.test(mark)) return null;
    const head = await this.#cache.read({ sha256: mark, size: HEAD_BYTES_MAX });
    return head === null ? null : this.#place(head);
  }

  async prepare(next: KnownRelease, current: KnownRelease | null): Promise<void> {
    const started = performance.now();
    this.#run += 1;
    // The rest goes on.
    const fetched = await inTime(this.#fetchAhead(next, current, this.#run), SWITCH_MS_MAX);
    const ms = Math.round(performance.now() - started);
    const { sequence } = next.head;
    this.#log({ event: 'release_fetched', sequence, ms, ...(fetched ?? { unfinished: true }) });
  }

  async served(release: KnownRelease): Promise<void> {
    const { place, head, files } = release;
    const needed = [KEYS_PATH, OFFERS_PATH].flatMap((path) => files.get(path)?.sha256 ?? []);
    this.#needed = [place.mark, hexOf(head.files_sha256), ...needed];
    this.#pin();
    await this.#cache.write(place.mark, place.head);
    await this.#cache.note(this.#noteName, place.mark);
    if (!this.#isFirst) return;
    this.#isFirst = false;
    await this.#cache.sweep();
    await this.prepare(release, null);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#run += 1;
    await this.#host.close();
  }

  /** Asks for the head, once for many who want to know; throws a HostError. */
  #look(): Promise<Pointer> {
    this.#looking ??= this.#askHead().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #askHead(): Promise<Pointer> {
    try {
      const known = this.#pointer;
      const isFresh = known !== null && performance.now() - known.readAt < TAG_MS_MAX;
      const etag = isFresh ? known.etag : null;
      const file = await patientGet(this.#host, { path: POINTER_PATH, max: HEAD_BYTES_MAX, etag });
      if (file !== null) {
        const { bytes: head } = file;
        const mark = hash('sha256', head);
        this.#pointer = { head, mark, etag: file.etag, readAt: performance.now() };
      }
      if (this.#pointer === null) throw new HostError('status 304', { isFinal: true });
      this.#outage.end();
      this.#headless.end();
      return this.#pointer;
    } catch (error) {
      const isFinal = error instanceof HostError && error.isFinal;
      if (isFinal) this.#outage.end();
      (isFinal ? this.#headless : this.#outage).begin(messageOf(error));
      throw error;
    }
  }

  #place(head: Buffer): ReleasePlace {
    return {
      mark: hash('sha256', head),
      head,
      isThere: async () => true,
      list: (release, max) => this.#list(release, max),
      log: (path, part) => this.#logFile(path, part),
      lasting: (make, isGood) => this.#lasting(make, isGood),
      body: (entry, spend) => this.#files.body(entry, spend),
      // The cache knows hashes and no paths, and what is sold is in it: no path of a stranger says what a hash is of.
      kept: async () => null,
    };
  }

  /** Nothing is sold with a proof where none is left, so it stays as long as the release does. */
  #pin(): void {
    this.#cache.pin([...this.#needed, ...(this.#keptProof === null ? [] : [this.#keptProof])]);
  }

  /** No list names it, so the host is asked each time, and whoever asks checks what it gives. */
  async #logFile(path: string, { max, start, fault }: LogPart): Promise<Buffer | null> {
    if (this.#outage.since !== null) {
      throw new UnreachableFileError(`Cannot read "${path}": the host does not answer`);
    }
    let why: string | null;
    try {
      const ask = (): ReturnType<typeof patientGet> => patientGet(this.#host, { path, max, start });
      const bytes = (await this.#logSlots.run(ask))?.bytes ?? Buffer.alloc(0);
      why = fault(bytes);
      if (why === null) return bytes;
    } catch (cause) {
      if (cause instanceof HostError && cause.isAbsent) return null;
      const isFinal = cause instanceof HostError && cause.isFinal;
      if (!isFinal) {
        void this.mark();
        throw new UnreachableFileError(`Cannot read "${path}": ${messageOf(cause)}`, { cause });
      }
      why = messageOf(cause);
    }
    throw new DamagedFileError(`Cannot read "${path}": the host gave ${why}; publish it again`);
  }

  /** A copy of what held before stands in for what the host does not give: a start without it sells with proofs. */
  async #lasting(make: () => Promise<Buffer>, isGood: (bytes: Buffer) => boolean): Promise<Buffer> {
    let made: Buffer | null = null;
    let failure: unknown;
    try {
      made = await make();
    } catch (error) {
      failure = error;
    }
    if (made !== null && isGood(made)) {
      // It is asked for every minute, and seldom another: what is kept is not written again.
      const sha256 = hash('sha256', made);
      const isKept = sha256 === this.#keptProof;
      if (isKept && (await this.#cache.has({ sha256, size: made.length }))) return made;
      this.#keptProof = sha256;
      this.#pin();
      await this.#cache.write(sha256, made);
      await this.#cache.note(this.#proofNoteName, sha256);
      return made;
    }
    const sha256 = await this.#cache.noted(this.#proofNoteName);
    if (sha256 !== null && /^[0-9a-f]{64}$/.test(sha256)) {
      const kept = await this.#cache.read({ sha256, size: TLOG_PROOF_BYTES_MAX });
      if (kept !== null && isGood(kept)) {
        this.#keptProof = sha256;
        this.#pin();
        return kept;
      }
    }
    // Whoever asks finds out what is wrong with it.
    if (made !== null) return made;
    this.#log({ event: 'release_proof_missing', error: messageOf(failure) });
    throw failure;
  }

  /** All files where the cache has room, else those that changed and whose older bytes were used. */
  async #fetchAhead(next: KnownRelease, current: KnownRelease | null, run: number) {
    let bytes = 0;
    for (const { size } of next.files.values()) bytes += size;
    const isWhole = bytes <= this.#cache.bytesMax * WHOLE_SHARE;
    // What the release before lists is here where that one was fetched whole.
    const isKnown = !isWhole || this.#isWhole;
    const wanted: FileEntry[] = [];
    for (const entry of next.files.values()) {
      const before = isKnown ? current?.files.get(entry.path) : undefined;
      if (before?.sha256 === entry.sha256) continue;
      if (isWhole || (before !== undefined && (await this.#cache.has(before)))) wanted.push(entry);
    }
    this.#isWhole = false;
    let [at, files] = [0, 0];
    const work = async (): Promise<void> => {
      for (let entry = wanted[at++]; entry !== undefined; entry = wanted[at++]) {
        if (this.#run !== run || this.#outage.since !== null) return;
        if (await this.#files.bring(entry)) files += 1;
      }
    };
    await Promise.all(Array.from({ length: FETCHES_AHEAD }, work));
    if (this.#run === run) this.#isWhole = isWhole && files === wanted.length;
    return { files, missing: wanted.length - files };
  }

  async #list(release: Release, max: number): Promise<Buffer> {
    const at = `${RELEASES_FOLDER}/${releaseName(release)}/${FILES_NAME}`;
    const [sha256, size] = [hexOf(release.files_sha256), Math.min(max, LIST_BYTES_MAX)];
    try {
      return await this.#files.read({ path: at, at, sha256, size }, FOR_EVERYBODY);
    } catch (cause) {
      throw new StartError(messageOf(cause), { cause });
    }
  }
}

function hexOf(hash: string): string {
  return hash.slice('sha256:'.length);
}
