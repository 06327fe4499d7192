import {
  type BasketPart,
  basketOf,
  basketRequests,
  isAsQuoted,
  isSoldPart,
  type QuotedPart,
} from '../contract/basket.ts';
import type { Catalog } from '../contract/catalog/catalog.ts';
import { defined } from '../contract/defined.ts';
import { atomicAmount, usdAmount } from '../contract/price.ts';
import { type JsonValue, parseJson } from '../contract/strict-json.ts';
import { questionOf } from '../verify/answer-fault.ts';

/** What was sent for a basket. */
interface PaidBasket {
  /** The body. */
  readonly sent: string;
  /** What the payment was signed for. */
  readonly quoted: readonly QuotedPart[];
  /** Whether the prices of the catalogue are those of the purchase. */
  readonly isSoldNow: boolean;
  /** What the payment moves, in atomic units of USDC. */
  readonly paid: bigint;
}

/**
 * Why a delivered basket is not the one that was sent, or null if it is: each request in its place, with its answer or named
 * as not sold, as it was quoted, and no more paid than the answers cost. Whether an answer is true, and to its request, is the verifier's to
 * say, and so is the sum.
 */
export function basketFault(
  body: JsonValue,
  { sent, quoted, paid, isSoldNow }: PaidBasket,
  catalog: Catalog,
): string | null {
  const basket = basketOf(body);
  const requests = basketRequests(parseJson(sent));
  if (basket === null || typeof requests === 'string') return 'the body is not that of a basket';
  const { parts } = basket;
  if (parts.length !== requests.length) {
    return `the body has ${parts.length} parts for ${requests.length} requests`;
  }
  const at = parts.findIndex((part, place) => {
    const asked = defined(requests[place], 'the request of a part');
    return isSoldPart(part)
      ? targetOf(part.request, catalog) !== targetOf(asked, catalog)
      : part.request !== asked;
  });
  if (at !== -1) return `part ${at + 1} is not what request ${at + 1} asked for`;
  const other = parts.findIndex((part, place) => !isAsQuoted(part, quoted[place]));
  if (other !== -1) return `part ${other + 1} is not what was quoted for request ${other + 1}`;
  const dear = isSoldNow ? parts.findIndex((part) => !isAtPrice(part, catalog)) : -1;
  if (dear !== -1) return `part ${dear + 1} is not at its price in the catalogue`;
  if (paid <= BigInt(atomicAmount(basket.total_usd))) return null;
  return `${usdAmount(String(paid))} USD were paid for answers of ${basket.total_usd} USD`;
}

/** A part at a higher price could stand for one that was paid and kept back. */
function isAtPrice(part: BasketPart, catalog: Catalog): boolean {
  if (!isSoldPart(part)) return true;
  return questionOf(part.request, catalog)?.endpoint.priceUsd === part.price_usd;
}

/** The one spelling of a request; what the catalogue lacks is compared as it stands. */
function targetOf(request: string, catalog: Catalog): string {
  return questionOf(request, catalog)?.target ?? request;
}
