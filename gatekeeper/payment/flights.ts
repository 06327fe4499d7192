import type { Outcome } from './payment-reply.ts';

/** Payments that may be in flight at once; the next one is told to come again. */
export const PAYMENTS_IN_FLIGHT_MAX = 10_000;
/** Of one payer, so that nobody fills all places; far more than an agent that buys in parallel has. */
export const PAYMENTS_PER_PAYER_MAX = 2000;
/** Bytes of answers that wait for their settlement, so that a slow facilitator cannot fill the memory. */
export const WAITING_BYTES_MAX = 256 * 1024 * 1024;

/** What a payment in flight is bound to. */
export interface Binding {
  readonly key: string;
  readonly payer: string;
  readonly resource: string;
  readonly signed: string;
}
interface Flight {
  readonly binding: Binding;
  readonly outcome: Promise<Outcome>;
}

/** Payments that are under way in this process: the first one of a key binds it, copies share its outcome. */
export class Flights {
  readonly #flights = new Map<string, Flight>();
  readonly #ofPayer = new Map<string, number>();
  #waitingBytes = 0;

  get(key: string): Flight | undefined {
    return this.#flights.get(key);
  }

  isFull(payer: string): boolean {
    const own = this.#ofPayer.get(payer) ?? 0;
    return this.#flights.size >= PAYMENTS_IN_FLIGHT_MAX || own >= PAYMENTS_PER_PAYER_MAX;
  }

  /** Binds the key at once and frees it when the outcome is there; `run` must not throw synchronously. */
  start(binding: Binding, run: () => Promise<Outcome>): Promise<Outcome> {
    const { key, payer } = binding;
    this.#ofPayer.set(payer, (this.#ofPayer.get(payer) ?? 0) + 1);
    const outcome = this.#fly(binding, run());
    this.#flights.set(key, { binding, outcome });
    return outcome;
  }

  /** Takes room for so many bytes; false when there is none. Who got it gives it back with release(). */
  hold(bytes: number): boolean {
    if (this.#waitingBytes + bytes > WAITING_BYTES_MAX) return false;
    this.#waitingBytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#waitingBytes -= bytes;
  }

  async #fly({ key, payer }: Binding, outcome: Promise<Outcome>): Promise<Outcome> {
    try {
      return await outcome;
    } finally {
      this.#end(key, payer);
    }
  }

  #end(key: string, payer: string): void {
    this.#flights.delete(key);
    const left = (this.#ofPayer.get(payer) ?? 1) - 1;
    if (left === 0) this.#ofPayer.delete(payer);
    else this.#ofPayer.set(payer, left);
  }
}
