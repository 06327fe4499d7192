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
    accepts: { type: 'array', minItems: 1, items: { $ref: '#/components/schemas/Requirements' } },
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
    error: text,
    no_charge: { type: 'boolean', const: true },
    miss: { enum: ['missing_parameter', 'illegal_value', 'no_data', 'empty_line'] },
    missing_params: { type: 'array', items: text },
    usage: text,
    example_request: text,
    preview: text,
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

const RETRY_AFTER = {
  'Retry-After': { description: 'seconds to wait', schema: { type: 'integer', minimum: 1 } },
};

const answered = (description: string, schema: keyof typeof ERROR_SCHEMAS, headers?: object) => ({
  description,
  ...(headers === undefined ? {} : { headers }),
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
});

const PAYMENT_REQUIRED = answered(
  'Payment required; pay and send the same request with X-PAYMENT',
  'PaymentRequired',
  { 'PAYMENT-REQUIRED': { description: 'x402 v2 challenge, base64', schema: text } },
);
const NO_CHARGE = answered('Nothing stored, or a parameter missing; not charged', 'NoCharge');
const BAD_REQUEST = answered('Malformed request; not charged', 'Failure');
const TOKEN_REFUSED = answered('Token missing, invalid or expired', 'TokenRefused');
const RATE_LIMITED = answered('Too many requests', 'RateLimited', RETRY_AFTER);
const UNAVAILABLE = answered('Not known at the moment; ask again', 'Failure', RETRY_AFTER);

/** Everything that is refused before a row is looked at, and what the operator has not configured. */
const REFUSED = answered(
  'Any other refusal, such as 404, 405, 413, 414, 500 or 501; not charged',
  'Failure',
);

/** The answers beside 200 that an operation can give. */
export function errorResponses(row: Endpoint): Record<string, object> {
  if (row.answer === 'rpc') return RPC_RESPONSES;
  const { priceUsd, token, params } = row;
  const asked = Object.keys(params).length > 0;
  return {
    400: BAD_REQUEST,
    ...(token ? { 401: TOKEN_REFUSED } : {}),
    ...(priceUsd === null ? {} : { 402: PAYMENT_REQUIRED }),
    ...(priceUsd !== null || asked ? { 422: NO_CHARGE } : {}),
    429: RATE_LIMITED,
    503: UNAVAILABLE,
    default: REFUSED,
  };
}

const RPC_ANSWER = { $ref: '#/components/schemas/RpcAnswer' };

/** What a tool server says with 200: one answer, or those to a batch. */
export const RPC_ANSWERS = {
  schema: { anyOf: [RPC_ANSWER, { type: 'array', items: RPC_ANSWER }] },
};

/** Refused as JSON-RPC, or as HTTP where no message was read. */
const RPC_REFUSED = {
  description: 'Not a valid message, or refused before it was read',
  content: {
    'application/json': {
      schema: { anyOf: [RPC_ANSWER, { $ref: '#/components/schemas/Failure' }] },
    },
  },
};

const RPC_RESPONSES = {
  202: { description: 'A notification; it gets no answer' },
  400: RPC_REFUSED,
  429: RATE_LIMITED,
  503: UNAVAILABLE,
  default: RPC_REFUSED,
};
