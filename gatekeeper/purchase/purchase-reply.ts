import type { TenderHeader } from '../http/header-facts.ts';
import { jsonReply, PRIVATE_NO_STORE, type Reply } from '../http/reply.ts';
import type { Refusal } from '../money/payment.ts';
import type { Challenger } from '../offer/challenge.ts';
import type { PurchaseRequest, Tender } from '../payment/tender.ts';
import { unprovenReply } from './buyer-proof.ts';
import { FAILED_RETRY_S, type PurchaseOutcome } from './purchase-outcome.ts';
import type { SignedReceipts } from './signed-receipts.ts';

/** The request that gets the reply. */
interface TenderedRequest extends Pick<PurchaseRequest, 'endpoint' | 'target' | 'paymentHeader'> {
  /** Null for what could not be read: nobody has paid with it. */
  readonly tender: Pick<Tender, 'key' | 'resource' | 'version' | 'paidHeader' | 'paidBy'> | null;
}

/** What replies are made with. */
interface ReplyTerms {
  readonly challenger: Challenger;
  /** Signs what was delivered, where receipts are on. */
  readonly receipts?: SignedReceipts | undefined;
}

/** A reply, with who paid where somebody did. */
export type PurchaseReply = Reply;

/** Turns an outcome into the reply of one request; copies of a payment are each answered in their own spelling. */
export function purchaseReply(
  outcome: PurchaseOutcome,
  asked: TenderedRequest,
  { challenger, receipts }: ReplyTerms,
): PurchaseReply {
  switch (outcome.kind) {
    case 'paid':
      return paidReply(outcome, asked, receipts);
    case 'refused':
      return refusalReply(outcome.refusal, asked, challenger);
    case 'unknown':
      return unknownReply(asked.paymentHeader, outcome.waitMs);
    case 'unproven':
      return unprovenReply(outcome.waitS, null);
    case 'failed':
      return failedReply(outcome.error, outcome.retryS);
  }
}

function paidReply(
  { delivery, transaction, settledMs }: Extract<PurchaseOutcome, { kind: 'paid' }>,
  { tender }: TenderedRequest,
  receipts: SignedReceipts | undefined,
): PurchaseReply {
  if (tender === null) throw new TypeError('Cannot tell of a payment that was not read');
  const { body, contentType } = delivery;
  const { key, resource, version } = tender;
  const sale = { key, resource, body, transaction, settledMs };
  const receipt = version === 2 ? receipts?.(sale) : undefined;
  const headers = [['content-type', contentType], PRIVATE_NO_STORE] as const;
  const paid = tender.paidHeader(transaction, receipt);
  const reply = { status: 200, headers: [...headers, paid], body };
  return tender.paidBy === null ? reply : { ...reply, payer: tender.paidBy };
}

/** The challenge again, with the reason of the refusal first. */
function refusalReply(refusal: Refusal, asked: TenderedRequest, challenger: Challenger): Reply {
  const error = `${refusal.reason}: ${refusal.error}`;
  return challenger.challenge(asked.endpoint, asked.target, error);
}

/** 410 where the terms cannot be named again, because nothing sells it now. */
export function noLongerOffered({ reason, error }: Refusal): Reply {
  const text = `${reason}: ${error}. What it was for is no longer offered`;
  return jsonReply(410, { error: text, manifest: '/manifest' });
}

/** 503 for a failure of ours that charged nobody. */
export function failedReply(error: string, retryS: number = FAILED_RETRY_S): Reply {
  const body = { error: `Not charged. ${error}`, retryable: true, retry_after_s: retryS };
  return jsonReply(503, body, [['retry-after', String(retryS)]]);
}

/** 503 while nobody knows whether the money moved. */
export function unknownReply(paymentHeader: TenderHeader, waitMs: number): Reply {
  const header = headerName(paymentHeader);
  const proof =
    paymentHeader.kind === 'receipt'
      ? ''
      : ' from the same address, or with its payment identifier or SIGN-IN-WITH-X';
  const error = `The outcome of your payment is not known yet. Send the same ${header} again${proof}; do not sign a new one, or you may pay twice.`;
  const waitS = Math.max(1, Math.ceil(waitMs / 1000));
  const body = { error, retryable: true, retry_after_s: waitS };
  return jsonReply(503, body, [['retry-after', String(waitS)]]);
}

function headerName(paymentHeader: TenderHeader): string {
  if (paymentHeader.kind === 'receipt') return 'X-RECEIPT';
  return paymentHeader.version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE';
}
