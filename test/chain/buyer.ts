import type { Network } from '../../gatekeeper/settle/networks.ts';
import {
  type Authorization,
  priceOf,
  type Requirements,
  type X402Version,
} from '../../gatekeeper/settle/payment.ts';
import { headerOf, payer, type SignedPayment } from '../gatekeeper/payer.ts';
import { BUYER_ADDRESS } from '../gatekeeper/tiny-gate.ts';

/** What a client holds after it signed: it may send it as often as it likes. */
export interface Purchase {
  /** `path?query` of a GET, or path and body of a POST with a space between. */
  readonly target: string;
  readonly version: X402Version;
  readonly header: string;
  /** `PAYMENT-IDENTIFIER`; without it the buyer is known by its address alone. */
  readonly identifier?: string;
  readonly payment: SignedPayment;
  readonly price: bigint;
}

/** What came of one request with a payment. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  /** Decoded receipt, null without one. */
  readonly receipt: Readonly<Record<string, unknown>> | null;
}

const WINDOW_S = 300;

/** A client that buys as the published ones do, but lets the tests look at each step. */
export function buyer(network: Network, name: string) {
  const account = payer(network, name);
  return {
    address: account.address,
    /** Asks for the price and signs for it. */
    async sign(
      base: string,
      target: string,
      { version = 1, ...over }: Partial<Authorization> & { readonly version?: X402Version } = {},
    ): Promise<Purchase> {
      const terms = await termsOf(base + target, version);
      const now = Math.floor(Date.now() / 1000);
      const window = { validAfter: String(now - 600), validBefore: String(now + WINDOW_S) };
      const payment = await account.sign(terms.payTo, priceOf(terms), { ...window, ...over });
      const price = BigInt(payment.authorization.value);
      return { target, version, header: headerOf(terms, payment), payment, price };
    },
  };
}

/** Sends a purchase once; null when there was no answer. */
export async function send(
  base: string,
  { target, version, header, identifier }: Purchase,
  signal?: AbortSignal,
): Promise<Answer | null> {
  try {
    const name = version === 1 ? 'x-payment' : 'payment-signature';
    const { url, init } = requestOf(base + target);
    const response = await fetch(url, {
      ...init,
      headers: {
        ...BUYER_ADDRESS,
        [name]: header,
        ...(identifier === undefined ? {} : { 'payment-identifier': identifier }),
      },
      ...(signal === undefined ? {} : { signal }),
    });
    const body = await response.text();
    const receipt = response.headers.get(version === 1 ? 'x-payment-response' : 'payment-response');
    return { status: response.status, body, receipt: receipt === null ? null : decoded(receipt) };
  } catch {
    return null;
  }
}

/** A URL alone is asked by GET; one with a body behind it by POST. */
function requestOf(text: string): { readonly url: string; readonly init: RequestInit } {
  const end = text.indexOf(' ');
  if (end === -1) return { url: text, init: {} };
  return { url: text.slice(0, end), init: { method: 'POST', body: text.slice(end + 1) } };
}

/** What a request costs, in the shape of one version. */
export async function termsOf(url: string, version: X402Version): Promise<Requirements> {
  const [terms] = await termsOn(url, version);
  if (terms === undefined) throw new Error(`Cannot buy "${url}": no terms`);
  return terms;
}

/** The same on each network that is offered. */
export async function termsOn(url: string, version: X402Version): Promise<readonly Requirements[]> {
  const asked = requestOf(url);
  const response = await fetch(asked.url, asked.init);
  const body = await response.json();
  const challenge = version === 1 ? body : decoded(response.headers.get('payment-required') ?? '');
  return (challenge as { accepts: Requirements[] }).accepts;
}

function decoded(header: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
}
