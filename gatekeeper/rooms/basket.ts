import { hash } from 'node:crypto';
import { canonicalRequest, type Route, route } from '../../compiler/catalog/route.ts';
import { canonicalJson } from '../../compiler/format/canonical.ts';
import { messageOf } from '../../compiler/format/errors.ts';
import { decodeUtf8, parseJson } from '../../compiler/format/strict-json.ts';
import {
  BASKET_ANSWERS_BYTES_MAX,
  BASKET_BODY_BYTES_MAX,
  BASKET_USAGE,
  basketRange,
  basketRequests,
} from '../../compiler/products/shapes/basket.ts';
import { canonicalTarget } from '../../compiler/products/shapes/path.ts';
import { atomicAmount, priceOf, usdAmount } from '../../compiler/products/shapes/price.ts';
import { answer } from '../heart/answers/answers.ts';
import type { Answered, Question, Service } from '../heart/answers/service.ts';
import { CATALOG_REQUEST } from '../heart/offer/example-request.ts';
import { mediaTypeOf } from '../heart/offer/shown.ts';
import { tokenAmount, usdWorth } from '../settle/networks.ts';
import { isRefusal } from '../settle/payment.ts';
import { REQUEST_COST } from '../wire/cost.ts';
import type { X402Header } from '../wire/header-facts.ts';
import { JSON_MEDIA_TYPE, jsonReply, type Reply } from '../wire/reply.ts';
import type { HttpRequest } from '../wire/request.ts';

/** Baskets whose answers are gathered for a payment at the same time; each holds at most BASKET_ANSWERS_BYTES_MAX. */
const GATHERED_MAX = 16;
/** Seconds after which a service that gathers so many baskets is worth asking again. */
const BUSY_RETRY_S = 2;
/** Stands in for a value that no basket can cost, in a token that left the settings too: it may still be known. */
const NO_SUM = '1';
/** Digits of a price that can be named, in atomic units of USDC. */
const PRICE_DIGITS_MAX = 16;

const BASKET_PATH = '/gauge/basket';

interface Basket {
  requests: readonly string[];
  /** What the payment is bound to: the path with the digest of the canonical body. */
  target: string;
}

/**
 * `POST /gauge/basket`: up to 30 requests as one payment. Computed, because the caller brings the requests.
 *
 * Without a payment every request is answered, its bytes are counted and thrown away: the 402 asks for the sum of what
 * can be sold and names the rest. A payment is bound to the digest of the canonical body, so that it is known again
 * whatever the catalogue says by then. One that is new must be of exactly the sum that the same requests cost now: what
 * changed since the quote is refused with a fresh one, and nothing is charged. Without a body it is a question for the
 * price, as crawlers ask it.
 */
export async function basket(question: Question, service: Service): Promise<Answered> {
  if (question.body?.length === 0 && question.paymentHeaders.length === 0) {
    return { kind: 'reply', reply: priceOfNone(question, service) };
  }
  const read = readBasket(question.body);
  if ('status' in read) return { kind: 'reply', reply: read };
  const [header, ...others] = question.paymentHeaders;
  let reply: Reply;
  if (header === undefined) reply = await quoted(read, question, service);
  else if (others.length > 0) reply = await quoted(read, question, service, ONE_PAYMENT);
  else if (header.kind !== 'payment') reply = await quoted(read, question, service, NO_PAYMENT);
  else reply = await bought(read, header, question, service);
  return { kind: 'reply', reply };
}

const ONE_PAYMENT = 'invalid_payload: send only one of X-PAYMENT and PAYMENT-SIGNATURE';
const NO_PAYMENT =
  'invalid_payload: receipts and sign-ins are for single requests; send X-PAYMENT or PAYMENT-SIGNATURE, of a known payment too';

/** The 402 of the cheapest basket that there can be. */
function priceOfNone({ route: { endpoint } }: Question, { challenger, release }: Service): Reply {
  const { min, max } = basketRange(release.catalog.operations);
  const error = `A basket costs the sum of its requests, ${min} to ${max} USD: ${BASKET_USAGE}`;
  return challenger.challenge({ ...endpoint, priceUsd: min }, BASKET_PATH, error);
}

