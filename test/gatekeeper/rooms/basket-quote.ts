import { expect } from 'vitest';
import { NETWORKS } from '../../../gatekeeper/settle/networks.ts';
import type { Requirements, RequirementsV1 } from '../../../gatekeeper/settle/payment.ts';
import type { Gatekeeper } from '../../../gatekeeper/start.ts';
import { payer } from '../payer.ts';
import { BUYER_ADDRESS } from '../tiny-gate.ts';

interface Shown {
  readonly request: string;
  readonly price_usd?: string;
  readonly not_sold?: string;
}

/** The 402 of a basket. */
export interface Quote {
  readonly error: string;
  readonly accepts: [RequirementsV1];
  readonly basket: { readonly total_usd: string; readonly parts: readonly Shown[] };
}

/** Sends a text as it is, or a list of requests. */
export function postBasket(
  at: Gatekeeper,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify({ requests: body });
  return fetch(`${at.url}/gauge/basket`, {
    method: 'POST',
    body: text,
    headers: { ...BUYER_ADDRESS, ...headers },
  });
}

export async function quotedBasket(at: Gatekeeper, requests: readonly string[]): Promise<Quote> {
  const response = await postBasket(at, requests);
  expect(response.status).toBe(402);
  return (await response.json()) as Quote;
}

/** A payment of these terms, or of others in their place. */
export async function signedFor(terms: Requirements, over: Partial<RequirementsV1> = {}) {
  const asked = { ...terms, ...over } as Requirements;
  return { 'x-payment': await payer(NETWORKS['base-sepolia']).header(asked) };
}
