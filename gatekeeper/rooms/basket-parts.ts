import { BASKET_ANSWERS_BYTES_MAX } from '../../compiler/contract/basket.ts';
import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import { atomicAmount, priceOf } from '../../compiler/contract/price.ts';
import { canonicalRequest, type Route, route } from '../../compiler/contract/route.ts';
import { answer } from '../answers/answers.ts';
import type { Question, Service } from '../answers/service.ts';
import { REQUEST_COST } from '../http/cost.ts';
import { JSON_MEDIA_TYPE, type Reply } from '../http/reply.ts';
import { mediaTypeOf } from '../offer/media-type.ts';

/** A request of a basket that has an answer. */
interface SoldPart {
  /** Canonical `path?query`. */
  readonly request: string;
  /** Decimal USD. */
  readonly priceUsd: string;
  /** The bytes that it is sold as alone; empty for a quote. */
  readonly body: Buffer;
  /** Length of the answer without its proof, of which a quote makes none. */
  readonly bytes: number;
}
/** A request of a basket that is not charged, as it was sent, and why. */
interface UnsoldPart {
  readonly request: string;
  readonly fault: string;
  /** A request of the same operation that would be answered, maybe about another subject. */
  readonly example?: string;
}
export type BasketPart = SoldPart | UnsoldPart;

/** A basket whose every request was answered or is named. */
export interface AnsweredBasket {
  readonly parts: readonly BasketPart[];
  /** What the sold ones cost together, atomic units. */
  readonly sum: bigint;
}

/** Answers of a basket that are longer together than one body may be. */
interface TooLong {
  /** From 1, the request that did not fit any more. */
  readonly tooLongAt: number;
}

export function isSold(part: BasketPart): part is SoldPart {
  return 'priceUsd' in part;
}

/** What becomes of the bytes: a quote only counts them. */
interface Reading {
  readonly question: Question;
  readonly keepsBodies: boolean;
}

/**
 * Answers the requests one after the other, each at the cost of a request of its own. A request that is alike an earlier
 * one, that has no answer, or that is not sold in baskets is named and costs nothing. Whatever throws is a failure of ours.
 */
export async function answeredBasket(
  requests: readonly string[],
  { question, keepsBodies }: Reading,
  service: Service,
): Promise<AnsweredBasket | TooLong> {
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

interface Place extends Reading {
  /** Numbers of the requests that are sold, from 1, by canonical target. */
  readonly places: ReadonlyMap<string, number>;
}

async function partOf(
  sent: string,
  { question, places, keepsBodies }: Place,
  service: Service,
): Promise<BasketPart> {
  const { release, rooms } = service;
  const request = canonicalRequest(sent);
  if ('status' in request) return { request: sent, fault: request.error };
  const routed = route(request, release.catalog);
  if (routed === undefined) return { request: sent, fault: NO_OPERATION };
  const fault = unsoldInBaskets(routed) ?? repeated(places.get(routed.target));
  if (fault !== null) return { request: sent, fault };
  const { endpoint, target } = routed;
  if (routed.fault !== null) return missed(sent, rooms.noCharge(routed, release));
  const asked = { ...question, route: routed, body: null, paymentHeaders: [] };
  const answered = await answer(asked, service);
  if (answered.kind === 'miss') return missed(sent, rooms.noCharge(routed, release));
  if (answered.kind === 'reply') return missed(sent, answered.reply);
  const { content } = answered;
  const body = keepsBodies ? (await rooms.proven(content, asked, service)).body : NO_BYTES;
  const bytes = content.body.length;
  return { request: target, priceUsd: priceOf(endpoint), body, bytes };
}

const NO_OPERATION = 'no operation at this path; /gauge/catalog lists what is sold';

/** Why an operation is never sold in a basket; null for one that is. */
function unsoldInBaskets({ endpoint, target }: Route): string | null {
  if (endpoint.priceUsd === null) return unpriced(endpoint);
  if (endpoint.answer === 'mint') return 'a token is sold alone: it is no signed answer';
  const isJson = mediaTypeOf(endpoint, target) === JSON_MEDIA_TYPE;
  return isJson ? null : 'a table is sold alone; ask for format=json';
}

function unpriced({ answer: word, method, token }: Endpoint): string {
  if (word === 'basket') return 'a basket cannot be in a basket';
  if (word === 'gone') return 'retired; leave it out';
  if (token) return 'opened by a token of /gauge/subscribe and not sold; send it alone';
  return method === 'GET'
    ? 'free; send it alone as a GET'
    : `a ${method} that is free; send it alone`;
}

function repeated(at: number | undefined): string | null {
  return at === undefined ? null : `the same as request ${at}, which is sold once`;
}

/** What a refusal of one request alone says. */
function missed(request: string, reply: Reply): UnsoldPart {
  const { error, example_request: example } = JSON.parse(reply.body.toString()) as {
    readonly error: string;
    readonly example_request?: string;
  };
  return example === undefined ? { request, fault: error } : { request, fault: error, example };
}
