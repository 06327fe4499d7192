import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import { type Challenger, challengeReply } from '../offer/challenge.ts';
import { type Header, jsonReply, PRIVATE_NO_STORE, type Reply } from '../reply.ts';
import type { Refusal, X402Version } from './payment-header.ts';

/** The complete 200 body of a request, in hand before anybody is charged. */
export interface Delivery {
  readonly body: Buffer;
  readonly contentType: string;
}

/** What came of a payment, whatever version asked. */
export type Outcome =
  | {
      readonly kind: 'paid';
      readonly delivery: Delivery;
      readonly transaction: string;
      readonly payer: string;
    }
  /** Nobody was charged and nothing is burnt. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** Money may have moved: only the same payment may be sent again. */
  | { readonly kind: 'unknown' }
  /** There was no answer to sell; each request that shares this says why for itself. */
  | { readonly kind: 'undelivered' }
  /** We failed before any settlement was asked for. */
  | { readonly kind: 'failed'; readonly error: string };

/** Seconds after which a payment without an outcome is worth sending again. */
const UNKNOWN_RETRY_S = 5;
/** Seconds after which a request that failed on our side is worth repeating. */
const FAILED_RETRY_S = 2;

/** The request that an outcome is told to. */
export interface Asked {
  readonly endpoint: Endpoint;
  readonly target: string;
  readonly version: X402Version;
}

/** A reply, or what stands in for the one of a request that has no answer. */
export type UnpaidReply = Reply & { readonly isUndelivered?: true };

/** Turns an outcome into the reply of one request. */
export function paymentReply(outcome: Outcome, asked: Asked, challenger: Challenger): UnpaidReply {
  switch (outcome.kind) {
    case 'paid': {
      const { delivery, transaction, payer } = outcome;
      const headers = paidHeaders(delivery, { transaction, payer, asked, challenger });
      return { status: 200, headers, body: delivery.body };
    }
    case 'refused':
      return refusalReply(outcome.refusal, asked, challenger);
    case 'unknown':
      return unknownReply(asked.version);
    case 'undelivered':
      return undeliveredReply();
    case 'failed':
      return failedReply(outcome.error);
  }
}

/** The challenge again, with the reason of the refusal first. */
export function refusalReply(refusal: Refusal, asked: Asked, challenger: Challenger): Reply {
  const error = `${refusal.reason}: ${refusal.error}`;
  return challengeReply(challenger.challenge(asked.endpoint, asked.target, error));
}

/** 503 where no answer could be made, unless the request finds out why. */
export function undeliveredReply(): UnpaidReply {
  return { ...failedReply('The answer could not be read. Ask again.'), isUndelivered: true };
}

/** 503 for a failure of ours that charged nobody. */
export function failedReply(error: string): Reply {
  const body = { error: `Not charged. ${error}`, retryable: true, retry_after_s: FAILED_RETRY_S };
  return jsonReply(503, body, [['retry-after', String(FAILED_RETRY_S)]]);
}

function unknownReply(version: X402Version): Reply {
  const header = paymentHeader(version);
  const error = `The outcome of your payment is not known yet. Send the same ${header} again; do not sign a new one, or you may pay twice.`;
  const body = { error, retryable: true, retry_after_s: UNKNOWN_RETRY_S };
  return jsonReply(503, body, [['retry-after', String(UNKNOWN_RETRY_S)]]);
}

function paymentHeader(version: X402Version): string {
  return version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE';
}

interface Receipt {
  readonly transaction: string;
  readonly payer: string;
  readonly asked: Asked;
  readonly challenger: Challenger;
}

function paidHeaders(delivery: Delivery, receipt: Receipt): Header[] {
  const { transaction, payer, asked, challenger } = receipt;
  const v1 = asked.version === 1;
  const network = v1 ? challenger.network.name : challenger.network.caip2;
  const json = JSON.stringify({ success: true, transaction, network, payer });
  const name = v1 ? 'x-payment-response' : 'payment-response';
  return [
    ['content-type', delivery.contentType],
    PRIVATE_NO_STORE,
    [name, Buffer.from(json, 'utf8').toString('base64')],
  ];
}
