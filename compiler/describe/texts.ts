import type { Catalog } from '../catalog/catalog.ts';
import { LLMS_FULL_URL, NAMED_FILES } from '../catalog/static-files.ts';
import { spokenOf } from '../catalog/units.ts';
import { DAY_MS } from '../format/iso-time.ts';
import { productOf } from '../products/products.ts';
import { isBasket } from '../products/shapes/basket.ts';
import type { Line } from '../products/shapes/line.ts';
import { otherPrices } from '../products/shapes/price.ts';
import { type Endpoint, type Param, requestForModel } from '../products/shapes/product.ts';
import type { Issuer } from '../system/sealer.ts';
import { type ManifestEntry, rowOf } from './manifest.ts';

/** Days for which the security contact is said to hold; RFC 9116 asks for less than a year. */
const SECURITY_DAYS = 364;

interface Described {
  readonly issuer: Issuer;
  readonly catalog: Catalog;
  /** Entities by signal. */
  readonly counts: ReadonlyMap<string, number>;
}

/** What a language model needs to use the service, one screen of Markdown; `entries` are for sale. */
export function llmsText(of: Described, entries: readonly ManifestEntry[]): string {
  return modelText(of, entries, (entry) => [line(entry, of)]);
}

/** The same with the question that each operation answers, and with its parameters. */
export function llmsFullText(of: Described, entries: readonly ManifestEntry[]): string {
  return modelText(of, entries, (entry) => [
    line(entry, of),
    `  ${productOf(entry, of.catalog.lines).guide}`,
    ...Object.entries(entry.params).map(([name, param]) => parameterLine(name, param)),
  ]);
}

function modelText(
  { issuer: { baseUrl, name }, catalog, counts }: Described,
  entries: readonly ManifestEntry[],
  linesOf: (entry: ManifestEntry) => readonly string[],
): string {
  const isPaid = (entry: ManifestEntry): boolean => isCharged(rowOf(entry, catalog));
  const unpriced = entries.filter((entry) => !isPaid(entry));
  const gated = unpriced.filter((entry) => rowOf(entry, catalog).token);
  const free = unpriced.filter((entry) => !rowOf(entry, catalog).token);
  const paid = entries.filter(isPaid);
  return [
    `# ${name}`,
    '',
    '> Stored snapshots of official-source readings as signed JSON records, sold per call through x402. Descriptive only: no forecast, no advice.',
    '',
    GUIDANCE,
    '',
    `Machine-readable: [OpenAPI](${baseUrl}/openapi.json), [manifest](${baseUrl}/manifest?all=1), [every operation in full](${baseUrl}${LLMS_FULL_URL}), MCP tools at \`POST ${baseUrl}/mcp\`.`,
    '',
    ...section(
      'What is measured',
      catalog.lines.flatMap((row) => measuredLine(row, { catalog, counts })),
    ),
    ...section('Free', free.flatMap(linesOf)),
    ...section('Paid, charged only when the answer is 200', paid.flatMap(linesOf)),
    ...section(
      'Needs a token of /gauge/subscribe, sent as Authorization: Bearer',
      gated.flatMap(linesOf),
    ),
    ...section(
      'Keys and log, to check what was bought',
      NAMED_FILES.map(({ path, summary }) => `- [${path}](${baseUrl}${path}): ${summary}`),
    ),
  ].join('\n');
}

/** A line of which readings are stored, with what they are called. */
function measuredLine(
  { title, tagline = title, signals }: Line,
  { catalog, counts }: Omit<Described, 'issuer'>,
): string[] {
  const titles = signals
    .filter(({ id }) => (counts.get(id) ?? 0) > 0)
    .flatMap(({ id }) => catalog.entryById.get(id) ?? [])
    .map((entry) => spokenOf(entry).title);
  return titles.length === 0 ? [] : [`- ${tagline}: ${titles.join(', ')}`];
}

