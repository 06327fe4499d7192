import type { Catalog } from '../../../compiler/catalog/catalog.ts';
import { canonicalRequest, type Route, route } from '../../../compiler/catalog/route.ts';
import {
  SEARCH_OPERATION,
  TOOL_ARGUMENT_CHARS_MAX,
  type Tool,
  type ToolArgument,
  type ToolName,
} from '../../../compiler/catalog/tools.ts';
import { defined } from '../../../compiler/format/errors.ts';
import type { JsonObject, JsonValue } from '../../../compiler/format/strict-json.ts';
import type { EndpointPath } from '../../../compiler/products/products.ts';
import { BASKET_USAGE, isBasket } from '../../../compiler/products/shapes/basket.ts';
import { nearest } from '../../../compiler/products/shapes/nearest.ts';
import { canonicalTarget } from '../../../compiler/products/shapes/path.ts';
import { priceRange } from '../../../compiler/products/shapes/price.ts';
import { requestForModel } from '../../../compiler/products/shapes/product.ts';
import { respond } from '../../heart/answers/respond.ts';
import type { Question, Service } from '../../heart/answers/service.ts';
import { shown } from '../../heart/offer/no-charge.ts';
import type { Offers } from '../../heart/release/release-source.ts';
import { REQUEST_COST } from '../../wire/cost.ts';
import { headerFacts } from '../../wire/header-facts.ts';
import { BoundedMap } from '../../wire/maps.ts';
import type { Reply } from '../../wire/reply.ts';

/** Calls a tool as a plain GET that anyone could send, so that there is no second way to an answer. */
export async function callTool(tool: Tool, given: JsonObject, shop: Shop): Promise<ToolResult> {
  // Beside the request that brought it: what it asks is a request too.
  shop.spend(REQUEST_COST);
  const fault = argumentFault(tool, given);
  return fault === null ? CALLS[tool.name](given, shop, tool) : refused(tool, fault);
}

/** A result that is longer than there is room for, in the words of what to send instead. */
export function tooLong({ name, inputSchema }: Tool, bytes: number, room: number): ToolResult {
  const narrower = Object.keys(inputSchema.properties).filter((one) => NARROWING.includes(one));
  const narrow = narrower.length === 0 ? '' : `narrow it with ${narrower.join(', ')}, `;
  return failed(
    `Cannot answer "${name}": ${bytes} bytes, more than the ${Math.max(0, room)} that are left for this answer; ` +
      `${narrow}send it alone, or page the list with GET /gauge/catalog`,
  );
}

const NARROWING: readonly string[] = ['industry', 'signal_id', 'entity'];

function refused({ name }: Tool, fault: string): ToolResult {
  return failed(`Cannot call "${name}": ${fault}`);
}

const CALLS: Readonly<
  Record<ToolName, (given: JsonObject, shop: Shop, tool: Tool) => Promise<ToolResult>>
> = {
  search: ({ query }, shop) => searched(String(query), shop),
  quote,
  async verify_citation(given, { ask }, tool) {
    const hash = String(given.record_hash);
    const reply = await ask(target('/gauge/verify', { hash }));
    if (reply.status === 200) return succeeded(reply);
    if (reply.status !== 400) return failed(reply.body.toString());
    // The path uses another parameter name, so its usage error would name an argument that does not exist.
    const legal = tool.inputSchema.properties.record_hash?.description;
    return refused(tool, `argument "record_hash" is ${shown(hash)}; send ${legal}`);
  },
  find_signal: findSignal,
  async get_official_record({ signal_id, entity, dim }, { ask }) {
    const asked = target('/gauge', { signal_id, entity, dim });
    const reply = await ask(asked);
    // The 402 is the success: the very challenge that the paid URL answers.
    if (reply.status === 402) return succeeded(reply);
    const free = `Not for sale, it is free: send GET ${asked} over HTTP`;
    return failed(reply.status === 200 ? free : reply.body.toString());
  },
};

/** Words to ids; no result is an answer too, which says why. */
async function searched(words: string, { ask }: Shop): Promise<ToolResult> {
  const reply = await ask(target(SEARCH_OPERATION, { q: words }));
  return reply.status === 200 ? succeeded(reply) : failed(reply.body.toString());
}

async function findSignal(given: JsonObject, shop: Shop): Promise<ToolResult> {
  const { ask, catalog, baseUrl } = shop;
  const { query, industry, signal_id, entity, full, page = '1' } = given;
  if (query !== undefined) {
    const words = [query, signal_id, entity, industry].filter((one) => typeof one === 'string');
    return searched(words.join(' '), shop);
  }
  const form = full === true ? { page } : { summary: '1' };
  const reply = await ask(target('/gauge/coverage', { industry, signal_id, entity, ...form }));
  if (reply.status !== 200) return failed(reply.body.toString());
  // Inside of a text the marks of an empty list would be escaped.
  const { body } = reply;
  if (body.length < EMPTY_BYTES_MAX && body.includes('"signals":[]')) {
    return failed(nothingFound(given, catalog));
  }
  const isNarrow = NARROWING.some((name) => given[name] !== undefined);
  if (isNarrow || full === true) return succeededAgain(reply);
  return printedOnce(reply, (whole) => overview(whole, baseUrl));
}

