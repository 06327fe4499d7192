import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { bytesOfOctets } from '../format/base64.ts';
import { isoTime } from '../format/iso-time.ts';
import {
  type KeyHistory,
  receiptKeyStanding,
  rootDid,
  withReceiptKeys,
} from '../format/key-history.ts';
import {
  decodeUtf8,
  isObject,
  JsonError,
  type JsonValue,
  parseJson,
} from '../format/strict-json.ts';
import {
  type ParsedSignedReceipt,
  parseSignedReceipt,
  type ReceiptPayload,
} from '../products/shapes/receipt.ts';
import type { CheckStatus } from './body-check.ts';
import { believedDids, type KeyTrust, soundVerdict } from './key-trust.ts';
import { isSignedBy } from './verify-citation.ts';

export interface KnownSale {
  readonly body?: Uint8Array | undefined;
  /** The request, path and query, with or without its method and the address of the service. */
  readonly expect?: string | undefined;
  /** The account that paid, 0x and 40 hex digits. */
  readonly payer?: string | undefined;
}

interface ReceiptCheck {
  readonly check: 'receipt' | 'signature' | 'key' | 'body' | 'expect' | 'payer';
  readonly status: CheckStatus;
  readonly detail: string;
}

/** What a receipt came to; `unlisted`: nobody passed the list that names its key. */
export interface ReceiptReport {
  readonly verdict: 'verified' | 'issuer_unknown' | 'unlisted' | 'failed';
  /** The key that signed it; null for what is no receipt. */
  readonly signer: string | null;
  /** What it says; null for what is altered. */
  readonly receipt: ReceiptPayload | null;
  readonly checks: readonly ReceiptCheck[];
}

type Judged = Pick<ReceiptCheck, 'status' | 'detail'>;
const pass = (detail: string): Judged => ({ status: 'pass', detail });
const fail = (detail: string): Judged => ({ status: 'fail', detail });
const open = (detail: string): Judged => ({ status: 'not_applicable', detail });

/** Judges a compact JWS as the receipt of a sale, offline; throws a RangeError for a request or payer that is none. */
export function verifyReceipt(jws: string, trust: KeyTrust, sale: KnownSale): ReceiptReport {
  const parsed = parseSignedReceipt(jws);
  if (typeof parsed === 'string') {
    return {
      verdict: 'failed',
      signer: null,
      receipt: null,
      checks: [{ check: 'receipt', ...fail(parsed) }],
    };
  }
  const { payload, did } = parsed;
  const checks: ReceiptCheck[] = [
    { check: 'receipt', ...pass('a receipt in the one spelling') },
    { check: 'signature', ...signatureCheck(parsed) },
    { check: 'key', ...keyCheck(parsed, trust) },
    { check: 'body', ...bodyCheck(payload, sale) },
    { check: 'expect', ...requestCheck(payload, sale) },
    { check: 'payer', ...payerCheck(payload, sale) },
  ];
  const isAltered = checks[1]?.status === 'fail';
  const receipt = isAltered ? null : payload;
  return { verdict: verdictOf(checks, trust), signer: did, receipt, checks };
}

function verdictOf(
  checks: readonly ReceiptCheck[],
  { trust, keys }: KeyTrust,
): ReceiptReport['verdict'] {
  if (checks.some(({ status }) => status === 'fail')) return 'failed';
  return keys === undefined ? 'unlisted' : soundVerdict(trust);
}

function signatureCheck({ did, signed, signature }: ParsedSignedReceipt): Judged {
  try {
    if (isSignedBy(did, signed, signature)) return pass(`signed by ${did}`);
  } catch {
    // A weak key, or a signature with a second spelling.
  }
  return fail(`the signature is not that of ${did}`);
}

/** Whether the issuer that the reader trusts lists the key for the time of the receipt. */
function keyCheck({ did, payload }: ParsedSignedReceipt, trusted: KeyTrust): Judged {
  const { keys } = trusted;
  if (keys === undefined) return open('no list of keys was passed: anybody can make a key');
  // Whatever a list states, also by a root of its own, counts only if trust reaches it.
  const believed = believedDids(trusted, rootDid(keys));
  if (!keys.keys.some((key) => believed.includes(key.did)))
    return fail('the list of keys is not that of the trusted issuer');
  const at = isoTime(payload.issuedAt * 1000);
  switch (receiptKeyStanding(listBy(believed, keys), did, at)) {
    case 'listed':
      return pass(`the issuer lists the key for ${at}`);
    case 'early':
      return fail(`the issuer lists the key from a later time than ${at} on`);
    case 'ended':
      return fail(`the key had ended by ${at}`);
    case 'unlisted':
      return fail(`${did} is not a receipt key of the trusted issuer`);
  }
}

