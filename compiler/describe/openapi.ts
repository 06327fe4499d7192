import type { Catalog } from '../catalog/catalog.ts';
import { describedParams } from '../catalog/route.ts';
import { NAMED_FILES } from '../catalog/static-files.ts';
import { productOf } from '../products/products.ts';
import {
  BASKET_BODY_BYTES_MAX,
  BASKET_REQUESTS_MAX,
  basketRange,
  isBasket,
} from '../products/shapes/basket.ts';
import { otherPrices, priceBySignal, priceRange } from '../products/shapes/price.ts';
import type { Endpoint, Param } from '../products/shapes/product.ts';
import type { Issuer } from '../system/sealer.ts';
import { type BodySchemas, bodySchemas, componentName } from './body-schemas.ts';
import type { ExampleBody } from './examples.ts';
import { type ManifestEntry, rowOf } from './manifest.ts';
import {
  ERROR_SCHEMAS,
  errorResponses,
  GUIDANCE,
  HEADERS,
  isCharged,
  RECEIPT_HEADERS,
  RESPONSES,
  RPC_ANSWERS,
} from './texts.ts';

const OPENAPI_VERSION = '3.1.0';
/** Version of the description, as the specification states it. */
const DESCRIPTION_VERSION = '1.0.0';

const BEARER = 'SubscriptionToken';
const QUERY_TOKEN = 'SubscriptionTokenInQuery';

interface OpenApiOptions {
  readonly catalog: Catalog;
  readonly issuer: Issuer;
  readonly contact: string | null;
  readonly entries: readonly ManifestEntry[];
  readonly bodies: ReadonlyMap<string, ExampleBody>;
}

type SchemaParts = OpenApiOptions & { readonly schemas: BodySchemas };

/** The OpenAPI 3.1.0 description of every operation that is for sale or free now. */
export function openApi(options: OpenApiOptions): object {
  const { catalog, issuer, contact, entries } = options;
  const rows = entries.map((entry) => rowOf(entry, catalog));
  const parts = { ...options, schemas: bodySchemas(rows, catalog) };
  const items = paths(parts);
  const answers = named('responses', RESPONSES, [items]);
  const tags = new Set(rows.map(tagOf));
  return {
    openapi: OPENAPI_VERSION,
    info: {
      title: issuer.name,
      version: DESCRIPTION_VERSION,
      summary: 'Pay-per-call verifiable records of official readings',
      description:
        'Stored snapshots of official-source readings, signed and verifiable offline. Descriptive only.',
      'x-guidance': GUIDANCE,
      license: { name: 'Terms of the operator', url: `${issuer.baseUrl}/gauge/channels` },
      contact: contactOf(issuer, contact),
    },
    servers: [{ url: issuer.baseUrl }],
    tags: TAGS.filter(({ name }) => tags.has(name)),
    externalDocs: { url: `${issuer.baseUrl}/llms.txt`, description: 'the same in plain text' },
    'x-agentcash-guidance': { llmsTxtUrl: `${issuer.baseUrl}/llms.txt` },
    // No parameters of the operations: the client that pays sends them, never the model that chooses the call.
    'x-payment-headers': PAYMENT_HEADERS,
    'x-files': NAMED_FILES.map(({ path, summary }) => ({ url: issuer.baseUrl + path, summary })),
    paths: items,
    components: {
      schemas: {
        ...parts.schemas.components,
        ...named('schemas', ERROR_SCHEMAS, [items, answers]),
      },
      responses: answers,
      headers: named('headers', HEADERS, [items, answers]),
      examples: componentExamples(parts),
      ...(rows.some(({ token }) => token) ? { securitySchemes: SECURITY_SCHEMES } : {}),
    },
  };
}

/** What a client sends to pay: one of them, beside the request that was answered 402. */
const PAYMENT_HEADERS = {
  'X-PAYMENT': 'x402 v1: base64 of the JSON payment, signed for one of accepts[] of the 402 body',
  'PAYMENT-SIGNATURE': 'x402 v2: the same, for the challenge in the header PAYMENT-REQUIRED',
  'X-RECEIPT': 'a receipt of a card processor, where /gauge/channels names one',
  'PAYMENT-IDENTIFIER':
    'beside a payment: a random name of the purchase, 16 to 128 letters, digits, "-" or "_", which fetches its answer again',
  'SIGN-IN-WITH-X':
    'a message that the account which paid signs: fetches again what it paid for, alone or beside the payment',
};

const SECURITY_SCHEMES = {
  [BEARER]: { type: 'http', scheme: 'bearer', description: 'token of /gauge/subscribe' },
  [QUERY_TOKEN]: { type: 'apiKey', in: 'query', name: 'token' },
};

