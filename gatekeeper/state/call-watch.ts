/** How long a slow call counts after it ended: others may be as slow, and the log must not hear of each. */
const SLOW_COUNTS_MS = 30_000;

interface CallWatchOptions {
  /** A call that takes longer is slow. */
  readonly slowMs: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** Notices while they run that calls take too long; what hangs is noticed before it ends. */
export class CallWatch {
  readonly #slowMs: number;
  readonly #now: () => number;
  /** When each call under way began, the oldest first. */
  readonly #running = new Set<{ readonly at: number }>();
  #slowAt = Number.NEGATIVE_INFINITY;

  constructor({ slowMs, now = () => performance.now() }: CallWatchOptions) {
    this.#slowMs = slowMs;
    this.#now = now;
  }

  async watched<T>(call: () => Promise<T>): Promise<T> {
    const own = { at: this.#now() };
    this.#running.add(own);
    try {
      return await call();
    } finally {
      // It may be slow without anybody having looked meanwhile.
      if (this.#running.delete(own)) this.#note(own.at);
    }
  }

  /** Leaves out what is under way, and what was slow before. */
  forget(): void {
    this.#running.clear();
    this.#slowAt = Number.NEGATIVE_INFINITY;
  }

  /** That a call is slow, or was not long ago; null while all are quick enough. */
  fault(call: string): string | null {
    const [oldest] = this.#running;
    if (oldest !== undefined) this.#note(oldest.at);
    if (this.#now() - this.#slowAt >= SLOW_COUNTS_MS) return null;
    return `${call} takes more than ${this.#slowMs / 1000} s`;
  }

  #note(startedAt: number): void {
    const now = this.#now();
    if (now - startedAt >= this.#slowMs) this.#slowAt = now;
  }
}
