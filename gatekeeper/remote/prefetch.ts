import type { FileEntry } from '../../compiler/contract/release.ts';
import type { KnownRelease } from '../release/release-source.ts';
import { inTime } from '../system/in-time.ts';
import type { DiskCache } from './disk-cache.ts';
import type { RemoteFiles } from './remote-files.ts';

/** Fetches ahead at once; the others are for who waits. */
const FETCHES_AHEAD = 6;
/** How long a new release waits for what is fetched ahead. */
const SWITCH_MS_MAX = 45_000;
/** How much of the cache a release may take to be fetched whole. */
const WHOLE_SHARE = 0.8;

interface PrefetchOptions {
  readonly files: RemoteFiles;
  readonly cache: DiskCache;
  readonly isReachable: () => boolean;
}

/** What was fetched of what was wanted. */
interface Fetched {
  readonly files: number;
  readonly missing: number;
}

/**
 * Fetches files of a release before they are asked for: all of them where the cache has room, else those that changed and
 * whose older bytes were used.
 */
export class Prefetch {
  readonly #options: PrefetchOptions;
  /** Of the run that counts; one that was begun later takes its place. */
  #run = 0;
  /** The last release was fetched whole. */
  #isWhole = false;

  constructor(options: PrefetchOptions) {
    this.#options = options;
  }

  /** Ends when everything was tried, or after SWITCH_MS_MAX; the rest goes on. Null while it is not done. */
  async before(next: KnownRelease, current: KnownRelease | null): Promise<Fetched | null> {
    this.#run += 1;
    return inTime(this.#fetch({ next, current, run: this.#run }), SWITCH_MS_MAX);
  }

  stop(): void {
    this.#run += 1;
  }

  async #fetch(job: Job): Promise<Fetched> {
    const isWhole = fits(job.next, this.#options.cache.bytesMax * WHOLE_SHARE);
    const wanted = isWhole ? this.#news(job) : await this.#hot(job);
    this.#isWhole = false;
    let [at, files] = [0, 0];
    const work = async (): Promise<void> => {
      for (let entry = wanted[at++]; entry !== undefined; entry = wanted[at++]) {
        if (this.#run !== job.run || !this.#options.isReachable()) return;
        if (await this.#options.files.bring(entry)) files += 1;
      }
    };
    await Promise.all(Array.from({ length: FETCHES_AHEAD }, work));
    if (this.#run === job.run) this.#isWhole = isWhole && files === wanted.length;
    return { files, missing: wanted.length - files };
  }

  /** What the release before does not list, where that one was fetched whole. */
  #news({ next, current }: Job): readonly FileEntry[] {
    const all = [...next.files.values()];
    if (!this.#isWhole || current === null) return all;
    return all.filter(({ path, sha256 }) => current.files.get(path)?.sha256 !== sha256);
  }

  /** What changed of the files whose older bytes are in the cache. */
  async #hot({ next, current }: Job): Promise<readonly FileEntry[]> {
    const hot: FileEntry[] = [];
    for (const entry of next.files.values()) {
      const before = current?.files.get(entry.path);
      if (before === undefined || before.sha256 === entry.sha256) continue;
      if (await this.#options.cache.has(before)) hot.push(entry);
    }
    return hot;
  }
}

interface Job {
  readonly next: KnownRelease;
  readonly current: KnownRelease | null;
  readonly run: number;
}

function fits({ files }: KnownRelease, bytes: number): boolean {
  let sum = 0;
  for (const { size } of files.values()) sum += size;
  return sum <= bytes;
}