/** The components of a kind that some text names, with those that they are made of. */
function named(
  kind: 'schemas' | 'responses' | 'headers',
  components: Readonly<Record<string, object>>,
  places: readonly object[],
): Readonly<Record<string, object>> {
  const isNamed = (name: string, text: string): boolean => text.includes(`${kind}/${name}"`);
  const all = Object.entries(components);
  const text = JSON.stringify(places);
  const inside = JSON.stringify(all.filter(([name]) => isNamed(name, text)));
  return Object.fromEntries(all.filter(([name]) => isNamed(name, text) || isNamed(name, inside)));
}

/** One example for each schema: that of the first operation that answers with it. */
function componentExamples({
  catalog,
  entries,
  bodies,
  schemas,
}: SchemaParts): Readonly<Record<string, object>> {
  const examples: Record<string, object> = {};
  for (const entry of entries) {
    const row = rowOf(entry, catalog);
    const name = schemas.nameOf(row);
    const body = bodies.get(row.path);
    if (name === null || body === undefined || examples[name] !== undefined) continue;
    examples[name] = exampleOf(row, body);
  }
  return examples;
}

function exampleOf({ path, priceUsd }: Endpoint, { value, isInvented }: ExampleBody): object {
  if (isInvented) {
    const description =
      'Complete, but invented: no value in it was observed, and nothing in it is sold.';
    return { summary: `INVENTED example of an answer of ${path}`, description, value };
  }
  const description =
    priceUsd === null
      ? 'As this release answers it.'
      : 'Facts of the free sample of this release; a purchased add-on also carries a signed _citation.';
  return { summary: `a real answer of ${path}`, description, value };
}

const TAGS = [
  { name: 'SIGNAL+PROOF', description: 'One signed record, or one product of it' },
  { name: 'BATCH+PROOF', description: 'Many rows, each with its own record hash' },
  { name: '3-LEG', description: 'Readings of several lines in causal order' },
  { name: 'FREE', description: 'Look-ups, lists and proofs without a price' },
  { name: 'TOKEN', description: 'Needs a subscription token' },
];

function contactOf(issuer: Issuer, contact: string | null): object {
  const email = /^mailto:(.+)$/.exec(contact ?? '')?.[1];
  if (email !== undefined) return { name: issuer.name, email };
  return { name: issuer.name, url: contact ?? issuer.baseUrl };
}

function paths(parts: SchemaParts): object {
  const items: Record<string, object> = {};
  for (const entry of parts.entries) {
    const path = entry.path.replace(/:([a-z_]+)$/, '{$1}');
    const method = entry.method.toLowerCase();
    items[path] = { ...items[path], [method]: operation(entry, parts) };
  }
  return items;
}

const tagOf = ({ tag }: Endpoint): string => tag.slice(1, -1);

function operation(entry: ManifestEntry, parts: SchemaParts): object {
  const row = rowOf(entry, parts.catalog);
  return {
    operationId: operationId(row),
    summary: row.summary,
    description: descriptionOf(row, parts.catalog),
    tags: [tagOf(row)],
    security: row.token ? [{ [BEARER]: [] }, { [QUERY_TOKEN]: [] }] : [],
    ...(isCharged(row) ? { 'x-payment-info': paymentInfo(row, parts.catalog) } : {}),
    parameters: parameters(row, entry.input_example_request),
    ...(row.method === 'POST' ? { requestBody: requestBody(row, parts) } : {}),
    responses: { 200: success(row, parts), ...errorResponses(row) },
  };
}

/** `GET /gauge/history-series` is `getGaugeHistorySeries`. */
function operationId({ method, path }: Endpoint): string {
  return method.toLowerCase() + componentName(path);
}

/** Which question it answers, which it does not, and what it costs. */
function descriptionOf(row: Endpoint, catalog: Catalog): string {
  const { priceUsd, token } = row;
  const { guide } = productOf(row, catalog.lines);
  const other = otherPrices(priceBySignal(row));
  if (priceUsd !== null) return `${guide} ${priceUsd} USD a call${other}, charged only with a 200.`;
  if (isBasket(row)) return `${guide} Costs the sum of their prices, charged only with a 200.`;
  return token ? `${guide} Needs a subscription token.` : `${guide} Free.`;
}

function paymentInfo(row: Endpoint, catalog: Catalog): object {
  return { price: { ...priceMode(row, catalog) }, protocols: [{ x402: {} }] };
}

function priceMode(row: Endpoint, { operations }: Catalog): object {
  const currency = 'USD';
  if (isBasket(row)) return { mode: 'dynamic', currency, ...basketRange(operations) };
  return row.signalPrices === undefined
    ? { mode: 'fixed', currency, amount: row.priceUsd }
    : { mode: 'dynamic', currency, ...priceRange(row) };
}