function listBy(believed: readonly string[], keys: KeyHistory): KeyHistory {
  const { receipt_keys = [] } = keys;
  return withReceiptKeys(
    keys,
    receipt_keys.filter(({ signed_by }) => believed.includes(signed_by)),
  );
}

function bodyCheck({ bodyHash }: ReceiptPayload, { body }: KnownSale): Judged {
  if (body === undefined) return open('no body was passed');
  const hash = `sha256:${bytesToHex(sha256(body))}`;
  return hash === bodyHash
    ? pass('the body is byte by byte what was delivered')
    : fail(`the body has the hash ${hash}, and ${bodyHash} was delivered`);
}

function requestCheck({ resourceUrl }: ReceiptPayload, { expect }: KnownSale): Judged {
  if (expect === undefined) return open('no request was passed');
  const wanted = requestOf(expect);
  const paid = requestOf(resourceUrl);
  if (wanted === null || paid === null) {
    throw new RangeError(
      `Cannot expect "${expect.slice(0, 80)}": not a request such as "GET /gauge?signal_id=…&entity=…"`,
    );
  }
  const isSame = wanted.target === paid.target && [null, paid.origin].includes(wanted.origin);
  return isSame ? pass(`paid for "${resourceUrl}"`) : fail(`paid for "${resourceUrl}"`);
}

const REQUEST = /^(?:[A-Z]+ +)?(https?:\/\/[^/?#]+)?(\/[^?#\s]*)(?:\?([^#\s]*))?$/i;

/** A request with its parameters in order, and the address of the service where it names one. */
function requestOf(text: string) {
  const [, origin, path, query = ''] = REQUEST.exec(text.trim()) ?? [];
  if (path === undefined) return null;
  const target = [path, ...query.split('&').sort()].join('&');
  return { origin: origin?.toLowerCase() ?? null, target };
}

function payerCheck({ payer }: ReceiptPayload, { payer: wanted }: KnownSale): Judged {
  if (wanted === undefined) return open('no payer was passed');
  if (!/^0x[0-9a-fA-F]{40}$/.test(wanted)) {
    throw new RangeError(
      `Cannot expect the payer "${wanted.slice(0, 80)}": not 0x and 40 hex digits`,
    );
  }
  return wanted.toLowerCase() === payer ? pass(`paid by ${payer}`) : fail(`paid by ${payer}`);
}

/** Longest text that is looked at; a header is shorter. */
const CHARS_MAX = 65_536;
const JWS = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * The compact JWS of a receipt, as it comes: alone, as `{format, signature}`, or in the value of `PAYMENT-RESPONSE`, in base64 or
 * as its JSON. Null for a text that holds none, such as a body.
 */
export function receiptIn(text: string): string | null {
  const trimmed = text.slice(0, CHARS_MAX + 1).trim();
  if (trimmed.length > CHARS_MAX) return null;
  if (JWS.test(trimmed)) return trimmed;
  return signatureIn(jsonOf(trimmed));
}

function jsonOf(text: string): JsonValue {
  try {
    const json = BASE64.test(text) ? decodeUtf8(bytesOfOctets(atob(text))) : text;
    return parseJson(json, { depth: 8 });
  } catch (cause) {
    // atob() throws a DOMException for a text of a wrong length.
    if (cause instanceof JsonError || cause instanceof DOMException) return null;
    throw cause;
  }
}

function signatureIn(value: JsonValue): string | null {
  if (!isObject(value)) return null;
  const { format, signature, success, extensions } = value;
  if (format === 'jws' && typeof signature === 'string') return signature;
  if (success !== true || !isObject(extensions)) return null;
  const extension = extensions['offer-receipt'];
  const info = isObject(extension) ? extension.info : null;
  return isObject(info) && isObject(info.receipt) ? signatureIn(info.receipt) : null;
}
