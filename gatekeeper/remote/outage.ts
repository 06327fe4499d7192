import type { Log } from '../http/line-log.ts';

/** Between two attempts while nothing comes of them: twice as long each time, between these. */
const PAUSE_MS_MIN = 250;
const PAUSE_MS_MAX = 15_000;

export interface OutageOptions {
  /** Milliseconds since the epoch, for people. */
  readonly clock: () => number;
  /** Milliseconds of a steady clock. */
  readonly steady: () => number;
  readonly log: Log;
  /** What the log calls the beginning and the end. */
  readonly events: { readonly begins: string; readonly ends: string };
}

/** Whether something works, since when it does not, and when it is tried again. The log hears of each change once. */
export class Outage {
  readonly #options: OutageOptions;
  #sinceMs: number | null = null;
  #failures = 0;
  #nextAt = 0;
  #workedAt = Number.NEGATIVE_INFINITY;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  /** When it began, as an ISO time; null while all is well. */
  get since(): string | null {
    return this.#sinceMs === null ? null : new Date(this.#sinceMs).toISOString();
  }

  /** Whether to try now. While nothing works, one caller is let through for each pause. */
  mayTry(): boolean {
    if (this.#sinceMs === null) return true;
    const now = this.#options.steady();
    if (now < this.#nextAt) return false;
    this.#nextAt = now + this.#pause();
    return true;
  }

  /** What was begun at `startedAt` of the steady clock came to nothing. It says little if something else worked since. */
  failed(startedAt: number, error: string): void {
    if (this.#workedAt >= startedAt) return;
    this.#failures += 1;
    this.#nextAt = this.#options.steady() + this.#pause();
    if (this.#sinceMs !== null) return;
    this.#sinceMs = this.#options.clock();
    this.#options.log({ event: this.#options.events.begins, since: this.since, error });
  }

  worked(): void {
    this.#workedAt = this.#options.steady();
    this.#failures = 0;
    if (this.#sinceMs === null) return;
    const since = this.since;
    this.#sinceMs = null;
    this.#options.log({ event: this.#options.events.ends, since });
  }

  #pause(): number {
    return Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** Math.min(this.#failures, 10));
  }
}