/** What a body asks for, or why it is no basket. */
function readBasket(body: Buffer | null): Basket | Reply {
  if (body === null) throw new TypeError('Cannot sell a basket: no body was read');
  if (body.length > BASKET_BODY_BYTES_MAX) {
    return refused(413, `the body is longer than ${BASKET_BODY_BYTES_MAX} bytes`);
  }
  try {
    const value = parseJson(decodeUtf8(body));
    const requests = basketRequests(value);
    if (typeof requests === 'string') return refused(400, requests);
    const digest = hash('sha256', canonicalJson(value));
    return { requests, target: canonicalTarget(BASKET_PATH, { digest }) };
  } catch (error) {
    return refused(400, messageOf(error));
  }
}

function refused(status: number, error: string): Reply {
  const text = `Not charged. Cannot read the basket: ${error}`;
  return jsonReply(status, { error: text, no_charge: true, usage: BASKET_USAGE });
}

/** The 402 over what can be sold now, or the refusal of a basket of which nothing can. */
async function quoted(
  basket: Basket,
  question: Question,
  service: Service,
  error?: string,
): Promise<Reply> {
  const reading = { question, keepsBodies: false };
  const answered = await answeredBasket(basket.requests, reading, service);
  if ('tooLongAt' in answered) return tooLong(answered.tooLongAt);
  return quoteOf(answered, { basket, question, error }, service);
}

function quoteOf(
  answered: AnsweredBasket,
  { basket, question, error }: { basket: Basket; question: Question; error?: string | undefined },
  service: Service,
): Reply {
  const { parts, sum } = answered;
  if (!parts.some(isSold)) {
    const examples = parts.flatMap((part) => (isSold(part) ? [] : (part.example ?? [])));
    return jsonReply(422, {
      error: `Not charged. Try GET ${CATALOG_REQUEST} - nothing in this basket can be sold`,
      no_charge: true,
      miss: 'no_data',
      usage: BASKET_USAGE,
      example_request: examples[0] ?? CATALOG_REQUEST,
      preview: CATALOG_REQUEST,
      basket: { total_usd: '0', parts: parts.map(shownPart) },
    });
  }
  service.baskets.sales.set(basket.target, salesIn(answered));
  const total = usdAmount(String(sum));
  const row = { ...question.route.endpoint, priceUsd: total };
  const challenge = service.challenger.challenge(row, basket.target, error);
  const shown = JSON.stringify({ total_usd: total, parts: parts.map(shownPart) });
  const text = challenge.body.toString('utf8');
  return { ...challenge, body: Buffer.from(`${text.slice(0, -1)},"basket":${shown}}`, 'utf8') };
}

function shownPart(part: BasketPart): object {
  return isSold(part)
    ? { request: part.request, price_usd: part.priceUsd }
    : { request: part.request, not_sold: part.fault };
}

function tooLong(at: number): Reply {
  return jsonReply(413, {
    error: `Not charged. The answers are longer than ${BASKET_ANSWERS_BYTES_MAX} bytes together from request ${at} on; send several baskets`,
    no_charge: true,
    usage: BASKET_USAGE,
  });
}

/** What is known is answered as it was; anything else must have an answer, at exactly this sum, before money is looked at. */
async function bought(
  basket: Basket,
  header: X402Header,
  question: Question,
  service: Service,
): Promise<Reply> {
  const transfer = await service.purchases.transferOf(header);
  if (isRefusal(transfer)) {
    const error = `${transfer.reason}: ${transfer.error}`;
    return quoted(basket, question, service, error);
  }
  const { value, token } = transfer;
  const usd = usdWorth(value, token) ?? value;
  // The terms of a known payment are those that it was signed for; a new one must have the sum of now.
  const priceUsd = usdAmount(usd.length <= PRICE_DIGITS_MAX && usd !== '0' ? usd : NO_SUM);
  const endpoint = { ...question.route.endpoint, priceUsd };
  const { target } = basket;
  const { trace } = question;
  const asked = { endpoint, target, method: 'POST', trace, paymentHeader: header };
  const opened = await service.purchases.open(asked);
  if (!('sell' in opened)) return opened;
  const answered = await gathered(basket, question, service);
  if ('status' in answered) return answered;
  const { sales } = service.baskets;
  const isQuoted = (sales.get(target) ?? salesIn(answered)) === salesIn(answered);
  const price = tokenAmount(usdAmount(String(answered.sum)), token);
  if (BigInt(price) === BigInt(value) && isQuoted) {
    return opened.sell({ body: bodyOf(answered), contentType: JSON_MEDIA_TYPE });
  }
  const error = `basket_changed: what can be sold of this basket is not what was quoted, or costs another sum than the ${value} that was signed; nothing was charged, sign for exactly the sum of this quote`;
  return quoteOf(answered, { basket, question, error }, service);
}

