import type { PaymentBinding } from '../money/journal.ts';
import type { TenderBinding } from '../payment/tender.ts';
import { BoundedMap } from '../system/bounded-map.ts';
import { UNKNOWN_RETRY_S } from './purchase-outcome.ts';

/** Doubts that are remembered; the oldest make room, which only means that somebody is asked earlier. */
const DOUBTS_MAX = 20_000;

/** Milliseconds in which nobody is asked again about the same doubt: the Retry-After of its answer. */
const DOUBT_REST_MS = UNKNOWN_RETRY_S * 1000;

/** No more of a payment than tells it from another: there are many. */
type Doubt = PaymentBinding & { readonly askedMs: number };

/**
 * Settlements that were asked about a moment ago and are still in doubt. Until the time that the buyer was told to wait
 * is over, a repeat is answered from here: a doubt is asked about once per key and Retry-After, however often it is sent.
 */
export class Doubts {
  readonly #doubts = new BoundedMap<string, Doubt>(DOUBTS_MAX);

  /** Milliseconds until the key may be asked about again; 0 when it may be now. */
  waitMs({ key, resource, signed }: TenderBinding, nowMs: number): number {
    const doubt = this.#doubts.get(key);
    if (doubt === undefined) return 0;
    const { askedMs } = doubt;
    // A clock that was set back must not make the wait longer.
    const restMs = DOUBT_REST_MS - Math.abs(nowMs - askedMs);
    if (restMs <= 0) this.#doubts.delete(key);
    const isSame = doubt.resource === resource && doubt.signed === signed;
    return isSame ? Math.max(0, restMs) : 0;
  }

  /** Remembers that somebody was asked about the key just now. */
  note({ key, resource, signed }: TenderBinding, askedMs: number): void {
    this.#doubts.set(key, { resource, signed, askedMs });
  }
}
