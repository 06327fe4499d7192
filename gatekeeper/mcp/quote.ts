import { BASKET_USAGE, isBasket } from '../../compiler/contract/basket.ts';
import { defined } from '../../compiler/contract/defined.ts';
import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import { priceRange } from '../../compiler/contract/price.ts';
import { canonicalRequest, type Route, route } from '../../compiler/contract/route.ts';
import type { JsonObject } from '../../compiler/contract/strict-json.ts';
import type { Reply } from '../http/reply.ts';
import type { Offer } from '../release/offers.ts';
import { shown } from './argument-fault.ts';
import type { Shop } from './shop.ts';
import { failed, succeededWith, type ToolResult } from './tool-result.ts';

/** Members of a challenge entry that a payment is signed from; the 402 of the request has all of them. */
const SIGNED_FROM = [
  'scheme',
  'network',
  'maxAmountRequired',
  'asset',
  'payTo',
  'resource',
  'maxTimeoutSeconds',
  'extra',
] as const;

/** What an operation costs, how it is paid and what comes back; asks what is paid as anybody could, and buys nothing. */
export async function quote({ request }: JsonObject, shop: Shop): Promise<ToolResult> {
  const asked = targetIn(String(request), shop.baseUrl);
  const found = routeOf(asked, shop);
  const offer = found === undefined ? undefined : shop.offers.get(found.endpoint.path);
  if (found === undefined || offer === undefined) {
    return failed(`Cannot quote ${shown(asked)}: no operation here; search finds requests`);
  }
  if (!offer.sellsNow) {
    return failed(
      `Cannot quote ${shown(asked)}: nothing is stored for it now; search finds what is`,
    );
  }
  // A path alone is asked for with its example; what it needs beside that is said by the 422.
  const target = found.bare ? offer.request : found.target;
  const example = found.bare ? exampleMembers(found.endpoint) : {};
  const { endpoint } = found.bare ? defined(routeOf(target, shop), 'the example') : found;
  const quoted = { endpoint, target, example };
  if (endpoint.priceUsd === null) return freeQuote(quoted, shop);
  const reply = await shop.ask(found.fault === null || found.bare ? target : asked);
  return reply.status === 402
    ? succeededWith(paidQuote(quoted, { offer, reply }, shop))
    : failed(reply.body.toString());
}

/** The operation of a target; undefined where there is none. */
function routeOf(target: string, { catalog }: Shop): Route | undefined {
  const parsed = canonicalRequest(target);
  return 'status' in parsed ? undefined : route(parsed, catalog);
}

/** What a quote of the example of a paid operation says beside: that of another signal may cost more or nothing. */
function exampleMembers(endpoint: Endpoint): object {
  if (endpoint.priceUsd === null) return {};
  const isOne = endpoint.signalPrices === undefined;
  return { is_example: true, ...(isOne ? {} : { price_range_usd: priceRange(endpoint) }) };
}

/** The target in what a model may send: with a method before it, or with the address of this service. */
function targetIn(request: string, baseUrl: string): string {
  const target = request.trim().replace(/^(GET|POST) +/i, '');
  return target.startsWith(`${baseUrl}/`) ? target.slice(baseUrl.length) : target;
}

/** What is quoted: the request that was asked for, or the example of a path alone. */
interface Quoted {
  readonly endpoint: Endpoint;
  readonly target: string;
  /** Members that say that it is an example. */
  readonly example: object;
}

function freeQuote({ endpoint, target, example }: Quoted, { baseUrl }: Shop): ToolResult {
  const { method, token } = endpoint;
  if (isBasket(endpoint)) {
    const how = `${BASKET_USAGE}: send it to ${baseUrl}${target}; it answers 402 with the sum of the prices and what cannot be sold. Sign accepts[0] and send the same body with X-PAYMENT`;
    return succeededWith({ ...head(endpoint, target), price_usd: 'sum', how });
  }
  const how = token
    ? `Needs a subscription token, which GET ${baseUrl}/gauge/subscribe sells: send GET ${baseUrl}${target} with Authorization: Bearer <token>`
    : `Free: send ${method} ${baseUrl}${target}`;
  return succeededWith({ ...head(endpoint, target), ...example, price_usd: '0', how });
}

interface Priced {
  readonly offer: Offer;
  readonly reply: Reply;
}

function paidQuote(
  { endpoint, target, example }: Quoted,
  { offer, reply }: Priced,
  { baseUrl }: Shop,
): object {
  const { x402Version, accepts } = JSON.parse(reply.body.toString()) as {
    readonly x402Version: number;
    readonly accepts: readonly Readonly<Record<string, unknown>>[];
  };
  const terms = accepts.map((entry) =>
    Object.fromEntries(SIGNED_FROM.map((name) => [name, entry[name]])),
  );
  return {
    ...head(endpoint, target),
    ...example,
    price_usd: endpoint.priceUsd,
    how: `No tool takes a payment, since tools only read: send GET ${baseUrl}${target} over HTTP, sign accepts[0] of its 402, and send the same GET with X-PAYMENT`,
    x402Version,
    accepts: terms,
    returns: Object.keys(offer.output ?? {}),
  };
}

function head({ summary }: Endpoint, target: string): object {
  return { request: target, answers: summary };
}