function parameters(row: Endpoint, shown: string): object[] {
  const query = new URL(shown, 'http://release').searchParams;
  return Object.entries(describedParams(row)).map(([name, param]) => {
    const inPath = row.path.endsWith(`/:${name}`);
    // Both names of a value have one example: whoever sends every example sends no contradiction.
    const asked = inPath ? shown.slice(shown.lastIndexOf('/') + 1) : query.get(ownName(row, name));
    return parameter(name, param, { inPath, asked });
  });
}

/** The parameter that a name stands for: itself, or the one that it is another name of. */
function ownName({ params }: Endpoint, name: string): string {
  const main = Object.entries(params).find(([, { aliases = [] }]) => aliases.includes(name));
  return params[name] === undefined && main !== undefined ? main[0] : name;
}

function parameter(
  name: string,
  param: Param,
  { inPath, asked }: { inPath: boolean; asked: string | null },
): object {
  const example = asked ?? param.examples[0];
  const integer = param.type === 'integer';
  const value = (text: string): string | number => (integer ? Number(text) : text);
  return {
    name,
    in: inPath ? 'path' : 'query',
    required: param.required,
    description: param.description,
    schema: {
      type: param.type,
      ...(param.enum === undefined ? {} : { enum: param.enum.map(value) }),
      ...(param.min === undefined ? {} : { minimum: param.min }),
      ...(param.max === undefined ? {} : { maximum: param.max }),
      ...(param.default === undefined ? {} : { default: value(param.default) }),
    },
    ...(example === undefined ? {} : { example: value(example) }),
  };
}

function requestBody(row: Endpoint, parts: SchemaParts): object {
  if (isBasket(row)) return { required: true, ...basketBody(parts) };
  return { required: true, ...(row.answer === 'rpc' ? RPC_BODY : recordBody(parts)) };
}

const RPC_BODY = {
  description: 'one JSON-RPC 2.0 message; or a batch of them, in the revision that has batches',
  content: {
    'application/json': {
      schema: { type: ['object', 'array'] },
      example: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    },
  },
};

function basketBody({ entries, catalog }: SchemaParts): object {
  const sold = entries.filter((entry) => rowOf(entry, catalog).priceUsd !== null);
  const requests = sold.slice(0, 2).map((entry) => entry.input_example_request);
  const items = { type: 'string', description: 'path?query of a paid GET request' };
  const list = { type: 'array', minItems: 1, maxItems: BASKET_REQUESTS_MAX, items };
  return {
    description: `requests that are paid together, at most ${BASKET_BODY_BYTES_MAX} bytes; send the same body with the payment`,
    content: {
      'application/json': {
        schema: { type: 'object', properties: { requests: list }, required: ['requests'] },
        example: { requests },
      },
    },
  };
}

/** The free sample is a whole body that anybody can send. */
function recordBody({ schemas, entries, catalog }: SchemaParts): object {
  const given = entries.find(({ path }) => path === '/gauge/sample');
  const name = given && schemas.nameOf(rowOf(given, catalog));
  const example = { $ref: `#/components/examples/${name}` };
  const shown = given === undefined ? {} : { examples: { example } };
  return {
    description:
      'a bare record, a whole delivered body, or {"record": …}, with the request that it must answer beside it; as CSV a series that was delivered with format=csv-signed',
    content: {
      'application/json': { schema: { type: 'object' }, ...shown },
      'text/csv': { schema: { type: 'string' } },
    },
  };
}

function success(row: Endpoint, { schemas }: SchemaParts): object {
  return {
    description: row.summary,
    ...(isCharged(row) ? { headers: RECEIPT_HEADERS } : {}),
    content: {
      'application/json': row.answer === 'rpc' ? RPC_ANSWERS : jsonSuccess(row, schemas),
      ...(row.answer === 'series' ? { 'text/csv': { schema: { type: 'string' } } } : {}),
      // A browser that follows a verify_url is shown a page.
      ...(row.answer === 'verify' ? { 'text/html': { schema: { type: 'string' } } } : {}),
    },
  };
}

function jsonSuccess(row: Endpoint, schemas: BodySchemas): object {
  const name = schemas.nameOf(row);
  if (name === null) return { schema: { type: 'object' } };
  const forms = schemas.namesOf(row).map((one) => ({ $ref: `#/components/schemas/${one}` }));
  return {
    schema: forms.length === 1 ? forms[0] : { anyOf: forms },
    examples: { example: { $ref: `#/components/examples/${name}` } },
  };
}
