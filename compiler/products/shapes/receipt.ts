import { z } from 'zod';
import { canonicalJson } from '../../format/canonical.ts';
import { decodeBase64Url, encodeBase64Url } from '../../format/did-key.ts';
import { decodeUtf8, JsonError, type JsonObject, parseJson } from '../../format/strict-json.ts';
import { atomicAmount } from './price.ts';

/** What the fiat channel adds to a price, in per cent. */
export const RECEIPT_FEE_PERCENT = 2;
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

/** What a price costs through the fiat channel, in millionths of a dollar, rounded up to a whole one. */
export function receiptAmount(priceUsd: string): string {
  const hundredths = BigInt(atomicAmount(priceUsd)) * BigInt(100 + RECEIPT_FEE_PERCENT);
  return String((hundredths + 99n) / 100n);
}

/** Text and bytes that a processor signs: `spr1.<base64url of the canonical JSON>`. */
export function unsignedReceipt(receipt: Receipt): { text: string; bytes: Uint8Array } {
  const json = canonicalJson(receiptSchema.parse(receipt));
  const text = `${VERSION}.${encodeBase64Url(utf8(json))}`;
  return { text, bytes: bytesOf(text) };
}

/** Reads a receipt in its one spelling; null for anything else. Its signature is not checked here. */
export function parseReceipt(text: string) {
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
  return utf8(`signalpress-receipt\n${text}`);
}

// What a service signs about its sales (AUDIT.md, section 6): compact JWS, whose header and payload are canonical JSON.

const JWS_CHARS_MAX = 16_384;
const JWS = /^(([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+))\.([A-Za-z0-9_-]{86})$/;

const headerSchema = z.strictObject({
  alg: z.literal('EdDSA'),
  // The DID alone: a did:key names one key, and headers have little room.
  kid: z.string().startsWith('did:key:z6Mk').max(80),
});
const payloadSchema = z.strictObject({
  version: z.literal(1),
  /** Where the payment was settled, CAIP-2. */
  network: z.string().regex(/^eip155:[1-9][0-9]{0,17}$/),
  resourceUrl: z.url().max(9000),
  payer: z.string().regex(/^0x[0-9a-f]{40}$/),
  /** When the payment was known to be settled, unix seconds. */
  issuedAt: z.int().min(1).max(9_999_999_999),
  transaction: z.string().min(1).max(200),
  /** Of the bytes that were delivered, before any content coding. */
  bodyHash: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  /** No money moved: the service was run for a test. */
  simulated: z.literal(true).exactOptional(),
});
/** What a receipt says: this account got these bytes of this resource for this transaction. */
export type ReceiptPayload = z.infer<typeof payloadSchema>;

/** A receipt taken apart; `signed` are the bytes under its signature. */
export interface ParsedSignedReceipt {
  readonly payload: ReceiptPayload;
  readonly did: string;
  readonly signed: Uint8Array;
  readonly signature: string;
}

/** The part of a compact JWS that the key of this DID signs. */
export function jwsInput(did: string, payload: JsonObject): string {
  const header = { alg: 'EdDSA', kid: did };
  return [header, payload].map((part) => encodeBase64Url(utf8(canonicalJson(part)))).join('.');
}

/** Reads a compact JWS as a receipt; why it is none, as the end of a sentence. Its signature is not checked here. */
export function parseSignedReceipt(jws: string): ParsedSignedReceipt | string {
  const [, signed, header, payload, signature] =
    jws.length > JWS_CHARS_MAX ? [] : (JWS.exec(jws) ?? []);
  if (!signed || !header || !payload || !signature)
    return 'not a compact JWS with an Ed25519 signature';
  const head = headerSchema.safeParse(partOf(header));
  if (!head.success) return 'its header is not {"alg":"EdDSA","kid":"did:key:z6Mk…"}';
  const did = head.data.kid;
  const read = payloadSchema.safeParse(partOf(payload));
  if (!read.success) {
    return `"${read.error.issues[0]?.path.join('.') || 'its payload'}" is missing or malformed`;
  }
  // One statement has one spelling.
  if (jwsInput(did, read.data) !== signed) return 'it is not written as canonical JSON';
  return { payload: read.data, did, signed: utf8(signed), signature };
}

function partOf(text: string): unknown {
  try {
    return parseJson(decodeUtf8(decodeBase64Url(text)), { depth: 4 });
  } catch (cause) {
    if (cause instanceof JsonError || cause instanceof RangeError || cause instanceof TypeError) {
      return null;
    }
    throw cause;
  }
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
