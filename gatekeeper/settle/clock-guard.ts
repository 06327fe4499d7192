import { DAY_MS } from '../../compiler/format/iso-time.ts';
import { DEAD_AFTER_S } from './journal.ts';

/** How far the clock may stand before the newest time in the journal: more than any correction of a running clock. */
const CLOCK_BACK_MS_MAX = 5000;

/** A clock that was set back judges payment windows wrongly: no new payment is taken until it is right or accepted. */
export function clockIsBehind(nowMs: number, newestMs: number): boolean {
  return nowMs < newestMs - CLOCK_BACK_MS_MAX;
}

/** What the operator is told about such a clock; null for any other clock. */
export function clockFailure(nowMs: number, newestMs: number): Error | null {
  if (!clockIsBehind(nowMs, newestMs)) return null;
  const [now, newest] = [new Date(nowMs).toISOString(), new Date(newestMs).toISOString()];
  return new Error(
    `Cannot take payments at "${now}": the newest time in the payment journal is ${newest}; correct the clock, ` +
      'or, if it is right now and once ran ahead, run signalpress-gate ledger accept-clock',
  );
}

/** How far the clock may be from a time that something outside tells: what is dead is dead on every clock this near. */
const CLOCK_OFF_MS_MAX = DEAD_AFTER_S * 1000;

interface OutsideTimeOptions {
  readonly clock: () => number;
  /** Milliseconds of a clock that nobody can set. */
  readonly monotonic: () => number;
}

/**
 * The time as something outside tells it: the newest block of a chain, or the `Date` of a facilitator's answer. Between two
 * of them it goes on by a clock that nobody can set. A clock that is far from it, on either side, takes no payment; and
 * nothing is deleted or given up by a time that only that clock knows.
 */
export class OutsideTime {
  readonly #by: OutsideTimeOptions;
  #told: { readonly ms: number; readonly atMs: number } | null = null;
  #offAtMs: number | null = null;

  constructor(by: OutsideTimeOptions) {
    this.#by = by;
  }

  note(ms: number): void {
    this.#told = { ms, atMs: this.#by.monotonic() };
  }

  /** What the operator is told about a clock that is off; null for any other one, and as long as nobody told a time. */
  fault(): Error | null {
    const outside = this.#now();
    const now = this.#by.clock();
    if (outside === null || Math.abs(now - outside) <= CLOCK_OFF_MS_MAX) return null;
    this.#offAtMs = this.#by.monotonic();
    const [own, told] = [new Date(now).toISOString(), new Date(outside).toISOString()];
    return new Error(
      `Cannot take payments at "${own}": the chain node, or without one the facilitator, tells ${told}; ` +
        'correct the clock, or have the node or the facilitator corrected',
    );
  }

  /** A time that has certainly come, for deleting; null before anything outside told one, and for a day after a wrong clock. */
  passedMs(): number | null {
    const outside = this.#now();
    if (outside === null || this.fault() !== null) return null;
    const sinceOff = this.#offAtMs === null ? DAY_MS : this.#by.monotonic() - this.#offAtMs;
    return sinceOff < DAY_MS ? null : Math.min(outside, this.#by.clock());
  }

  /** The earlier of both clocks, where nothing is to be given up too early. */
  earliestMs(): number {
    return Math.min(this.#by.clock(), this.#now() ?? Number.POSITIVE_INFINITY);
  }

  #now(): number | null {
    if (this.#told === null) return null;
    return this.#told.ms + this.#by.monotonic() - this.#told.atMs;
  }
}