/** More than a coverage without signals is long. */
const EMPTY_BYTES_MAX = 10_000;

function target(
  path: EndpointPath,
  given: Readonly<Record<string, JsonValue | undefined>>,
): string {
  const texts = Object.entries(given).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  return canonicalTarget(path, Object.fromEntries(texts));
}

/** What tools work with: a service that is asked, and what it can sell. */
export interface Shop {
  /** What this service answers to a GET of a target without any payment. */
  readonly ask: (target: string) => Promise<Reply>;
  /** What was asked last and is not there, for the log. */
  wanted?: string | undefined;
  readonly catalog: Catalog;
  readonly offers: Offers;
  readonly baseUrl: string;
  /** Charges the caller units of the rate limit, beside what is asked. */
  readonly spend: Question['spend'];
}

/** The unpaid GET of a program that sends no header. */
const PLAIN_FACTS = headerFacts(['host', 'localhost', 'accept', 'application/json']);

/** A service that is asked in plain GETs, which the caller pays the cost of. */
export function shopOf({ spend, trace }: Question, service: Service): Shop {
  const readBody = (): Promise<Buffer> => Promise.resolve(Buffer.alloc(0));
  const { release, baseUrl } = service;
  const shop: Shop = {
    async ask(target) {
      const asked = { method: 'GET', target, facts: PLAIN_FACTS, spend, readBody, trace };
      const { reply } = await respond(asked, service);
      shop.wanted = reply.wanted ?? shop.wanted;
      return reply;
    },
    catalog: release.catalog,
    offers: release.offers,
    baseUrl,
    spend,
  };
  return shop;
}

/** What is wrong with the arguments and what to send instead; null when they fit the schema. */
export function argumentFault({ inputSchema }: Tool, given: JsonObject): string | null {
  const { properties, required } = inputSchema;
  const legal = Object.keys(properties).join(', ');
  const missing = required.filter((name) => !Object.hasOwn(given, name));
  if (missing.length > 0)
    return `argument missing: ${missing.join(', ')}; legal arguments: ${legal}`;
  for (const [name, value] of Object.entries(given)) {
    const argument = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (argument === undefined) return `unknown argument ${shown(name)}; legal arguments: ${legal}`;
    const fault = valueFault(argument, value);
    if (fault !== null) return `argument "${name}" ${fault}`;
  }
  return null;
}

function valueFault(argument: ToolArgument, value: JsonValue): string | null {
  const { type } = argument;
  const wanted = argument.description ?? `a ${type}`;
  if (typeof value !== type) return `is not a ${type}; send ${wanted}`;
  if (typeof value !== 'string') return null;
  if (value === '') return `is empty; send ${wanted}`;
  if (value.length > TOOL_ARGUMENT_CHARS_MAX) {
    return `is longer than ${TOOL_ARGUMENT_CHARS_MAX} characters`;
  }
  const legal = argument.enum ?? [value];
  return legal.includes(value) ? null : `is ${shown(value)}; send one of ${legal.join(', ')}`;
}

/** Why a search found nothing, and what to search for instead. */
export function nothingFound(
  { industry, signal_id, entity, page }: JsonObject,
  catalog: Catalog,
): string {
  // Of signals none is guessed: a near id is another signal.
  const industries = [...new Set(catalog.lines.map(({ industry }) => industry))].sort();
  if (typeof industry === 'string' && !industries.includes(industry)) {
    const best = nearest(industry, industries);
    const meant = best === null ? '' : ` (did you mean "${best}"?)`;
    return `No industry ${shown(industry)}${meant}; send one of ${industries.join(', ')}`;
  }
  if (typeof signal_id === 'string' && !catalog.entryById.has(signal_id)) {
    const words = catalog.operationByPath.has(SEARCH_OPERATION) ? 'send its words as query; ' : '';
    return `No signal ${shown(signal_id)}; ${words}find_signal without arguments leads to all`;
  }
  if (typeof page === 'string' && page !== '1') {
    return `Page ${shown(page)} has nothing; leave page out for the first, and follow next`;
  }
  if (typeof entity === 'string') {
    return `No reading of entity ${shown(entity)} matches; find_signal with signal_id and full=true lists its entities`;
  }
  return 'This signal belongs to another industry; leave industry out';
}

/** The answer of a tool as the members of a JSON object: content for a model, and the same as data where the call succeeded. */
type ToolResult = ReturnType<typeof result>;

/** A result that repeats a JSON body, as text and as data. */
function succeeded({ body }: Reply): ToolResult {
  return succeededWith(body.toString());
}

function succeededWith(members: object | string): ToolResult {
  const json = typeof members === 'string' ? members : JSON.stringify(members);
  return result(`${content(json)},"structuredContent":${json}`, false);
}