/** A link for what a GET asks, else the request line alone. */
function line(entry: ManifestEntry, { issuer: { baseUrl }, catalog }: Described): string {
  const { method, path, input_example_request, description, price_usd } = entry;
  const example = requestForModel(rowOf(entry, catalog), input_example_request);
  const other = otherPrices(entry.price_by_signal ?? null);
  const link = method === 'GET' ? `[${path}](${baseUrl}${example})` : `${method} ${path}`;
  return `- ${link}: ${description}${entry.price_atomic === '0' ? '' : `, ${price_usd} USD${other}`}`;
}

function parameterLine(name: string, { required, description, enum: legal }: Param): string {
  const values = legal === undefined ? '' : `; one of ${legal.join(', ')}`;
  return `  - \`${name}\`${required ? ', required' : ''}: ${description}${values}`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`## ${title}`, '', ...lines, ''];
}

/** The same in a few sentences, for the OpenAPI description. */
export const GUIDANCE = [
  'Find what you need by words at /gauge/search, or a legal pair of signal_id and entity at /gauge/catalog, then GET the paid URL.',
  'It answers 402 with the price; sign the EIP-3009 authorization and send the same request again with X-PAYMENT.',
  'To read it yourself, add format=fact where it is offered: the fact in some 150 tokens, its signed whole free with the same payment; else proof=0, which leaves out _proof, that the answer is in the log. A program that verifies adds neither.',
  'Where format=thin is offered, it is the short form, signed by itself.',
  'A 422 is never charged: its error names a free request that lists or finds what you asked for; its example_request works, and may be about another subject.',
  'After a lost answer or a 503, send the same X-PAYMENT again: the same body comes back without a second charge, to its buyer alone: from the same address for 10 minutes, later and for a token with the PAYMENT-IDENTIFIER of the first request or SIGN-IN-WITH-X.',
  'Above 0.10 USD, raise the cap of your client; client_hint says how.',
  'Every record_hash can be recomputed offline and looked up free at /gauge/verify; _citation is signed with Ed25519.',
].join(' ');

export function robotsText({ baseUrl }: Issuer): string {
  return [
    'User-agent: *',
    'Allow: /',
    '',
    `# ${baseUrl}/llms.txt`,
    `Sitemap: ${baseUrl}/sitemap.xml`,
    '',
  ].join('\n');
}

/** RFC 9116; without a contact the service's own address stands there. */
export function securityText(issuer: Issuer, asOf: string, contact: string | null): string {
  const expires = new Date(Date.parse(asOf) + SECURITY_DAYS * DAY_MS).toISOString();
  return [
    `Contact: ${contact ?? issuer.baseUrl}`,
    `Expires: ${expires}`,
    `Canonical: ${issuer.baseUrl}/.well-known/security.txt`,
    'Preferred-Languages: en',
    '',
  ].join('\n');
}

/** A gauge: an arc and a needle. */
export const FAVICON = [
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">',
  '<rect width="32" height="32" rx="6" fill="#12324a"/>',
  '<path d="M6 22a10 10 0 0 1 20 0" fill="none" stroke="#f4f1e8" stroke-width="3" stroke-linecap="round"/>',
  '<path d="M16 22l5-8" stroke="#f2b134" stroke-width="2.5" stroke-linecap="round"/>',
  '<circle cx="16" cy="22" r="2.2" fill="#f2b134"/>',
  '</svg>',
  '',
].join('\n');

const said = (
  type: string | readonly string[],
  description: string,
  more: object = {},
): object => ({
  type,
  ...more,
  description,
});
const text = (description: string, more?: object): object => said('string', description, more);
const object = (required: readonly string[], properties: object): object => ({
  type: 'object',
  required,
  properties,
});

const ERROR = 'what is wrong, and what to do';
const CODE = 'code of the refusal';

