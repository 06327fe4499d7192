import {
  type CanonicalRequest,
  canonicalRequest,
} from '../../compiler/contract/canonical-request.ts';
import type { Catalog } from '../../compiler/contract/catalog/catalog.ts';
import { defined } from '../../compiler/contract/defined.ts';
import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import { usdAmount } from '../../compiler/contract/price.ts';
import { route } from '../../compiler/contract/route.ts';

// A release can take away what was sold before. Whoever paid for it still gets it, so a sale of the journal has a row of the
// table, whatever the table says now.

/** The row that sells a canonical target, at its price; null where nothing of this catalogue does. */
export function soldEndpoint(target: string, catalog: Catalog): Endpoint | null {
  const request = canonicalRequest(target);
  const routed = 'status' in request ? undefined : route(request, catalog);
  if (routed === undefined || routed.fault !== null || routed.target !== target) return null;
  return routed.endpoint.priceUsd === null ? null : routed.endpoint;
}

/** What was sold under a canonical target that nothing sells now, at the price that was paid (atomic units). */
export function formerEndpoint(target: string, valueAtomic: string): Endpoint {
  return {
    path: defined(target.split('?')[0], 'the path'),
    method: 'GET',
    priceUsd: usdAmount(valueAtomic),
    token: false,
    tag: '[SIGNAL+PROOF]',
    params: {},
    answer: 'file',
    summary: 'no longer offered',
  };
}

/** `path?query` of what a row of the journal is bound to: `GET /gauge?entity=…`. */
export function targetOfResource(resource: string): string {
  return resource.slice(resource.indexOf(' ') + 1);
}

/**
 * Whether a request asks for a target that is no longer offered. Without its row nobody knows other names and the case of
 * its parameters, so every value of it must be there, under any name.
 */
export function asksForFormer(asked: CanonicalRequest, target: string): boolean {
  const former = canonicalRequest(target);
  if ('status' in former) return false;
  const isPath = former.path === asked.path || former.path.startsWith(`${asked.path}/`);
  const values = new Set([...asked.values.values()].map((value) => value.toUpperCase()));
  return isPath && [...former.values.values()].every((value) => values.has(value.toUpperCase()));
}
