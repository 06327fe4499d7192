import { tagsOf } from '../../../compiler/catalog/operations.ts';
import { canonicalRequest, describedParams } from '../../../compiler/catalog/route.ts';
import { BASKET_USAGE, isBasket } from '../../../compiler/products/shapes/basket.ts';
import type { Values } from '../../../compiler/products/shapes/path.ts';
import { atomicAmount, priceOf, usdAmount } from '../../../compiler/products/shapes/price.ts';
import type { Endpoint } from '../../../compiler/products/shapes/product.ts';
import { CORE_COLUMNS, SERIES_COLUMNS } from '../../../compiler/products/shapes/series.ts';
import { JSON_MEDIA_TYPE } from '../../wire/reply.ts';
import type { Offers } from '../release/release-source.ts';

/** What a challenge says of an operation beside its price. */
export interface Shown {
  readonly endpoint: Endpoint;
  readonly offers: Offers;
  /** Values of a request that is answered now; null where the operation has nothing to answer. */
  readonly example: Values | null;
  readonly mimeType: string;
  /** Main fields of the body, or the columns of a table. */
  readonly output: Readonly<Record<string, unknown>>;
  /** What it is about, in the words that a directory is searched by. */
  readonly subjects: readonly string[];
}

export function shownOf(endpoint: Endpoint, target: string, offers: Offers): Shown {
  const mimeType = mediaTypeOf(endpoint, target);
  const offer = offers.get(endpoint.path);
  const isCsv = mimeType === CSV_MEDIA_TYPE;
  const format = new URLSearchParams(target.split('?')[1]).get('format');
  const form = isCsv && format !== null ? { format } : {};
  const columns = /[?&]verifiable=1(&|$)/.test(target) ? CORE_COLUMNS : SERIES_COLUMNS;
  const request = offer?.sellsNow === true ? canonicalRequest(offer.request) : null;
  if (request !== null && 'status' in request)
    throw new RangeError(`Cannot show "${offer?.request}": ${request.error}`);
  const example = request === null ? null : { ...Object.fromEntries(request.values), ...form };
  const output = isCsv ? { columns } : (offer?.output ?? {});
  return { endpoint, offers, example, mimeType, output, subjects: offer?.entry.subjects ?? [] };
}

export const CSV_MEDIA_TYPE = 'text/csv';

/** What a canonical target is answered in, without parameters of the type. */
export function mediaTypeOf({ answer }: Endpoint, target: string): string {
  const isCsv = answer === 'series' && /[?&]format=csv(-signed)?(&|$)/.test(target);
  return isCsv ? CSV_MEDIA_TYPE : JSON_MEDIA_TYPE;
}

/** What `x402-fetch` pays at most by itself, in atomic units: 0.10 USD. */
const CLIENT_DEFAULT_CAP_ATOMIC = 100_000;
/** The same of `@x402/fetch`: 1 USD. */
const NEWER_CLIENT_CAP_ATOMIC = 1_000_000;
/** How the request of a basket is sent again. */
const BASKET_INIT = ", { method: 'POST', body } /* the same body */";
const BUDGET_ROWS_MAX = 2;

/** The hint of an operation priced above the default cap, or null; its example calls a request of the release. */
export function clientHint({ endpoint, offers }: Shown, baseUrl: string) {
  const atomic = atomicAmount(priceOf(endpoint));
  if (BigInt(atomic) <= BigInt(CLIENT_DEFAULT_CAP_ATOMIC)) return null;
  return {
    required_atomic: Number(atomic),
    required_usd: usdAmount(atomic),
    client_default_cap_atomic: CLIENT_DEFAULT_CAP_ATOMIC,
    how_to: howToPay(atomic),
    example: callExample(endpoint)(baseUrl + (offers.get(endpoint.path)?.request ?? endpoint.path)),
    within_your_budget: budgetRows(baseUrl, offers),
  };
}

/** What a buyer whose client refuses by itself has to change; no error of ours is seen then. */
function howToPay(atomic: string): string {
  const newer =
    BigInt(atomic) <= BigInt(NEWER_CLIENT_CAP_ATOMIC)
      ? '@x402/fetch pays this by itself.'
      : `@x402/fetch refuses above 1 USD: set spendControls.maxAmountPerPayment to '$${usdAmount(atomic)}'.`;
  return `x402-fetch refuses above 0.10 USD locally, so you see no error from us: raise maxValue to ${atomic}n. ${newer} within_your_budget is cheaper; none of it answers this request.`;
}

/** How a client with a higher cap calls a URL of an operation; the URL cannot end the quotes that it stands in. */
export function callExample(endpoint: Endpoint): (url: string) => string {
  const atomic = atomicAmount(priceOf(endpoint));
  const init = isBasket(endpoint) ? BASKET_INIT : '';
  return (url) =>
    `import { wrapFetchWithPayment } from 'x402-fetch';\nconst pay = wrapFetchWithPayment(fetch, wallet, ${atomic}n); // maxValue\nconst answer = await pay('${url.replaceAll("'", '%27')}'${init});`;
}

