import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Catalog } from '../catalog/catalog.ts';
import { canonicalJson } from '../format/canonical.ts';
import { parseJson } from '../format/strict-json.ts';
import { canonicalTarget } from '../products/shapes/path.ts';
import { USDC } from '../products/shapes/price.ts';
import { questionOf } from '../verify/answer-fault.ts';
import type { KeyTrust } from '../verify/key-trust.ts';
import { receiptIn, verifyReceipt } from '../verify/verify-receipt.ts';
import type { PendingPayment, PurchasedBody } from './client-error.ts';

// Once it is settled, a payment stands on the chain for everybody to read, so a service gives what it bought to whoever shows
// to be the buyer: by the identifier of the first request, or by a message that the account signs which paid. The message is
// made here, for exactly the URL of the payment. Nothing in it is the word of the service.

const IDENTIFIER = 'payment-identifier';
const RANDOM_BYTES = 16;
/** A message is taken for 300 s from the time in it, so a clock that is off by half of that still makes a good one. */
const ISSUED_BEFORE_MS = 145_000;

/** An account that signs texts, as those of viem do. */
export interface SigningAccount {
  readonly address: string;
  readonly signMessage: (text: { readonly message: string }) => Promise<string>;
  /** Signs the EIP-712 text of a transfer; with it the account pays by itself. */
  // biome-ignore lint/suspicious/noExplicitAny: each library has a type of its own for what is signed.
  readonly signTypedData?: (typed: any) => Promise<string>;
}

/** A new name for a purchase, which nobody guesses; it serves as the nonce of a message too. */
export function newIdentifier(): string {
  return bytesToHex(randomBytes(RANDOM_BYTES));
}

/** The payment with the name of its purchase: in it with version 2, unless its wallet gave it one, beside it with version 1. */
export function named(payment: PendingPayment, identifier: string): PendingPayment {
  if (payment.header === 'x-payment') return { ...payment, identifier };
  const signed = JSON.parse(atob(payment.value));
  const declared = signed.extensions?.[IDENTIFIER];
  if (declared?.info?.id !== undefined) return payment;
  const extension = { ...declared, info: { required: false, ...declared?.info, id: identifier } };
  const extensions = { ...signed.extensions, [IDENTIFIER]: extension };
  return { ...payment, value: btoa(JSON.stringify({ ...signed, extensions })) };
}

/** Makes a new value of `SIGN-IN-WITH-X` for each request with a payment. */
export type SignIn = () => Promise<string>;

/** How the account that paid shows it, by a text of ERC-4361 that it signs (EIP-191); null where it is not this one. */
export function signInFor(
  payment: PendingPayment,
  terms: {
    account: SigningAccount | undefined;
    targetIn: (url: string) => string | null;
    known: () => Promise<Catalog>;
    clock: () => number;
  },
): SignIn | null {
  const { account, targetIn, known, clock } = terms;
  const [payer, target] = [payerOf(payment), targetIn(payment.url)];
  const isOwn = account !== undefined && payer?.toLowerCase() === account.address.toLowerCase();
  const chain = isOwn ? chainOf(payment) : null;
  if (!isOwn || chain === null || target === null) return null;
  return async () => {
    const { origin, host, searchParams } = new URL(payment.url);
    const [path = ''] = target.split('?');
    // What a release took away since is in no catalogue.
    const sorted = canonicalTarget(path, Object.fromEntries(searchParams));
    const canonical = questionOf(target, await known())?.target ?? sorted;
    const uri = origin + requestOf(payment, { asked: target, canonical });
    const nonce = newIdentifier();
    const issuedAt = new Date(clock() - ISSUED_BEFORE_MS).toISOString();
    const { address } = account;
    const lines = [`URI: ${uri}`, 'Version: 1', `Chain ID: ${chain}`, `Nonce: ${nonce}`];
    const asks = `${host} wants you to sign in with your Ethereum account:`;
    const message = [asks, address, '', '', ...lines, `Issued At: ${issuedAt}`].join('\n');
    const signature = await account.signMessage({ message });
    const named = { domain: host, address, uri, version: '1', chainId: `eip155:${chain}` };
    return btoa(JSON.stringify({ ...named, type: 'eip191', nonce, issuedAt, signature }));
  };
}

/** The number of the chain on which a payment moves money, whichever version names it. */
function chainOf({ value }: PendingPayment): string | null {
  const { network, accepted } = JSON.parse(atob(value));
  const name = String(network ?? accepted?.network);
  const caip2 = Object.entries(USDC).find(([own]) => own === name)?.[1].caip2 ?? name;
  return /^eip155:([0-9]+)$/.exec(caip2)?.[1] ?? null;
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

interface ReceiptSale {
  /** The value of `PAYMENT-RESPONSE`; null without one. */
  readonly header: string | null;
  readonly bytes: Uint8Array;
  readonly payment: PendingPayment;
  /** Path and query as they were asked for and as the catalogue writes them; null for what it does not know. */
  readonly targets: { readonly asked: string; readonly canonical: string } | null;
}

/**
 * The signed receipt that came with an answer, judged against what was sent and delivered; null where none came. It never keeps
 * a body back: what was bought is there all the same.
 */
export function signedReceiptOf(
  sale: ReceiptSale,
  trust: KeyTrust,
): PurchasedBody['signedReceipt'] {
  const { header, bytes, payment, targets } = sale;
  const jws = header === null ? null : receiptIn(header);
  if (jws === null) return null;
  const expect = targets === null ? undefined : requestOf(payment, targets);
  return { jws, ...verifyReceipt(jws, trust, { body: bytes, expect, payer: payerOf(payment) }) };
}

/** Path and query behind the host: a service is often reached by another address than it has in public. */
export function requestOf(
  { url, body }: PendingPayment,
  { asked, canonical }: NonNullable<ReceiptSale['targets']>,
): string {
  const base = url.endsWith(asked) ? url.slice(0, url.length - asked.length) : '';
  const posted = body === undefined ? '' : `?digest=${digestOf(body)}`;
  return base.replace(/^https?:\/\/[^/]*/i, '') + canonical + posted;
}

/** What stands for the body of a basket in its request: hex of the hash of its canonical JSON. */
function digestOf(body: string): string {
  return bytesToHex(sha256(utf8ToBytes(canonicalJson(parseJson(body)))));
}

/** The account that signed a payment; undefined where it names none. */
export function payerOf({ value }: PendingPayment): string | undefined {
  try {
    const payer: unknown = JSON.parse(atob(value)).payload.authorization.from;
    return typeof payer === 'string' && ADDRESS.test(payer) ? payer : undefined;
  } catch {
    return undefined;
  }
}