/** Bytes of results that are kept, with the bodies that they repeat. */
const PRINTED_BYTES_MAX = 16 * 1024 * 1024;
const printed = new BoundedMap<Reply['body'], ToolResult>({
  bytes: PRINTED_BYTES_MAX,
  isByUse: true,
});

/** The same for a body that is kept and given many times: it is printed once. */
export function succeededAgain(reply: Reply): ToolResult {
  return printedOnce(reply, succeeded);
}

/** The result of a body that is kept and given many times, each time in the same way. */
function printedOnce(reply: Reply, print: (reply: Reply) => ToolResult): ToolResult {
  const { body } = reply;
  const known = printed.get(body);
  if (known !== undefined) return known;
  const made = print(reply);
  printed.set(body, made, body.length + made.bytes);
  return made;
}

/** A result that says what went wrong and what to send instead. */
export function failed(text: string): ToolResult {
  return result(content(text), true);
}

function result(given: string, isError: boolean) {
  const members = `${given},"isError":${isError}`;
  return { members, bytes: Buffer.byteLength(members) };
}

function content(text: string): string {
  return `"content":${JSON.stringify([{ type: 'text', text }])}`;
}

/** Industries that an overview names; a catalogue of a publisher's own may have any number. */
const INDUSTRIES_MAX = 40;

/** A compact coverage in short: the totals, and the industries by readings; each industry is a page of its own. */
function overview({ body }: Reply, baseUrl: string): ToolResult {
  const { totals, signals } = JSON.parse(body.toString()) as {
    totals: object;
    signals: readonly { industry: string; entities_count: number }[];
  };
  const counts = new Map<string, number>();
  for (const { industry, entities_count } of signals) {
    if (entities_count > 0) counts.set(industry, (counts.get(industry) ?? 0) + 1);
  }
  const largestFirst = [...counts].sort(([, a], [, b]) => b - a);
  const left = largestFirst.length - INDUSTRIES_MAX;
  return succeededWith({
    totals,
    industries: Object.fromEntries(largestFirst.slice(0, INDUSTRIES_MAX)),
    ...(left > 0 ? { industries_left_out: left } : {}),
    next: `find_signal with one industry lists its signals; GET ${baseUrl}/gauge/coverage?summary=1 lists all`,
  });
}

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
async function quote({ request }: JsonObject, shop: Shop): Promise<ToolResult> {
  // A model may send it with a method before it, or with the address of this service.
  const bare = String(request)
    .trim()
    .replace(/^(GET|POST) +/i, '');
  const asked = bare.startsWith(`${shop.baseUrl}/`) ? bare.slice(shop.baseUrl.length) : bare;
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
  const { endpoint } = found.bare ? defined(routeOf(target, shop), 'the example') : found;
  // That of another signal may cost more or nothing.
  const isOne = found.endpoint.signalPrices === undefined;
  const range = isOne ? {} : { price_range_usd: priceRange(found.endpoint) };
  const isExample = found.bare && found.endpoint.priceUsd !== null;
  const example = isExample ? { is_example: true, ...range } : {};
  const quoted = { request: target, answers: endpoint.summary, ...example };
  const url = `${shop.baseUrl}${target}`;
  if (endpoint.priceUsd === null) {
    const { method, token } = endpoint;
    let [price_usd, how] = ['0', `Free: send ${method} ${url}`];
    if (isBasket(endpoint)) {
      price_usd = 'sum';
      how = `${BASKET_USAGE}: send it to ${url}; it answers 402 with the sum of the prices and what cannot be sold. Sign accepts[0] and send the same body with X-PAYMENT`;
    } else if (token) {
      how = `Needs a subscription token, which GET ${shop.baseUrl}/gauge/subscribe sells: send GET ${url} with Authorization: Bearer <token>`;
    }
    return succeededWith({ ...quoted, price_usd, how });
  }
  const asModel = `${shop.baseUrl}${requestForModel(endpoint, target)}`;
  const reply = await shop.ask(found.fault === null || found.bare ? target : asked);
  if (reply.status !== 402) return failed(reply.body.toString());
  const { x402Version, accepts } = JSON.parse(reply.body.toString()) as {
    x402Version: number;
    accepts: readonly Readonly<Record<string, unknown>>[];
  };
  return succeededWith({
    ...quoted,
    price_usd: endpoint.priceUsd,
    how: `No tool takes a payment, since tools only read: send GET ${asModel} over HTTP, sign accepts[0] of its 402, and send the same GET with X-PAYMENT`,
    x402Version,
    accepts: accepts.map((entry) =>
      Object.fromEntries(SIGNED_FROM.map((name) => [name, entry[name]])),
    ),
    returns: Object.keys(offer.output ?? {}),
  });
}

function routeOf(target: string, { catalog }: Shop): Route | undefined {
  const parsed = canonicalRequest(target);
  return 'status' in parsed ? undefined : route(parsed, catalog);
}