/** Bodies of every answer other than 200; none of them is ever charged. */
export const ERROR_SCHEMAS = {
  PaymentRequired: object(['x402Version', 'error', 'accepts'], {
    x402Version: said('integer', 'version of x402', { const: 1 }),
    error: text(ERROR),
    code: {
      const: 'sign_in_to_redeliver',
      description: 'the payment is known; accepts is empty then',
    },
    accepts: said('array', 'how it can be paid for; one entry for each way', {
      items: { $ref: '#/components/schemas/Requirements' },
    }),
    release: said(
      'object',
      'from which release it is sold: sequence, as_of, valid_until (or null)',
    ),
    client_hint: said('object', 'for prices above 0.10 USD: how to raise the cap of the client'),
  }),
  Requirements: object(
    ['scheme', 'network', 'maxAmountRequired', 'resource', 'payTo', 'asset', 'maxTimeoutSeconds'],
    {
      scheme: text('scheme of x402', { const: 'exact' }),
      network: text('name of the network'),
      maxAmountRequired: text('price in millionths of a dollar, digits', { pattern: '^[0-9]+$' }),
      resource: text('URL of what is sold', { format: 'uri' }),
      description: text('description'),
      mimeType: text('media type of the answer'),
      payTo: text('address that is paid'),
      asset: text('address of the token contract'),
      maxTimeoutSeconds: said('integer', 'seconds for which the authorization has to hold'),
      extra: said('object', 'name and version of the token, to sign for'),
      outputSchema: said('object', 'how it is asked for, with an example of the answer'),
    },
  ),
  NoCharge: object(['error', 'no_charge', 'miss', 'usage', 'example_request', 'preview'], {
    error: text('with a free request that lists or finds what was asked for'),
    no_charge: said('boolean', 'always true: nobody was charged', { const: true }),
    miss: {
      enum: ['missing_parameter', 'illegal_value', 'no_data', 'empty_line'],
      description: 'what is missing',
    },
    missing_params: said('array', 'names of absent parameters', { items: { type: 'string' } }),
    usage: text('how the operation is asked'),
    example_request: text('an example that works, maybe about another subject'),
    preview: text('the free list of legal values'),
  }),
  TokenRefused: object(['error', 'code', 'mint'], {
    error: text(ERROR),
    code: { enum: ['missing_token', 'invalid_token', 'expired_token'], description: CODE },
    mint: text('path at which a token is sold'),
  }),
  Failure: object(['error'], {
    error: text(ERROR),
    retryable: said('boolean', 'whether the same request may work later'),
  }),
  RateLimited: object(['error', 'retry_after_s'], {
    error: text(ERROR),
    retry_after_s: said('integer', 'seconds to wait'),
  }),
  RpcAnswer: object(['jsonrpc', 'id'], {
    jsonrpc: text('version of JSON-RPC', { const: '2.0' }),
    id: said(['string', 'integer', 'null'], 'id'),
    result: said('object', 'result of the call'),
    error: {
      ...object(['code', 'message'], {
        code: said('integer', CODE),
        message: text('the error in words'),
      }),
      description: ERROR,
    },
  }),
} as const;

/** Headers that clients read, by name; payment clients do so by themselves. */
export const HEADERS = {
  'PAYMENT-REQUIRED': {
    description:
      'x402 v2 challenge, base64 of JSON; the body is the challenge of v1. Its "extensions" name those that are on: payment-identifier, sign-in-with-x, offer-receipt',
    schema: { type: 'string' },
  },
  'X-PAYMENT-RESPONSE': {
    description: 'x402 v1 receipt of the settlement, base64 of JSON: transaction, network, payer',
    schema: { type: 'string' },
  },
  'PAYMENT-RESPONSE': {
    description:
      'the same receipt where the payment came in PAYMENT-SIGNATURE (x402 v2); with a signed receipt where the challenge names offer-receipt',
    schema: { type: 'string' },
  },
  'Retry-After': { description: 'seconds to wait', schema: { type: 'integer', minimum: 1 } },
} as const;
type HeaderName = keyof typeof HEADERS;

const headers = (...names: readonly HeaderName[]): object =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

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

export function isCharged(row: Endpoint): boolean {
  return row.priceUsd !== null || isBasket(row);
}

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
