export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Milliseconds that nobody sets: what lasts is measured by them. */
  steady(): number;
  /** Waits; ends early, without an error, when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** From 0 to below 1. */
  random(): number;
}

/** Longest that a timer of Node can wait. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export function systemClock(now: () => number, random: () => number): Clock {
  return {
    now,
    steady: () => performance.now(),
    random,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) return resolve();
        const done = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', done);
          resolve();
        };
        const timer = setTimeout(done, Math.min(ms, TIMER_MS_MAX));
        signal?.addEventListener('abort', done);
      }),
  };
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^([1-9]\d{0,3})([mhd])$/;

export const DURATION_WORDS = 'minutes, hours or days, such as 15m, 1h or 7d';

/** A duration such as "15m" in milliseconds; null for any other text. */
export function durationMs(text: string): number | null {
  const [, count = '', unit = ''] = DURATION.exec(text) ?? [];
  const ms = UNITS[unit];
  return ms === undefined ? null : Number(count) * ms;
}

const MINUTE_MS = 60_000;

/** Spreads the requests to each host evenly, so that no burst goes beyond what its agency takes. */
export class Pace {
  readonly #clock: Clock;
  /** Earliest time of the next request, by host. */
  readonly #next = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async turn(host: string, perMinute: number, signal?: AbortSignal): Promise<void> {
    const now = this.#clock.now();
    const at = Math.max(now, this.#next.get(host) ?? now);
    this.#next.set(host, at + MINUTE_MS / perMinute);
    if (at > now) await this.#clock.sleep(at - now, signal);
  }

  /** Gives a turn back of which the agency noticed nothing. */
  giveBack(host: string, perMinute: number): void {
    const next = this.#next.get(host);
    if (next !== undefined) this.#next.set(host, next - MINUTE_MS / perMinute);
  }
}
