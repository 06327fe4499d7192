import { z } from 'zod';
import { canonicalJson } from './canonical.ts';
import { decodeBase64Url, encodeBase64Url } from './did-key.ts';
import { decodeUtf8, JsonError, type JsonObject, parseJson } from './strict-json.ts';

// What a service signs about its sales (RECEIPTS.md): compact JWS, whose header and payload are canonical JSON.

/** Longest receipt that is looked at. */
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
  /** The key that it names. */
  readonly did: string;
  readonly signed: Uint8Array;
  readonly signature: string;
}

/** The part of a compact JWS that the key of this DID signs. */
export function jwsInput(did: string, payload: JsonObject): string {
  const header = { alg: 'EdDSA', kid: did };
  return [header, payload].map((part) => encodeBase64Url(bytesOf(canonicalJson(part)))).join('.');
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
  return { payload: read.data, did, signed: bytesOf(signed), signature };
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

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
