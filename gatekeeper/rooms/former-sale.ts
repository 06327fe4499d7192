import { canonicalRequest } from '../../compiler/contract/route.ts';
import type { Service } from '../answers/service.ts';
import type { Reply } from '../http/reply.ts';
import type { HttpRequest } from '../http/request.ts';
import { BASKET_PATH, readBasket } from './basket.ts';

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
  if (!isFormerBasket(asked, service)) return null;
  const body = await asked.readBody();
  if (!Buffer.isBuffer(body)) return body;
  const basket = readBasket(body);
  if ('status' in basket) return null;
  return purchases.openFormer({ target: basket.target, method, paymentHeader, trace });
}

function isFormerBasket({ method, target }: HttpRequest, { release }: Service): boolean {
  const request = canonicalRequest(target);
  const isBasket = !('status' in request) && request.path === BASKET_PATH;
  return method === 'POST' && isBasket && !release.catalog.operationByPath.has(BASKET_PATH);
}
