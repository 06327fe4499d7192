import { z } from 'zod';
import { decodeUtf8, JsonError, parseJson } from '../../../compiler/format/strict-json.ts';
import { paymentIdentifier } from '../../settle/extensions.ts';
import type { Payment, Refusal, X402Version } from '../../settle/payment.ts';
import { SIGNATURE_CHARS, SIGNATURE_CHARS_MAX } from '../../settle/signature.ts';

/** Longest payment header in characters: the listing that a client of version 2 repeats, and the longest signature. */
const PAYMENT_HEADER_CHARS_MAX = 10_240;
/** Containers that may be open at once in a payment; v2 carries echoed extensions. */
const PAYMENT_DEPTH_MAX = 16;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const UINT256_MAX = 2n ** 256n - 1n;

const uint256 = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,77})$/)
  .refine((digits) => digits.length < 78 || BigInt(digits) <= UINT256_MAX);
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/);
const word = z.string().regex(/^0x[0-9a-fA-F]{64}$/);
const name = z.string().min(1).max(64);

// Strict: a facilitator chooses what it settles by the keys it finds (`permit2Authorization`, …).
const exactPayload = z.strictObject({
  signature: z.string().regex(/^0x(?:[0-9a-fA-F]{2})+$/),
  authorization: z.strictObject({
    from: address,
    to: address,
    value: uint256,
    validAfter: uint256,
    validBefore: uint256,
    nonce: word,
  }),
});
const paymentV1 = z.object({
  x402Version: z.literal(1),
  scheme: name,
  network: name,
  payload: exactPayload,
});
const paymentV2 = z.object({
  x402Version: z.literal(2),
  accepted: z.object({
    scheme: name,
    network: name,
    amount: uint256,
    asset: address,
    payTo: address,
  }),
  payload: exactPayload,
});

const UINT_TEXT = '"(0|[1-9][0-9]{0,76})"';
const ADDRESS_TEXT = '"(0x[0-9a-fA-F]{40})"';
/**
 * How clients of version 1 write a payment: these members in this order, no space, no escape. Every text that matches is
 * strict JSON which `paymentV1` takes with the same values; to match is a quarter of the work of parsing it.
 */
const USUAL_V1 = new RegExp(
  '^{"x402Version":1,"scheme":"([a-z-]{1,64})","network":"([a-z0-9-]{1,64})","payload":{' +
    `"signature":"(0x[0-9a-fA-F]{${SIGNATURE_CHARS - 2}})","authorization":{` +
    `"from":${ADDRESS_TEXT},"to":${ADDRESS_TEXT},"value":${UINT_TEXT},` +
    `"validAfter":${UINT_TEXT},"validBefore":${UINT_TEXT},"nonce":"(0x[0-9a-fA-F]{64})"}}}$`,
);

/** Reads the value of `X-PAYMENT` (version 1) or `PAYMENT-SIGNATURE` (version 2); never throws for what it holds. */
export function decodePayment(headerValue: string, version: X402Version): Payment | Refusal {
  const header = version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE';
  if (headerValue.length > PAYMENT_HEADER_CHARS_MAX) {
    return malformed(`${header} is longer than ${PAYMENT_HEADER_CHARS_MAX} characters`);
  }
  const usual = version === 1 ? usualV1(headerValue) : null;
  if (usual !== null) return usual;
  // Repeated headers arrive joined by ", ", and a lenient decoder would stop at the first "=".
  if (headerValue === '' || !BASE64.test(headerValue)) {
    return malformed(`${header} is not one padded base64 string; send the header once`);
  }
  const json = parsedJson(headerValue, header);
  if ('error' in json) return json;
  const { value } = json;
  const found =
    typeof value === 'object' && value !== null && 'x402Version' in value
      ? value.x402Version
      : undefined;
  if (found !== version) {
    const reason = 'invalid_x402_version';
    const other = version === 1 ? 'version 2 as PAYMENT-SIGNATURE' : 'version 1 as X-PAYMENT';
    return { reason, error: `${header} carries only x402Version ${version}; send ${other}` };
  }
  if (version === 1) {
    const parsed = paymentV1.safeParse(value);
    if (!parsed.success) return shapeRefusal(parsed.error);
    const { scheme, network, payload } = parsed.data;
    return signed({ version, scheme, network, accepted: null, ...payload });
  }
  const parsed = paymentV2.safeParse(value);
  if (!parsed.success) return shapeRefusal(parsed.error);
  const { accepted: terms, payload } = parsed.data;
  const { scheme, network, ...accepted } = terms;
  const identifier = paymentIdentifier(value);
  const named = identifier === undefined ? {} : { identifier };
  return signed({ version, scheme, network, accepted, ...payload, ...named });
}

/** Null for a payment written in any other way, and for anything else. */
function usualV1(base64: string): Payment | null {
  const bytes = Buffer.from(base64, 'base64');
  const found = USUAL_V1.exec(bytes.toString('latin1'));
  // A lenient decoder finds the same bytes in many texts; only the one that an encoder writes is taken here.
  if (found === null || bytes.toString('base64') !== base64) return null;
  const [, scheme = '', network = '', signature = '', from = '', to = '', ...numbers] = found;
  const [value = '', validAfter = '', validBefore = '', nonce = ''] = numbers;
  const authorization = { from, to, value, validAfter, validBefore, nonce };
  return { version: 1, scheme, network, accepted: null, signature, authorization };
}

function malformed(error: string): Refusal {
  return { reason: 'invalid_payload', error };
}

function parsedJson(base64: string, header: string): { readonly value: unknown } | Refusal {
  try {
    const text = decodeUtf8(Buffer.from(base64, 'base64'));
    return { value: parseJson(text, { depth: PAYMENT_DEPTH_MAX }) };
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause;
    return malformed(`${header} does not hold strict JSON: ${cause.code}`);
  }
}

/** Accounts with code may sign with more than 65 bytes (EIP-1271, ERC-6492, EIP-7702), but not with any number. */
function signed(payment: Payment): Payment | Refusal {
  const { length } = payment.signature;
  if (length >= SIGNATURE_CHARS && length <= SIGNATURE_CHARS_MAX) return payment;
  const wrong =
    length < SIGNATURE_CHARS
      ? 'shorter than 65 bytes'
      : `longer than ${(SIGNATURE_CHARS_MAX - 2) / 2} bytes`;
  return { reason: 'invalid_exact_evm_payload_signature', error: `the signature is ${wrong}` };
}

/** Names the field, never repeats its value. */
function shapeRefusal(error: z.ZodError): Refusal {
  const path = error.issues[0]?.path.join('.') ?? '';
  const field = path === '' ? 'the payment' : `"${path}"`;
  const reason = REASONS[path] ?? 'invalid_payload';
  return { reason, error: `${field} is missing, malformed or has unknown keys` };
}

const REASONS: Readonly<Record<string, string>> = {
  scheme: 'invalid_scheme',
  network: 'invalid_network',
  'accepted.scheme': 'invalid_scheme',
  'accepted.network': 'invalid_network',
  'payload.signature': 'invalid_exact_evm_payload_signature',
  'payload.authorization.value': 'invalid_exact_evm_payload_authorization_value',
  'payload.authorization.validAfter': 'invalid_exact_evm_payload_authorization_valid_after',
  'payload.authorization.validBefore': 'invalid_exact_evm_payload_authorization_valid_before',
};