/** Cheaper operations that have something to answer now, in the order of the manifest. */
function budgetRows(baseUrl: string, offers: Offers) {
  const rows: { path: string; price_usd: string; example: string }[] = [];
  for (const [path, { sellsNow, priceUsd, request }] of offers) {
    if (rows.length === BUDGET_ROWS_MAX) break;
    const atomic = atomicAmount(priceUsd);
    const isFree = BigInt(atomic) === 0n;
    if (!sellsNow || isFree || BigInt(atomic) > BigInt(CLIENT_DEFAULT_CAP_ATOMIC)) continue;
    rows.push({ path, price_usd: usdAmount(atomic), example: baseUrl + request });
  }
  return rows;
}

/**
 * Characters of a listing: its words, its input and its example together. Proxies often take 4 KB of headers from a service,
 * all in all.
 */
const LISTING_CHARS_MAX = 1350;
/** Of them, at least for the example; and at most for one member of it. */
const EXAMPLE_CHARS_MIN = 60;
const MEMBER_CHARS_MAX = 120;

/**
 * What directories are told in a header: tags, as many of the words as there is room for, and the discovery extension of
 * what is answered now. `taken` are the characters that other parts of the challenge need.
 */
export function listed(shown: Shown, taken: number) {
  const { endpoint, example, subjects } = shown;
  const tags = tagsOf(subjects);
  const own = taken + JSON.stringify(tags).length;
  const input = JSON.stringify(inputSchema(endpoint)).length;
  let room = LISTING_CHARS_MAX - EXAMPLE_CHARS_MIN - own - input;
  const words = subjects.filter((word) => {
    room -= word.length + 2;
    return room >= 0;
  });
  const discovery =
    example === null ? {} : { bazaar: bazaar(shown, example, own + words.join(', ').length) };
  return { tags, words, discovery };
}

/**
 * The discovery extension of v2: a call that is answered now and the JSON Schema that it meets. `taken` are the characters
 * that other parts of the challenge need.
 */
function bazaar(shown: Shown, queryParams: Values, taken: number): object {
  const { endpoint, mimeType, output } = shown;
  if (isBasket(endpoint)) return basketBazaar(shown);
  const type = mimeType === CSV_MEDIA_TYPE ? 'csv' : 'json';
  const input = inputSchema(endpoint);
  const example = brief(output, LISTING_CHARS_MAX - taken - JSON.stringify(input).length);
  const info = {
    input: { type: 'http', method: endpoint.method, queryParams },
    output: { type, example },
  };
  return { info, schema: object({ input, output: outputSchema(example) }) };
}

/** The same of a basket, whose requests stand in its body. */
function basketBazaar({ endpoint: { method }, offers }: Shown): object {
  const [cheapest] = budgetRows('', offers);
  const requests = cheapest === undefined ? [] : [cheapest.example];
  const total_usd = cheapest?.price_usd ?? '0';
  const example = { endpoint: 'gauge/basket', total_usd };
  const info = {
    input: { type: 'http', method, bodyType: 'json', body: { requests } },
    output: { type: 'json', example },
  };
  const input = object({
    type: { const: 'http' },
    method: { const: method },
    bodyType: { const: 'json' },
    body: { type: 'object', description: BASKET_USAGE },
  });
  return { info, schema: object({ input, output: outputSchema(example) }) };
}

function outputSchema(example: object): object {
  const properties = Object.fromEntries(Object.keys(example).map((name) => [name, {}]));
  return object({ type: { type: 'string' }, example: { type: 'object', properties } });
}

/** Members of an example that fit into a header, in their order; the body of the 402 shows all of them. */
function brief(output: Shown['output'], most: number): Shown['output'] {
  const all = Object.entries(output);
  let room = most;
  const fitting = all.filter(([name, value]) => {
    // A name stands in the example and in its schema.
    const chars = 2 * name.length + JSON.stringify(value).length;
    if (chars > Math.min(room, MEMBER_CHARS_MAX)) return false;
    room -= chars;
    return true;
  });
  return Object.fromEntries(fitting.length > 0 ? fitting : all.slice(0, 1));
}

function inputSchema(endpoint: Endpoint): object {
  const params = Object.entries(describedParams(endpoint));
  const required = params.filter(([, param]) => param.required).map(([name]) => name);
  const properties = Object.fromEntries(
    params.map(([name, { description, enum: legal, required: isNeeded }]) => {
      // A query value is always text: an integer parameter takes its digits. The body says more of what may be left out.
      const given = legal === undefined ? {} : { enum: legal };
      return [name, { type: 'string', ...(isNeeded ? { description, ...given } : {}) }];
    }),
  );
  return object({
    type: { const: 'http' },
    method: { const: endpoint.method },
    queryParams: { type: 'object', properties, required },
  });
}

function object(properties: Readonly<Record<string, object>>): object {
  return { type: 'object', properties, required: Object.keys(properties) };
}
