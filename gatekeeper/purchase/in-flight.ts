import type { Tender, TenderBinding, Waiters } from '../payment/tender.ts';
import type { PurchaseOutcome } from './purchase-outcome.ts';

/** Most purchases in flight at once; the next one is told to try again. */
const PURCHASES_IN_FLIGHT_MAX = 10_000;
/** Of one payer, so that nobody takes all places; far more than an agent that buys in parallel needs. */
const PURCHASES_PER_PAYER_MAX = 2000;
/** Bytes of answers that wait for their settlement, so that a slow facilitator cannot fill the memory. */
const WAITING_BYTES_MAX = 256 * 1024 * 1024;

interface RunningPurchase {
  readonly binding: TenderBinding & { readonly waiters?: Waiters } & Pick<Tender, 'shown'>;
  readonly outcome: Promise<PurchaseOutcome>;
}

/** Purchases under way in this process: the first one of a key binds it, and copies share its outcome. */
export class InFlight {
  readonly #running = new Map<string, RunningPurchase>();
  readonly #ofPayer = new Map<string, number>();
  #waitingBytes = 0;

  get(key: string): RunningPurchase | undefined {
    return this.#running.get(key);
  }

  isFull(payer: string): boolean {
    const own = this.#ofPayer.get(payer) ?? 0;
    return this.#running.size >= PURCHASES_IN_FLIGHT_MAX || own >= PURCHASES_PER_PAYER_MAX;
  }

  /** Binds the key at once and frees it when the outcome is there; `run` must not throw synchronously. */
  start(
    binding: RunningPurchase['binding'],
    run: () => Promise<PurchaseOutcome>,
  ): Promise<PurchaseOutcome> {
    const { key, payer } = binding;
    this.#ofPayer.set(payer, (this.#ofPayer.get(payer) ?? 0) + 1);
    const outcome = this.#ended(binding, run());
    this.#running.set(key, { binding, outcome });
    return outcome;
  }

  /** Reserves room for this many bytes; false if there is none. The caller must give it back with release(). */
  hold(bytes: number): boolean {
    if (this.#waitingBytes + bytes > WAITING_BYTES_MAX) return false;
    this.#waitingBytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#waitingBytes -= bytes;
  }

  async #ended(
    binding: TenderBinding,
    outcome: Promise<PurchaseOutcome>,
  ): Promise<PurchaseOutcome> {
    try {
      return await outcome;
    } finally {
      this.#free(binding);
    }
  }

  /** A later purchase of the same key stays. */
  #free(binding: TenderBinding): void {
    const { key, payer } = binding;
    if (this.#running.get(key)?.binding === binding) this.#running.delete(key);
    const left = (this.#ofPayer.get(payer) ?? 1) - 1;
    if (left === 0) this.#ofPayer.delete(payer);
    else this.#ofPayer.set(payer, left);
  }
}
