import { bytesOfOctets } from '../contract/base64.ts';
import {
  decodeUtf8,
  isObject,
  JsonError,
  type JsonValue,
  parseJson,
} from '../contract/strict-json.ts';

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
