import type { PendingPayment, Purchase } from './purchase.ts';

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
  /** What the service answered, parsed; its `error`, `usage`, `example_request` say what to do. */
  readonly answer?: unknown;
  readonly status?: number;
  /** The service's words on how to raise the cap, and what costs less. */
  readonly clientHint?: unknown;
  /** The payment to redeliver. */
  readonly payment?: PendingPayment;
  readonly purchase?: Purchase;
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
