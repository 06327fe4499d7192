/** Failures since the last success after which a service is suspect, and how long each of them counts. */
const FAILURES_MAX = 5;
const FAILURE_COUNTS_MS = 30_000;
/** First and longest time that a service is left alone; each probe that fails doubles the time. */
const REST_MS = 1000;
const REST_MS_MAX = 30_000;
/** A suspect is probed this often at most, however many calls fail. */
const PROBE_EVERY_MS = 1000;

/** Asked, asked only after others, or skipped for a while. */
export const CIRCUIT_STATES = ['closed', 'suspect', 'open'] as const;
export type CircuitState = (typeof CIRCUIT_STATES)[number];

/** Asks the service something that no stranger can influence; says whether it answered. Must not reject. */
export type Probe = () => Promise<boolean>;

/**
 * Remembers whether a service works, so that nobody waits for one that does not. Failed calls alone prove nothing,
 * because whoever pays chooses what is asked: they make the service suspect, and only a probe that fails closes it.
 */
export class Circuit {
  readonly #clock: () => number;
  /** Times of the last failures without a success since, oldest first. */
  #failures: number[] = [];
  #probedMs = Number.NEGATIVE_INFINITY;
  #isOpen = false;
  #restMs = REST_MS;
  #untilMs = 0;

  /** `clock` in milliseconds since the epoch. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Whether it may be asked now; after each rest the first one who asks waits for a probe. */
  mayAsk(probe: Probe): boolean | Promise<boolean> {
    if (!this.#isOpen) return true;
    const now = this.#clock();
    if (now < this.#untilMs) return false;
    // The others wait for what this one finds out, but not for ever.
    this.#untilMs = now + this.#restMs;
    return this.#probe(probe);
  }

  /** Whether another service would be a better choice right now. */
  isSuspect(): boolean {
    const [oldest] = this.#failures;
    if (oldest === undefined || this.#failures.length < FAILURES_MAX) return false;
    return Math.abs(this.#clock() - oldest) < FAILURE_COUNTS_MS;
  }

  state(): CircuitState {
    if (this.#isOpen) return 'open';
    return this.isSuspect() ? 'suspect' : 'closed';
  }

  /** Notes how a call that was let through went. */
  note(succeeded: boolean, probe: Probe): void {
    if (succeeded) {
      this.#close();
      return;
    }
    const now = this.#clock();
    this.#failures = [...this.#failures, now].slice(-FAILURES_MAX);
    if (this.#isOpen || !this.isSuspect()) return;
    // Also after a clock that ran ahead was set right.
    if (Math.abs(now - this.#probedMs) < PROBE_EVERY_MS) return;
    this.#probedMs = now;
    void this.#probe(probe);
  }

  async #probe(probe: Probe): Promise<boolean> {
    const answers = await probe();
    if (!answers && (this.#isOpen || this.isSuspect())) this.#rest();
    else if (this.#isOpen) this.#close();
    return answers;
  }

  #rest(): void {
    this.#isOpen = true;
    this.#untilMs = this.#clock() + this.#restMs;
    this.#restMs = Math.min(this.#restMs * 2, REST_MS_MAX);
  }

  #close(): void {
    this.#isOpen = false;
    this.#restMs = REST_MS;
    this.#failures = [];
  }
}
