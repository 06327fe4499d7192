import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson } from '../contract/canonical.ts';
import { parseJson } from '../contract/strict-json.ts';
import type { KeyTrust } from '../verify/key-trust.ts';
import { receiptIn } from '../verify/receipt-text.ts';
import { verifyReceipt } from '../verify/verify-receipt.ts';
import type { PendingPayment, PurchasedBody } from './client-error.ts';

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** What a receipt has to agree with. */
interface ReceiptSale {
  /** The value of `PAYMENT-RESPONSE`; null without one. */
  readonly header: string | null;
  readonly bytes: Uint8Array;
  readonly payment: PendingPayment;
  /** Path and query as they were asked for and as the catalogue writes them; null for what it does not know. */
  readonly targets: { readonly asked: string; readonly canonical: string } | null;
}

/**
 * The signed receipt that came with an answer, judged against what was sent and delivered; null where none came. It never keeps
 * a body back: what was bought is there all the same.
 */
export function signedReceiptOf(
  sale: ReceiptSale,
  trust: KeyTrust,
): PurchasedBody['signedReceipt'] {
  const { header, bytes, payment, targets } = sale;
  const jws = header === null ? null : receiptIn(header);
  if (jws === null) return null;
  const expect = targets === null ? undefined : requestOf(payment, targets);
  return { jws, ...verifyReceipt(jws, trust, { body: bytes, expect, payer: payerOf(payment) }) };
}

/** Path and query behind the host: a service is often reached by another address than it has in public. */
export function requestOf(
  { url, body }: PendingPayment,
  { asked, canonical }: NonNullable<ReceiptSale['targets']>,
): string {
  const base = url.endsWith(asked) ? url.slice(0, url.length - asked.length) : '';
  const posted = body === undefined ? '' : `?digest=${digestOf(body)}`;
  return base.replace(/^https?:\/\/[^/]*/i, '') + canonical + posted;
}

/** What stands for the body of a basket in its request: hex of the hash of its canonical JSON. */
function digestOf(body: string): string {
  return bytesToHex(sha256(utf8ToBytes(canonicalJson(parseJson(body)))));
}

/** The account that signed a payment; undefined where it names none. */
export function payerOf({ value }: PendingPayment): string | undefined {
  try {
    const payer: unknown = JSON.parse(atob(value)).payload.authorization.from;
    return typeof payer === 'string' && ADDRESS.test(payer) ? payer : undefined;
  } catch {
    return undefined;
  }
}
