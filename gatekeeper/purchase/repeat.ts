import type { Catalog } from '../../compiler/contract/catalog/catalog.ts';
import { canonicalRequest, route } from '../../compiler/contract/route.ts';
import type { HeaderFacts } from '../http/header-facts.ts';
import type { PurchaseService } from './purchase-service.ts';

/** What is looked at of a request before it is answered. */
interface RepeatedRequest {
  readonly method: string;
  /** The raw request target. */
  readonly target: string;
  readonly facts: Pick<HeaderFacts, 'paymentHeaders'>;
  /** The network address; null where it is not known for sure. */
  readonly client: string | null;
}

/**
 * Whether a request fetches again what its own payment or receipt bought, or is buying now. Never waits: a payment that
 * is new, as most are, costs no look-up. Whoever is not known as its buyer repeats nothing, so no limit tells what it bought.
 */
export function isRepeat(
  { method, target, facts, client }: RepeatedRequest,
  purchases: Pick<PurchaseService, 'boughtBy'>,
  catalog: Catalog,
): boolean {
  const [paymentHeader, ...others] = facts.paymentHeaders;
  if (method !== 'GET' || paymentHeader === undefined || others.length > 0) return false;
  const bought = purchases.boughtBy(paymentHeader, client);
  return bought !== null && bought === resourceOf(target, catalog);
}

function resourceOf(rawTarget: string, catalog: Catalog): string | null {
  const request = canonicalRequest(rawTarget);
  const routed = 'status' in request ? undefined : route(request, catalog);
  if (routed === undefined || routed.endpoint.priceUsd === null) return null;
  return routed.fault === null ? `GET ${routed.target}` : null;
}
