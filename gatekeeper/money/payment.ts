import type { Authorization } from './signature.ts';

/** Protocol version: `X-PAYMENT` carries 1, `PAYMENT-SIGNATURE` carries 2. */
export type X402Version = 1 | 2;

/** The terms that a v2 payer says to have accepted. */
export interface AcceptedTerms {
  readonly amount: string;
  readonly asset: string;
  readonly payTo: string;
}

/** A well-formed payment; nothing in it is checked against our terms yet. */
export interface Payment {
  readonly version: X402Version;
  readonly scheme: string;
  readonly network: string;
  readonly accepted: AcceptedTerms | null;
  readonly signature: string;
  readonly authorization: Authorization;
}

/** Why a payment is not taken: `reason` for programs, an open set; `error` for people. */
export interface Refusal {
  readonly reason: string;
  readonly error: string;
}

/** True for the refusal half of an answer that may be one. */
export function isRefusal(answer: object): answer is Refusal {
  return 'reason' in answer;
}
