import type { NoVerdict } from './facilitator.ts';

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

/** Remembers whether a service works. Failed calls make it suspect, since payers choose them; only a failed probe closes it. */
export class Circuit {
  readonly #clock: () => number;
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

/** Longest wait of one call for its turns, however often it was sent back. */
const PATIENCE_MS = 15_000;
/** The longest rest that a service is believed to need. */
const BUSY_MS_MAX = 60_000;
const WAITING_MAX = 2000;

interface Waiting {
  readonly ticket: number;
  readonly go: (isItsTurn: boolean) => void;
}

/**
 * The turns of calls to a service that says 429: it works, and takes few calls at this moment. While it rests it gets none;
 * then one, and one more at once for each that it answers. Whoever is patient waits in the order in which the calls came, and
 * waits again when the call is sent back. Everybody else hears at once that it is busy.
 */
export class BackPressure {
  readonly #waited: () => void;
  #untilMs = Number.NEGATIVE_INFINITY;
  #atOnce = Number.POSITIVE_INFINITY;
  #running = 0;
  #tickets = 0;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(waited: () => void = () => {}) {
    this.#waited = waited;
  }

  waitMs(): number {
    return Math.max(0, Math.ceil(this.#untilMs - performance.now()));
  }

  async run<T extends { readonly verdict: string }>(
    ask: () => Promise<T | NoVerdict>,
    isPatient: boolean,
  ): Promise<T | NoVerdict> {
    this.#tickets += 1;
    const ticket = this.#tickets;
    const endMs = performance.now() + PATIENCE_MS;
    let last: T | NoVerdict | null = null;
    for (;;) {
      if (!this.#take() && !(isPatient && (await this.#turn(ticket, endMs)))) {
        return last ?? { ...BUSY, retryMs: this.waitMs() };
      }
      const outcome = await this.#asked(ask);
      if (!isBusy(outcome) || !isPatient) return outcome;
      last = outcome;
    }
  }

  /** Nobody overtakes those who wait. */
  #take(): boolean {
    if (this.#waiting.length > 0 || this.waitMs() > 0) return false;
    if (this.#running === 0) this.#atOnce = Number.POSITIVE_INFINITY;
    const isFree = this.#running < this.#atOnce;
    if (isFree) this.#running += 1;
    return isFree;
  }

  #turn(ticket: number, endMs: number): Promise<boolean> {
    if (this.#untilMs > endMs || this.#waiting.length >= WAITING_MAX) return Promise.resolve(false);
    this.#waited();
    return new Promise((resolve) => {
      const one: Waiting = {
        ticket,
        go: (isItsTurn) => {
          clearTimeout(timer);
          resolve(isItsTurn);
        },
      };
      const giveUp = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== one);
        one.go(false);
      };
      const timer = setTimeout(giveUp, endMs - performance.now());
      const after = this.#waiting.findLastIndex((other) => other.ticket < ticket);
      this.#waiting.splice(after + 1, 0, one);
      this.#next();
    });
  }

  async #asked<T extends { readonly verdict: string }>(
    ask: () => Promise<T | NoVerdict>,
  ): Promise<T | NoVerdict> {
    try {
      const outcome = await ask();
      if (isBusy(outcome)) this.#rest(outcome.retryMs);
      // What was asked before the rest tells nothing of what it takes after it.
      else if (this.waitMs() === 0) this.#atOnce += 1;
      return outcome;
    } finally {
      this.#running -= 1;
      this.#next();
    }
  }

  #rest(ms: number): void {
    this.#atOnce = 1;
    this.#untilMs = Math.max(this.#untilMs, performance.now() + Math.min(ms, BUSY_MS_MAX));
  }

  #next(): void {
    clearTimeout(this.#timer);
    while (this.#waiting.length > 0 && this.waitMs() === 0 && this.#running < this.#atOnce) {
      this.#running += 1;
      this.#waiting.shift()?.go(true);
    }
    const restMs = this.waitMs();
    if (this.#waiting.length === 0 || restMs === 0) return;
    this.#timer = setTimeout(() => this.#next(), restMs).unref();
  }
}

/** Whether a service took no call because it gets too many. */
export function isBusy(outcome: {
  readonly verdict: string;
}): outcome is NoVerdict & Required<Pick<NoVerdict, 'retryMs'>> {
  return outcome.verdict === 'none' && (outcome as NoVerdict).retryMs !== undefined;
}

const BUSY: NoVerdict = {
  verdict: 'none',
  detail: 'the facilitator takes no calls at this moment (429)',
  unsent: true,
};