/** Every answer in hand, with its bytes, or why there is none. */
async function gathered(
  { requests }: Basket,
  question: Question,
  service: Service,
): Promise<AnsweredBasket | Reply> {
  const state = service.baskets;
  if (state.gathering >= GATHERED_MAX) {
    const error =
      'Not charged. Too many baskets at once. Send the same payment again; do not sign a new one';
    const body = { error, retryable: true, retry_after_s: BUSY_RETRY_S };
    return jsonReply(503, body, [['retry-after', String(BUSY_RETRY_S)]]);
  }
  state.gathering += 1;
  try {
    const answered = await answeredBasket(requests, { question, keepsBodies: true }, service);
    return 'tooLongAt' in answered ? tooLong(answered.tooLongAt) : answered;
  } finally {
    state.gathering -= 1;
  }
}

/** One digit for each request: whether it is sold. */
function salesIn({ parts }: AnsweredBasket): string {
  return parts.map((part) => (isSold(part) ? '1' : '0')).join('');
}

/** The parts in their order, each answer with the bytes that it is sold as alone. */
function bodyOf({ parts, sum }: AnsweredBasket): Buffer {
  const total = JSON.stringify(usdAmount(String(sum)));
  const chunks = parts.flatMap((part, at) => {
    const text = `${at === 0 ? '' : ','}${JSON.stringify(shownPart(part))}`;
    if (!isSold(part)) return [Buffer.from(text)];
    return [Buffer.from(`${text.slice(0, -1)},"answer":`), part.body, Buffer.from('}')];
  });
  const head = Buffer.from(`{"endpoint":"gauge/basket","total_usd":${total},"parts":[`);
  return Buffer.concat([head, ...chunks, Buffer.from(']}')]);
}

/** A request of a basket that has an answer. */
interface SoldPart {
  /** Canonical `path?query`. */
  request: string;
  /** Decimal USD. */
  priceUsd: string;
  /** The bytes that it is sold as alone; empty for a quote. */
  body: Buffer;
  /** Length of the answer without its proof, of which a quote makes none. */
  bytes: number;
}
/** A request of a basket that is not charged, as it was sent, and why. */
interface UnsoldPart {
  request: string;
  fault: string;
  /** A request of the same operation that would be answered, maybe about another subject. */
  example?: string;
}
type BasketPart = SoldPart | UnsoldPart;

/** A basket whose every request was answered or is named. */
interface AnsweredBasket {
  parts: readonly BasketPart[];
  /** What the sold ones cost together, atomic units. */
  sum: bigint;
}

function isSold(part: BasketPart): part is SoldPart {
  return 'priceUsd' in part;
}

/** What becomes of the bytes: a quote only counts them. */
interface Reading {
  question: Question;
  keepsBodies: boolean;
}

/**
 * Answers the requests one after the other, each at the cost of a request of its own. A request that is alike an earlier
 * one, that has no answer, or that is not sold in baskets is named and costs nothing. Whatever throws is a failure of ours.
 * `tooLongAt` is the number, from 1, of the request whose answer makes one body too long.
 */
async function answeredBasket(
  requests: readonly string[],
  { question, keepsBodies }: Reading,
  service: Service,
): Promise<AnsweredBasket | { tooLongAt: number }> {
  const parts: BasketPart[] = [];
  const places = new Map<string, number>();
  let [bytes, sum] = [0, 0n];
  for (const [at, request] of requests.entries()) {
    question.spend(REQUEST_COST);
    const part = await partOf(request, { question, places, keepsBodies }, service);
    if (isSold(part)) {
      places.set(part.request, at + 1);
      bytes += part.bytes;
      sum += BigInt(atomicAmount(part.priceUsd));
    }
    if (bytes > BASKET_ANSWERS_BYTES_MAX) return { tooLongAt: at + 1 };
    parts.push(part);
  }
  return { parts, sum };
}

