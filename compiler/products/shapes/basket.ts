import { z } from 'zod';
import { isObject, type JsonValue } from '../../format/strict-json.ts';
import { atomicAmount, priceRange, USD, usdAmount } from './price.ts';
import type { Endpoint } from './product.ts';

// A basket is up to 30 requests that are sold as one payment: `POST /gauge/basket` with {"requests": [path?query, …]}.

/** Most requests of one basket. */
export const BASKET_REQUESTS_MAX = 30;
/** Longest body of a request for a basket, in bytes. */
export const BASKET_BODY_BYTES_MAX = 65_536;
/** Longest answers of one basket together, in bytes. */
export const BASKET_ANSWERS_BYTES_MAX = 8_388_608;

/** What a basket is sent as. */
export const BASKET_USAGE =
  'POST /gauge/basket {"requests": ["/gauge?signal_id=…&entity=…", …]}, 1 to 30 paid GET requests as path?query';

/** Whether an operation sells baskets: its price is the sum of what is in one. */
export function isBasket({ answer }: Pick<Endpoint, 'answer'>): boolean {
  return answer === 'basket';
}

/** Lowest and highest decimal USD of a basket: one request of the cheapest operation, the most of the dearest one. */
export function basketRange(operations: readonly Endpoint[]) {
  const prices = operations
    .filter((row) => row.priceUsd !== null && row.answer !== 'mint')
    .flatMap((row) => Object.values(priceRange(row)))
    .map((usd) => BigInt(atomicAmount(usd)))
    .filter((atomic) => atomic > 0n)
    .sort((a, b) => (a < b ? -1 : 1));
  const [min = 0n] = prices;
  const max = (prices.at(-1) ?? 0n) * BigInt(BASKET_REQUESTS_MAX);
  return { min: usdAmount(String(min)), max: usdAmount(String(max)) };
}

/** The requests of a basket, as they were sent; or why it is none, as the end of a sentence. */
export function basketRequests(body: JsonValue): readonly string[] | string {
  if (!isObject(body)) return 'not an object';
  const [name, ...others] = Object.keys(body);
  if (name !== 'requests' || others.length > 0) return 'its only member must be "requests"';
  const { requests } = body;
  if (!Array.isArray(requests)) return '"requests" must be a list';
  if (requests.length === 0) return '"requests" is empty';
  if (requests.length > BASKET_REQUESTS_MAX) {
    return `${requests.length} requests, more than ${BASKET_REQUESTS_MAX}; send several baskets`;
  }
  const at = requests.findIndex((one) => typeof one !== 'string');
  return at === -1 ? (requests as string[]) : `request ${at + 1} must be a text like "/gauge?…"`;
}

const request = z
  .string()
  .describe('canonical path and query; as it was sent where nothing was sold');
const usd = z
  .string()
  .regex(USD)
  .meta({ examples: ['0.01'] });
const price_usd = usd.describe('price in US dollars, a decimal');
const total_usd = usd.describe('what the sold requests cost together, in US dollars, a decimal');
const PARTS = 'the requests in their order, each with its answer or with why it has none';
const unsoldSchema = z.strictObject({
  request,
  not_sold: z.string().describe('why this request has no answer; it was not charged'),
});

/** One request of a basket: its answer as it is sold alone, or why it has none and was not charged. */
const partSchema = z.union([
  z.strictObject({
    request,
    price_usd,
    answer: z
      .looseObject({})
      .describe('the answer as the request sells it alone, with its own signature'),
  }),
  unsoldSchema,
]);

const quotedSchema = z.union([
  z.strictObject({
    request,
    price_usd,
  }),
  unsoldSchema,
]);
export type QuotedPart = z.infer<typeof quotedSchema>;

/** The member `basket` of the 402 to a basket. */
export const basketQuoteSchema = z.strictObject({
  total_usd,
  parts: z.array(quotedSchema).min(1).max(BASKET_REQUESTS_MAX).describe(PARTS),
});

/** Body of a basket that was bought. Nobody signs the basket: each answer carries its own citation. */
export const basketSchema = z.strictObject({
  endpoint: z.literal('gauge/basket').describe('which operation answered'),
  total_usd,
  parts: z.array(partSchema).min(1).max(BASKET_REQUESTS_MAX).describe(PARTS),
});
export type BasketBody = z.infer<typeof basketSchema>;
export type BasketPart = BasketBody['parts'][number];
export type SoldPart = Extract<BasketPart, { readonly answer: object }>;

/** Whether a request of a basket was sold. */
export function isSoldPart(part: BasketPart): part is SoldPart {
  return 'answer' in part;
}

/** A delivered basket; null for any other body, also for one that only calls itself a basket. */
export function basketOf(body: JsonValue): BasketBody | null {
  const isNamed = isObject(body) && body.endpoint === 'gauge/basket';
  const parsed = isNamed ? basketSchema.safeParse(body) : null;
  return parsed?.success === true ? parsed.data : null;
}

/** Whether a part was delivered as it was quoted: not sold, or sold at this price. */
export function isAsQuoted(part: BasketPart, quoted: QuotedPart | undefined): boolean {
  const price = quoted !== undefined && 'price_usd' in quoted ? quoted.price_usd : null;
  return part.request === quoted?.request && price === (isSoldPart(part) ? part.price_usd : null);
}
