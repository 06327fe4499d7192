import type { Log } from '../log/line-log.ts';

interface OutageOptions {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: Log;
  /** What the log calls the beginning and the end. */
  readonly begins: { readonly event: string };
  readonly ends: { readonly event: string };
}

/** Since when something does not work. The log hears of the beginning and of the end, once each. */
export class Outage {
  readonly #options: OutageOptions;
  #since: string | null = null;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  /** ISO time; null while all is well. */
  get since(): string | null {
    return this.#since;
  }

  begin(error: string): void {
    if (this.#since !== null) return;
    const { clock, log, begins } = this.#options;
    this.#since = new Date(clock()).toISOString();
    log({ ...begins, since: this.#since, error });
  }

  end(): void {
    if (this.#since === null) return;
    const { log, ends } = this.#options;
    log({ ...ends, since: this.#since });
    this.#since = null;
  }
}
