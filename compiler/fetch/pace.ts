import type { Clock } from './clock.ts';

const MINUTE_MS = 60_000;

/** Spreads the requests to each host evenly, so that no burst goes beyond what its agency takes. */
export class Pace {
  readonly #clock: Clock;
  /** Earliest time of the next request, by host. */
  readonly #next = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits for the turn of a request. */
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
