import { isBasket } from '../../contract/basket.ts';
import type { Endpoint } from '../../contract/endpoints.ts';

const text = { type: 'string' };
const object = (required: readonly string[], properties: object): object => ({
  type: 'object',
  required,
  properties,
});

/** Bodies of every answer other than 200; none of them is ever charged. */
export const ERROR_SCHEMAS = {
  PaymentRequired: object(['x402Version', 'error', 'accepts'], {
    x402Version: { type: 'integer', const: 1 },
    error: text,
    code: {
      const: 'sign_in_to_redeliver',
      description: 'the payment is known; accepts is empty then',
    },
    accepts: { type: 'array', items: { $ref: '#/components/schemas/Requirements' } },
    client_hint: {
      type: 'object',
      description: 'for prices above 0.10 USD: how to raise the cap of the client',
    },
  }),
  Requirements: object(
    ['scheme', 'network', 'maxAmountRequired', 'resource', 'payTo', 'asset', 'maxTimeoutSeconds'],
    {
      scheme: { type: 'string', const: 'exact' },
      network: text,
      maxAmountRequired: { type: 'string', pattern: '^[0-9]+$' },
      resource: { type: 'string', format: 'uri' },
      description: text,
      mimeType: text,
      payTo: text,
      asset: text,
      maxTimeoutSeconds: { type: 'integer' },
      extra: { type: 'object' },
      outputSchema: { type: 'object' },
    },
  ),
  NoCharge: object(['error', 'no_charge', 'miss', 'usage', 'example_request', 'preview'], {
    error: { ...text, description: 'with a free request that lists or finds what was asked for' },
    no_charge: { type: 'boolean', const: true },
    miss: { enum: ['missing_parameter', 'illegal_value', 'no_data', 'empty_line'] },
    missing_params: { type: 'array', items: text },
    usage: text,
    example_request: {
      ...text,
      description: 'an example that works, maybe about another subject',
    },
    preview: { ...text, description: 'the free list of legal values' },
  }),
  TokenRefused: object(['error', 'code', 'mint'], {
    error: text,
    code: { enum: ['missing_token', 'invalid_token', 'expired_token'] },
    mint: text,
  }),
  Failure: object(['error'], { error: text, retryable: { type: 'boolean' } }),
  RateLimited: object(['error', 'retry_after_s'], {
    error: text,
    retry_after_s: { type: 'integer' },
  }),
  RpcAnswer: object(['jsonrpc', 'id'], {
    jsonrpc: { type: 'string', const: '2.0' },
    id: { type: ['string', 'integer', 'null'] },
    result: { type: 'object' },
    error: object(['code', 'message'], { code: { type: 'integer' }, message: text }),
  }),
} as const;

/** Headers that clients read, by name; payment clients do so by themselves. */
export const HEADERS = {
  'PAYMENT-REQUIRED': {
    description:
      'x402 v2 challenge, base64 of JSON; the body is the challenge of v1. Its "extensions" name those that are on: payment-identifier, sign-in-with-x, offer-receipt',
    schema: text,
  },
  'X-PAYMENT-RESPONSE': {
    description: 'x402 v1 receipt of the settlement, base64 of JSON: transaction, network, payer',
    schema: text,
  },
  'PAYMENT-RESPONSE': {
    description:
      'the same receipt where the payment came in PAYMENT-SIGNATURE (x402 v2); with a signed receipt where the challenge names offer-receipt',
    schema: text,
  },
  'Retry-After': { description: 'seconds to wait', schema: { type: 'integer', minimum: 1 } },
} as const;
type HeaderName = keyof typeof HEADERS;

const headers = (...names: readonly HeaderName[]): object =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** What a bought 200 carries beside its body. */
export const RECEIPT_HEADERS = headers('X-PAYMENT-RESPONSE', 'PAYMENT-RESPONSE');

const answered = (
  description: string,
  schema: keyof typeof ERROR_SCHEMAS,
  ...names: readonly HeaderName[]
) => ({
  description,
  ...(names.length === 0 ? {} : { headers: headers(...names) }),
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
});

const RPC_ANSWER = { $ref: '#/components/schemas/RpcAnswer' };

/** What a tool server says with 200: one answer, or those to a batch. */
export const RPC_ANSWERS = {
  schema: { anyOf: [RPC_ANSWER, { type: 'array', items: RPC_ANSWER }] },
};

/** Every answer beside 200, once; operations refer to them by name. */
export const RESPONSES = {
  PaymentRequired: answered(
    'Payment required; pay and send the same request with X-PAYMENT or PAYMENT-SIGNATURE',
    'PaymentRequired',
    'PAYMENT-REQUIRED',
  ),
  NoCharge: answered('Nothing stored, or a parameter missing; not charged', 'NoCharge'),
  BadRequest: answered('Malformed request; not charged', 'Failure'),
  TokenRefused: answered('Token missing, invalid or expired', 'TokenRefused'),
  RateLimited: answered('Too many requests', 'RateLimited', 'Retry-After'),
  Unavailable: answered('Not known at the moment; ask again', 'Failure', 'Retry-After'),
  /** Everything that is refused before a row is looked at, and what the operator has not configured. */
  Refused: answered(
    'Any other refusal, such as 404, 405, 413, 414, 500 or 501; not charged',
    'Failure',
  ),
  RpcNotified: { description: 'A notification; it gets no answer' },
  /** Refused as JSON-RPC, or as HTTP where no message was read. */
  RpcRefused: {
    description: 'Not a valid message, or refused before it was read',
    content: {
      'application/json': {
        schema: { anyOf: [RPC_ANSWER, { $ref: '#/components/schemas/Failure' }] },
      },
    },
  },
} as const;

const response = (name: keyof typeof RESPONSES): object => ({
  $ref: `#/components/responses/${name}`,
});

/** Whether an operation can ask for a payment. */
export function isCharged(row: Endpoint): boolean {
  return row.priceUsd !== null || isBasket(row);
}

/** The answers beside 200 that an operation can give. */
export function errorResponses(row: Endpoint): Record<string, object> {
  if (row.answer === 'rpc') return RPC_RESPONSES;
  const { token, params } = row;
  const asked = Object.keys(params).length > 0;
  return {
    400: response('BadRequest'),
    ...(token ? { 401: response('TokenRefused') } : {}),
    ...(isCharged(row) ? { 402: response('PaymentRequired') } : {}),
    ...(isCharged(row) || asked ? { 422: response('NoCharge') } : {}),
    429: response('RateLimited'),
    503: response('Unavailable'),
    default: response('Refused'),
  };
}

const RPC_RESPONSES = {
  202: response('RpcNotified'),
  400: response('RpcRefused'),
  429: response('RateLimited'),
  503: response('Unavailable'),
  default: response('RpcRefused'),
};
