import type { Network } from '../../gatekeeper/money/networks.ts';
import { priceOf, type Requirements } from '../../gatekeeper/money/payment.ts';
import { termsOf } from '../../test/chain/buyer.ts';
import type { Row } from '../../test/chain/stall.ts';
import { askFrom } from '../../test/gatekeeper/chain-reader.ts';
import { headerOf, payer, type SignedPayment } from '../../test/gatekeeper/payer.ts';
import { authorizationOf } from './audit.ts';
import { pause } from './client.ts';

/**
 * Sends payments that no money stands behind, from an address of its own: each second one of a fresh key, and each second
 * one in the name of a payer of the campaign, which somebody else signed.
 */
interface StrangersOptions {
  readonly network: Network;
  readonly url: string;
  /** Certificate of the shop. */
  readonly ca?: string | undefined;
  readonly target: string;
  /** Addresses of payers who do buy. */
  readonly names: readonly string[];
  readonly seed: number;
}

/** What strangers came to; beyond what they sent, calls and times they were refused, all figures must be 0. */
export interface StrangersReport {
  readonly sent: number;
  /** Calls of facilitators about their payments. */
  readonly calls: number;
  readonly settlements: number;
  readonly rows: number;
  readonly delivered: number;
  /** How often each status came. */
  readonly statuses: Readonly<Record<string, number>>;
}

/** What others know of a payment. */
interface Witnesses {
  readonly journal: readonly Row[];
  /** Calls of facilitators about a nonce, and those to settle it. */
  readonly asked: (nonce: string) => number;
  readonly settlements: (nonce: string) => readonly unknown[];
}

const ADDRESS = '127.0.0.3';
const ROUND_MS = 100;
const WINDOW_S = 300;

export function strangers(options: StrangersOptions): {
  stop(witnesses: () => Promise<Witnesses>): Promise<StrangersReport>;
} {
  const sent: SignedPayment[] = [];
  const statuses: Record<string, number> = {};
  let isOver = false;
  const done = (async () => {
    while (!isOver) {
      await round(options, sent, statuses).catch(() => undefined);
      await pause(ROUND_MS);
    }
  })();
  return {
    async stop(witnesses) {
      isOver = true;
      await done;
      const { journal, asked, settlements } = await witnesses();
      const keys = new Set(sent.map(keyOf));
      const nonces = sent.map(({ authorization }) => authorization.nonce);
      return {
        sent: sent.length,
        calls: nonces.reduce((sum, nonce) => sum + asked(nonce), 0),
        settlements: nonces.filter((nonce) => settlements(nonce).length > 0).length,
        rows: journal.filter((row) => keys.has(authorizationOf(row))).length,
        delivered: statuses[200] ?? 0,
        statuses,
      };
    },
  };
}

async function round(
  options: StrangersOptions,
  sent: SignedPayment[],
  statuses: Record<string, number>,
): Promise<void> {
  const { url, ca, target } = options;
  const terms = await termsOf(url + target, 1);
  const payment = await madeUp(options, terms, sent.length);
  sent.push(payment);
  const headers = { 'x-payment': headerOf(terms, payment) };
  const { status } = await askFrom(url, target, { headers, ca, localAddress: ADDRESS });
  statuses[status] = (statuses[status] ?? 0) + 1;
}

async function madeUp(
  { network, names, seed }: StrangersOptions,
  terms: Requirements,
  number: number,
): Promise<SignedPayment> {
  const now = Math.floor(Date.now() / 1000);
  const window = { validAfter: String(now - 600), validBefore: String(now + WINDOW_S) };
  const own = payer(network, `stranger ${seed} ${number}`);
  const payment = await own.sign(terms.payTo, priceOf(terms), window);
  const from = names[(number >> 1) % names.length];
  if (number % 2 === 0 || from === undefined) return payment;
  return { ...payment, authorization: { ...payment.authorization, from } };
}

function keyOf({ authorization }: SignedPayment): string {
  return `${authorization.from}|${authorization.nonce}`.toLowerCase();
}
