import type { Catalog } from '../../compiler/contract/catalog/catalog.ts';
import { defined } from '../../compiler/contract/defined.ts';
import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import { usdAmount } from '../../compiler/contract/price.ts';
import { canonicalRequest, route } from '../../compiler/contract/route.ts';
import type { JournalEntry } from '../money/journal.ts';

// A release can take away what was sold before. Whoever paid for it still gets it, so a sale of the journal has a row of the
// table, whatever the table says now.

/** The row that sells a canonical target, at its price; null where nothing of this catalogue does. */
export function soldEndpoint(target: string, catalog: Catalog): Endpoint | null {
  const request = canonicalRequest(target);
  const routed = 'status' in request ? undefined : route(request, catalog);
  if (routed === undefined || routed.fault !== null || routed.target !== target) return null;
  return routed.endpoint.priceUsd === null ? null : routed.endpoint;
}

/** What was sold by a sale of the journal whose target nothing sells now, at the price that was paid. */
export function formerEndpoint({ resource, usd, value }: Sale): Endpoint {
  const isPosted = resource.startsWith('POST ');
  return {
    path: defined(targetOfResource(resource).split('?')[0], 'the path'),
    method: isPosted ? 'POST' : 'GET',
    priceUsd: usdAmount(usd ?? value),
    token: false,
    tag: '[SIGNAL+PROOF]',
    params: {},
    // Nothing else is sold by a POST.
    answer: isPosted ? 'basket' : 'file',
    summary: 'no longer offered',
  };
}
type Sale = Pick<JournalEntry, 'resource' | 'usd' | 'value'>;

/** `path?query` of what a row of the journal is bound to: `GET /gauge?entity=…`. */
export function targetOfResource(resource: string): string {
  return resource.slice(resource.indexOf(' ') + 1);
}

/**
 * Whether a request asks for a target that is no longer offered. Without its row nobody knows other names and the case of
 * its parameters, so every value of it must be there, under any name.
 */
export function asksForFormer(askedTarget: string, target: string): boolean {
  const [asked, former] = [canonicalRequest(askedTarget), canonicalRequest(target)];
  if ('status' in asked || 'status' in former) return false;
  const isPath = former.path === asked.path || former.path.startsWith(`${asked.path}/`);
  const values = new Set([...asked.values.values()].map((value) => value.toUpperCase()));
  return isPath && [...former.values.values()].every((value) => values.has(value.toUpperCase()));
}
