import type { Refusal } from '../money/payment.ts';

/** The complete 200 body of a request, in hand before anybody is charged. */
export interface Delivery {
  readonly body: Buffer;
  readonly contentType: string;
}

/** What moved the money, and when that was noted. */
interface Paid {
  readonly transaction: string;
  /** Milliseconds since the epoch; null where the journal does not say. */
  readonly settledMs: number | null;
}

/** What came of a payment or receipt. */
export type PurchaseOutcome =
  | ({ readonly kind: 'paid'; readonly delivery: Delivery } & Paid)
  /** Nobody was charged, and the authorization is still unused. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** Money may have moved: only the same payment may be sent again, and it is asked about after the wait. */
  | { readonly kind: 'unknown'; readonly waitMs: number }
  /** Nothing is told, because nothing shows that the buyer asks; above 0, the seconds after which it is told why. */
  | { readonly kind: 'unproven'; readonly waitS: number }
  /** We failed before any settlement was asked for, or nobody could be reached. */
  | { readonly kind: 'failed'; readonly error: string; readonly retryS: number };

/** Seconds after which a request that failed on our side is worth repeating. */
export const FAILED_RETRY_S = 2;
/** Seconds after which a payment without an outcome is worth sending again. */
export const UNKNOWN_RETRY_S = 5;

export function paid(delivery: Delivery, by: Paid): PurchaseOutcome {
  return { kind: 'paid', delivery, ...by };
}

export function refused(refusal: Refusal): PurchaseOutcome {
  return { kind: 'refused', refusal };
}

export function failed(error: string, retryS: number = FAILED_RETRY_S): PurchaseOutcome {
  return { kind: 'failed', error, retryS };
}

/** Read by copies alone that came in the instant in which nobody waited. */
export const ABANDONED = failed(
  'The connection ended before the payment was taken. Send the same payment or receipt again.',
);
export const UNKNOWN: PurchaseOutcome = { kind: 'unknown', waitMs: UNKNOWN_RETRY_S * 1000 };
export const ALREADY_USED: PurchaseOutcome = {
  kind: 'refused',
  refusal: {
    reason: 'payment_already_used',
    error:
      'this payment or receipt was already used for another request, or with another signature; send a new one',
  },
};
export const IDENTIFIER_USED: PurchaseOutcome = {
  kind: 'refused',
  refusal: {
    reason: 'payment_identifier_used',
    error:
      'your payment identifier names another purchase of yours: another request, network, payee or value; nothing was charged ' +
      'for this one; send it again with a new identifier',
  },
};
export const NO_LONGER_KEPT_REFUSAL: Refusal = {
  reason: 'paid_answer_no_longer_kept',
  error:
    'the answer that this payment or receipt bought is no longer stored; to buy it again, send a new one',
};
export const NO_LONGER_KEPT = refused(NO_LONGER_KEPT_REFUSAL);
