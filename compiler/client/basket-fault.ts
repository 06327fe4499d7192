import { basketOf, basketRequests, isSoldPart } from '../contract/basket.ts';
import type { Catalog } from '../contract/catalog/catalog.ts';
import { type JsonValue, parseJson } from '../contract/strict-json.ts';
import { questionOf } from '../verify/answer-fault.ts';

/**
 * Why a delivered basket is not the one that was sent, or null if it is: each request in its place, with its answer or named
 * as not sold. Whether an answer is true, and to its request, is the verifier's to say.
 */
export function basketFault(body: JsonValue, sent: string, catalog: Catalog): string | null {
  const basket = basketOf(body);
  const requests = basketRequests(parseJson(sent));
  if (basket === null || typeof requests === 'string') return 'the body is not that of a basket';
  const { parts } = basket;
  if (parts.length !== requests.length) {
    return `the body has ${parts.length} parts for ${requests.length} requests`;
  }
  const at = parts.findIndex((part, place) => {
    const asked = requests[place] ?? '';
    return isSoldPart(part)
      ? targetOf(part.request, catalog) !== targetOf(asked, catalog)
      : part.request !== asked;
  });
  return at === -1 ? null : `part ${at + 1} is not what request ${at + 1} asked for`;
}

/** The one spelling of a request; what the catalogue lacks is compared as it stands. */
function targetOf(request: string, catalog: Catalog): string {
  return questionOf(request, catalog)?.target ?? request;
}
