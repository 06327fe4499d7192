import { z } from 'zod';
import { canonicalJson } from './canonical.ts';
import { decodeBase64Url, encodeBase64Url } from './did-key.ts';
import { atomicAmount } from './price.ts';
import { decodeUtf8, parseJson } from './strict-json.ts';

/** What the fiat channel adds to a price, in per cent. */
export const RECEIPT_FEE_PERCENT = 2;
/** Longest receipt that is looked at. */
const RECEIPT_CHARS_MAX = 12_000;
const VERSION = 'spr1';
const PARTS = /^(spr1\.([A-Za-z0-9_-]+))\.([A-Za-z0-9_-]{86})$/;

/** A processor's statement that this amount was taken for this one request. */
const receiptSchema = z.strictObject({
  /** Millionths of a dollar, digits only. */
  amount: z.string().regex(/^[1-9][0-9]{0,11}$/),
  currency: z.literal('USD'),
  /** Unix seconds; an unspent receipt is worthless from then on. */
  expires: z.int().min(1).max(9_999_999_999),
  /** 16 random bytes in base64url: spent once. */
  id: z.string().regex(/^[A-Za-z0-9_-]{22}$/),
  /** Method and canonical path and query, `GET /gauge?entity=…&signal_id=…`. */
  resource: z.string().min(5).max(8300),
});
export type Receipt = z.infer<typeof receiptSchema>;

/** A receipt taken apart; `signed` are the bytes under its signature. */
export interface ParsedReceipt {
  readonly receipt: Receipt;
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
}

/** What a price costs through the fiat channel, in millionths of a dollar, rounded up to a whole one. */
export function receiptAmount(priceUsd: string): string {
  const hundredths = BigInt(atomicAmount(priceUsd)) * BigInt(100 + RECEIPT_FEE_PERCENT);
  return String((hundredths + 99n) / 100n);
}

/** Text and bytes that a processor signs: `spr1.<base64url of the canonical JSON>`. */
export function unsignedReceipt(receipt: Receipt): { text: string; bytes: Uint8Array } {
  const json = canonicalJson(receiptSchema.parse(receipt));
  const text = `${VERSION}.${encodeBase64Url(new TextEncoder().encode(json))}`;
  return { text, bytes: bytesOf(text) };
}

/** Reads a receipt in its one spelling; null for anything else. Its signature is not checked here. */
export function parseReceipt(text: string): ParsedReceipt | null {
  if (text.length > RECEIPT_CHARS_MAX) return null;
  const [, head = '', payload = '', signature = ''] = PARTS.exec(text) ?? [];
  if (head === '') return null;
  try {
    const json = decodeUtf8(decodeBase64Url(payload));
    const receipt = receiptSchema.parse(parseJson(json));
    if (canonicalJson(receipt) !== json) return null;
    return { receipt, signed: bytesOf(head), signature: decodeBase64Url(signature) };
  } catch {
    return null;
  }
}

/** A purpose in front, so that a key which signs other things signs no receipt by accident. */
function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(`signalpress-receipt\n${text}`);
}