const NO_BYTES = Buffer.alloc(0);

async function partOf(
  sent: string,
  // Numbers of the requests that are sold, from 1, by canonical target.
  { question, places, keepsBodies }: Reading & { places: ReadonlyMap<string, number> },
  service: Service,
): Promise<BasketPart> {
  const { release, rooms } = service;
  const request = canonicalRequest(sent);
  if ('status' in request) return { request: sent, fault: request.error };
  const routed = route(request, release.catalog);
  if (routed === undefined) return { request: sent, fault: NO_OPERATION };
  const at = places.get(routed.target);
  const repeated = at === undefined ? null : `the same as request ${at}, which is sold once`;
  const fault = unsoldInBaskets(routed) ?? repeated;
  if (fault !== null) return { request: sent, fault };
  const { endpoint, target } = routed;
  if (routed.fault !== null) return missed(sent, await rooms.noCharge(routed, release));
  const asked = { ...question, route: routed, body: null, paymentHeaders: [] };
  const answered = await answer(asked, service);
  if (answered.kind === 'miss') return missed(sent, await rooms.noCharge(routed, release));
  if (answered.kind === 'reply') return missed(sent, answered.reply);
  const { content } = answered;
  const body = keepsBodies ? (await rooms.proven(content, asked, service)).body : NO_BYTES;
  const bytes = content.body.length;
  return { request: target, priceUsd: priceOf(endpoint), body, bytes };
}

const NO_OPERATION = 'no operation at this path; /gauge/catalog lists what is sold';

/** Why an operation is never sold in a basket; null for one that is. */
function unsoldInBaskets({ endpoint, target, isFact }: Route): string | null {
  if (endpoint.priceUsd === null) {
    const { answer: word, method, token } = endpoint;
    if (word === 'basket') return 'a basket cannot be in a basket';
    if (word === 'gone') return 'retired; leave it out';
    if (token) return 'opened by a token of /gauge/subscribe and not sold; send it alone';
    return method === 'GET'
      ? 'free; send it alone as a GET'
      : `a ${method} that is free; send it alone`;
  }
  if (endpoint.answer === 'mint') return 'a token is sold alone: it is no signed answer';
  if (isFact) return 'a basket brings signed answers; leave out format=fact';
  const isJson = mediaTypeOf(endpoint, target) === JSON_MEDIA_TYPE;
  return isJson ? null : 'a table is sold alone; ask for format=json';
}

/** What a refusal of one request alone says. */
function missed(request: string, reply: Reply): UnsoldPart {
  const { error, example_request: example } = JSON.parse(reply.body.toString()) as {
    error: string;
    example_request?: string;
  };
  return example === undefined ? { request, fault: error } : { request, fault: error, example };
}

/**
 * What was paid for before a release took it away; null, at once for a request without a payment, for anything else.
 * Computed, because only the journal knows what a payment bought. A basket is known by its body, so that is read where
 * baskets are no longer sold, and nowhere else.
 */
export async function formerSale(asked: HttpRequest, service: Service): Promise<Reply | null> {
  const { method, target, facts, trace } = asked;
  const [paymentHeader, ...others] = facts.paymentHeaders;
  if (paymentHeader === undefined || others.length > 0) return null;
  const { purchases } = service;
  if (method === 'GET') return purchases.openFormer({ target, method, paymentHeader, trace });
  const request = canonicalRequest(target);
  const isBasket = method === 'POST' && !('status' in request) && request.path === BASKET_PATH;
  if (!isBasket || service.release.catalog.operationByPath.has(BASKET_PATH)) return null;
  const body = await asked.readBody();
  if (!Buffer.isBuffer(body)) return body;
  const basket = readBasket(body);
  if ('status' in basket) return null;
  return purchases.openFormer({ target: basket.target, method, paymentHeader, trace });
}
