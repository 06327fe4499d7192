import type { NoVerdict } from '../money/facilitator.ts';

/** Longest wait of one call for its turns, however often it was sent back. */
const PATIENCE_MS = 15_000;
/** The longest rest that a service is believed to need. */
const REST_MS_MAX = 60_000;
/** Calls that wait for their turn. */
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
  /** Told of each call that waits. */
  readonly #waited: () => void;
  #untilMs = Number.NEGATIVE_INFINITY;
  #atOnce = Number.POSITIVE_INFINITY;
  #running = 0;
  #tickets = 0;
  /** In the order of their tickets. */
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(waited: () => void = () => {}) {
    this.#waited = waited;
  }

  /** Milliseconds until it takes calls again; 0 when it does. */
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
    this.#untilMs = Math.max(this.#untilMs, performance.now() + Math.min(ms, REST_MS_MAX));
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

type BusyVerdict = NoVerdict & Required<Pick<NoVerdict, 'retryMs'>>;

/** Whether a service took no call because it gets too many. */
export function isBusy(outcome: { readonly verdict: string }): outcome is BusyVerdict {
  return outcome.verdict === 'none' && (outcome as NoVerdict).retryMs !== undefined;
}

const BUSY: NoVerdict = {
  verdict: 'none',
  detail: 'the facilitator takes no calls at this moment (429)',
  unsent: true,
};
