import { createHash } from 'node:crypto';
import type { ReceiptPayload } from '../../../compiler/products/shapes/receipt.ts';
import { OFFER_RECEIPT, type ServiceSigner } from '../../settle/extensions.ts';
import type { JournalEntry } from '../../settle/journal.ts';
import type { Network } from '../../settle/networks.ts';
import type { Refusal } from '../../settle/payment.ts';
import type { TenderHeader } from '../../wire/header-facts.ts';
import { jsonReply, PRIVATE_NO_STORE, type Reply } from '../../wire/reply.ts';
import { tooMany } from '../../wire/request.ts';
import type { Challenger } from '../offer/challenge.ts';
import { type PurchaseRequest, type Tender, targetOfResource } from '../payment/tender.ts';

interface TenderedRequest extends Pick<PurchaseRequest, 'endpoint' | 'target' | 'paymentHeader'> {
  /** Null for what could not be read: nobody has paid with it. */
  readonly tender: Pick<Tender, 'key' | 'resource' | 'version' | 'paidHeader' | 'paidBy'> | null;
}

/** Turns an outcome into the reply of one request; copies of a payment are each answered in their own spelling. */
export function purchaseReply(
  outcome: PurchaseOutcome,
  asked: TenderedRequest,
  { challenger, receipts }: { challenger: Challenger; receipts?: SignedReceipts | undefined },
): Reply {
  switch (outcome.kind) {
    case 'paid':
      return paidReply(outcome, asked, receipts);
    case 'refused':
      // The challenge again, with the reason of the refusal first.
      return challenger.challenge(
        asked.endpoint,
        asked.target,
        `${outcome.refusal.reason}: ${outcome.refusal.error}`,
      );
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
): Reply {
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

/** 410 where the terms cannot be named again, because nothing sells it now. */
export function noLongerOffered({ reason, error }: Refusal): Reply {
  const text = `${reason}: ${error}. What it was for is no longer offered`;
  return jsonReply(410, { error: text, manifest: '/manifest' });
}

/** No terms stand in it: whoever bought must not sign a second payment for the same. */
export function unprovenReply(waitS: number, fault: Refusal | null): Reply {
  if (waitS > 0) return tooMany(waitS);
  const error = fault === null ? HOW_TO_PROVE : `${fault.reason}: ${fault.error}`;
  return jsonReply(402, { x402Version: 1, error, code: CODE, accepts: [] });
}

const CODE = 'sign_in_to_redeliver';
const HOW_TO_PROVE =
  `${CODE}: this payment is known here, and what it bought is for its buyer alone; send it again with the payment identifier ` +
  'of its first request, or beside it SIGN-IN-WITH-X: a message that the account which paid signs for this URL';

/** 503 for a failure of ours that charged nobody. */
export function failedReply(error: string, retryS: number = FAILED_RETRY_S): Reply {
  const body = { error: `Not charged. ${error}`, retryable: true, retry_after_s: retryS };
  return jsonReply(503, body, [['retry-after', String(retryS)]]);
}

/** 503 while nobody knows whether the money moved. */
export function unknownReply(paymentHeader: TenderHeader, waitMs: number): Reply {
  const isReceipt = paymentHeader.kind === 'receipt';
  const version = isReceipt ? null : paymentHeader.version;
  const ofPayment = version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE';
  const header = isReceipt ? 'X-RECEIPT' : ofPayment;
  const proof = isReceipt
    ? ''
    : ' from the same address, or with its payment identifier or SIGN-IN-WITH-X';
  const error = `The outcome of your payment is not known yet. Send the same ${header} again${proof}; do not sign a new one, or you may pay twice.`;
  const waitS = Math.max(1, Math.ceil(waitMs / 1000));
  const body = { error, retryable: true, retry_after_s: waitS };
  return jsonReply(503, body, [['retry-after', String(waitS)]]);
}

/** The complete 200 body of a request, in hand before anybody is charged. */
export interface Delivery {
  readonly body: Buffer;
  readonly contentType: string;
}

interface Paid {
  readonly transaction: string;
  /** Milliseconds since the epoch; null where the journal does not say. */
  readonly settledMs: number | null;
}

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
const FAILED_RETRY_S = 2;
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

/** Longest URL in a receipt: the header that holds it stays under 8 KB. */
const RESOURCE_CHARS_MAX = 1536;

/** What a receipt is made of: all of it stands in the journal, so a redelivery has the same receipt. */
interface Sale extends Pick<JournalEntry, 'key' | 'resource' | 'settledMs'> {
  readonly body: Buffer;
  readonly transaction: string;
}

/** The extension of the header that says what was paid; undefined where no receipt can be signed. Never throws. */
export type SignedReceipts = (sale: Sale) => object | undefined;

export interface ReceiptTerms {
  readonly signer: ServiceSigner;
  readonly baseUrl: string;
  /** No money moves here. */
  readonly isSimulated: boolean;
}

interface ReceiptOptions extends ReceiptTerms {
  readonly networks: readonly Network[];
  readonly report: (error: unknown) => void;
}

/** Signs who got what for which transaction. It never decides about the answer: without a valid key that is delivered alone. */
export function signedReceipts(options: ReceiptOptions): SignedReceipts {
  const { signer, report } = options;
  return (sale) => {
    try {
      const payload = signer.fault() === null ? payloadOf(sale, options) : null;
      if (payload === null) return undefined;
      const receipt = { format: 'jws', signature: signer.sign(payload) };
      return { [OFFER_RECEIPT]: { info: { receipt }, schema: SCHEMA } };
    } catch (error) {
      report(error);
      return undefined;
    }
  };
}

const SCHEMA = { type: 'object', required: ['receipt'] };

/** Null for a processor's receipt, which names no payer, for what does not fit, and for a sale from before the key counted. */
function payloadOf(
  { key, resource, body, transaction, settledMs }: Sale,
  { signer, baseUrl, isSimulated, networks }: ReceiptOptions,
): ReceiptPayload | null {
  const network = networks.find(({ name, asset }) =>
    key.startsWith(`${name}|${asset}|`.toLowerCase()),
  );
  const [, , payer] = key.split('|');
  const resourceUrl = baseUrl + targetOfResource(resource);
  if (network === undefined || payer === undefined || settledMs === null) return null;
  if (resourceUrl.length > RESOURCE_CHARS_MAX) return null;
  const issuedAt = Math.floor(settledMs / 1000);
  if (signer.fault(issuedAt * 1000) !== null) return null;
  return {
    version: 1,
    network: network.caip2,
    resourceUrl,
    payer,
    issuedAt,
    transaction,
    bodyHash: `sha256:${createHash('sha256').update(body).digest('hex')}`,
    ...(isSimulated ? { simulated: true } : {}),
  };
}
