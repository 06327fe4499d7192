import type { JsonValue } from '../format/strict-json.ts';
import type { QuotedPart } from '../products/shapes/basket.ts';
import type { BodyReport } from '../verify/body-check.ts';
import type { ReceiptReport } from '../verify/verify-receipt.ts';

/**
 * `too_expensive`: nothing was signed or sent, raise maxUsd. `not_charged`: the service has no answer to this request.
 * `refused`: the payment was not taken or not made. `unsettled`: money may have moved, redeliver `payment`, sign nothing.
 * `unverified`: paid for, but the body does not hold. `failed`: the service was not reached or failed before any payment.
 */
export type ClientErrorCode =
  | 'too_expensive'
  | 'not_charged'
  | 'refused'
  | 'unsettled'
  | 'unverified'
  | 'failed';

export interface ClientErrorFacts {
  readonly code: ClientErrorCode;
  /** What the service answered, parsed; its `error`, `usage`, `preview` say what to do. */
  readonly answer?: unknown;
  readonly status?: number;
  /** The service's words on how to raise the cap, and what costs less. */
  readonly clientHint?: unknown;
  /** The payment to redeliver. */
  readonly payment?: PendingPayment;
  readonly purchase?: PurchasedBody;
  readonly cause?: unknown;
}

/** Why a call has no result; the message says what to do. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly code: ClientErrorCode;
  readonly facts: ClientErrorFacts;

  constructor(message: string, facts: ClientErrorFacts) {
    super(message, facts);
    this.code = facts.code;
    this.facts = facts;
  }
}

/**
 * A signed payment and what it was signed for: sent again it delivers the same bytes and costs nothing more, for 30 days and
 * from anywhere. Keep it as a whole, and to yourself: the name of the purchase shows who bought it.
 */
export interface PendingPayment {
  readonly url: string;
  readonly header: 'x-payment' | 'payment-signature';
  readonly value: string;
  /** The name of the purchase, which `value` of version 2 holds itself. */
  readonly identifier?: string;
  /** When it was first sent, by the clock of the buyer: what was answered long before is none of its answers. */
  readonly sentAt?: string;
  /** The release that was offered with its price: an answer that does not say its time is of no older one. */
  readonly release?: { readonly sequence: number; readonly as_of: string };
  /** What was sent with it: the requests of a basket. */
  readonly body?: string;
  /** What it was signed for of these, as the service quoted it. */
  readonly quoted?: readonly QuotedPart[];
}

export interface PaymentReceipt {
  readonly transaction: string;
  readonly network: string;
  readonly payer: string;
}

/** A body that was paid for, holds, and answers what was asked for; `report.verdict` is `verified`, or `unsigned` for a token. */
export interface PurchasedBody<Body = JsonValue | null> {
  /** Null for CSV, which carries no signature: only its columns are looked at. */
  readonly body: Body;
  /** The body exactly as delivered: save this, `signalpress verify` takes it. */
  readonly text: string;
  /** What the offline verifier looked at; null for CSV. */
  readonly report: BodyReport | null;
  /** What the payment moves, in decimal USD. */
  readonly paidUsd: string;
  readonly receipt: PaymentReceipt | null;
  /**
   * The receipt that the service signed, as it came and as it was judged: `verified` needs the option `keys`. Null where the
   * service signs none. Keep `jws`: `signalpress verify` takes it.
   */
  readonly signedReceipt: (ReceiptReport & { readonly jws: string }) | null;
  /** Redelivers the same bytes for as long as the service remembers it, at no charge. */
  readonly payment: PendingPayment;
}
