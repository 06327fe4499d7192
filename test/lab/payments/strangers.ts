import { decodeFunctionData, type Hex, parseAbi } from 'viem';
import { getBlock } from 'viem/actions';
import type { Network } from '../../../gatekeeper/settle/networks.ts';
import { priceOf, type Requirements } from '../../../gatekeeper/settle/payment.ts';
import { termsOf } from '../../chain/buyer.ts';
import type { Chain } from '../../chain/chain.ts';
import type { Row } from '../../chain/stall.ts';
import { askFrom, type Heard, rebuiltHeaders } from '../../gatekeeper/chain-reader.ts';
import { headerOf, payer, type SignedPayment } from '../../gatekeeper/payer.ts';
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

/**
 * Reads every settlement off the chain, pending ones too, rebuilds its header in both versions from the calldata, and tries it
 * from another address at what was bought and at something else, at once and again later. It brings no header that the shop
 * does not know: that would be a sale to its bearer.
 */
interface ReaderOptions {
  readonly chain: Chain;
  readonly url: string;
  /** Certificate of the shop. */
  readonly ca?: string | undefined;
  /** Everything that buyers ask for: one of them is right. */
  readonly targets: readonly string[];
  readonly journal: () => readonly Row[] | Promise<readonly Row[]>;
}

/** What the reader came to. */
export interface Reading {
  readonly settlements: number;
  readonly tries: number;
  /** Bytes of bodies of every 200 that it got. */
  readonly bytes: number;
  /** Settlements of which the right request was answered otherwise than the wrong one. */
  readonly toldApart: number;
}

const ABI = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);
/** Old settlements that each round tries again. */
const AGAIN = 2;

export function chainReader(options: ReaderOptions): { stop(): Promise<Reading> } {
  const seen = new Map<string, SignedPayment>();
  const tried = new Set<string>();
  const told = { tries: 0, bytes: 0, apart: new Set<string>() };
  let next = 0n;
  let isOver = false;
  const round = async (): Promise<void> => {
    next = await read(options.chain, next, seen);
    const rows = await options.journal();
    const known = rows.filter(({ state }) => state !== 'refused').map(authorizationOf);
    const fresh = known.filter((key) => seen.has(key) && !tried.has(key));
    const old = [...tried].slice(told.tries % Math.max(1, tried.size)).slice(0, AGAIN);
    for (const key of [...fresh, ...old]) {
      const isApart = await tryOne(seen.get(key), { ...options, told });
      tried.add(key);
      // What was refused meanwhile, since it was used before its claim, is no longer known to the shop and bought nothing.
      if (isApart && (await isKnown(key, options))) told.apart.add(key);
    }
  };
  const done = (async () => {
    while (!isOver) {
      // Nothing is to be had while the shop, its journal or the chain is away.
      await round().catch(() => undefined);
      await pause(ROUND_MS);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await done;
      await round();
      const { tries, bytes, apart } = told;
      return { settlements: tried.size, tries, bytes, toldApart: apart.size };
    },
  };
}

/** Notes what the blocks from this one on move, and what is about to; answers the first block that is still to come. */
async function read(
  { client }: Chain,
  from: bigint,
  seen: Map<string, SignedPayment>,
): Promise<bigint> {
  const newest = await client.getBlockNumber();
  const wanted = Array.from({ length: Number(newest - from) + 1 }, (_, at) => from + BigInt(at));
  const pending = { blockTag: 'pending', includeTransactions: true } as const;
  const blocks = [
    ...wanted.map((blockNumber) => getBlock(client, { blockNumber, includeTransactions: true })),
    getBlock(client, pending),
  ];
  for (const { transactions } of await Promise.all(blocks)) {
    for (const { input } of transactions) {
      const payment = paymentIn(input);
      if (payment === null) continue;
      const { from: payer, nonce } = payment.authorization;
      seen.set(`${payer}|${nonce}`.toLowerCase(), payment);
    }
  }
  return newest + 1n;
}

function paymentIn(data: Hex): SignedPayment | null {
  try {
    const { args } = decodeFunctionData({ abi: ABI, data });
    const [from, to, value, validAfter, validBefore, nonce, ...signed] = args;
    const [first, r = '', s = ''] = signed;
    const v = typeof first === 'number' ? first.toString(16).padStart(2, '0') : '';
    const signature = v === '' ? (first as Hex) : (`0x${r.slice(2)}${s.slice(2)}${v}` as const);
    const amounts = { value, validAfter, validBefore };
    const texts = Object.entries(amounts).map(([name, amount]) => [name, String(amount)] as const);
    const authorization = { from, to, ...Object.fromEntries(texts), nonce };
    return { authorization: authorization as SignedPayment['authorization'], signature };
  } catch {
    return null;
  }
}

async function isKnown(key: string, { journal }: ReaderOptions): Promise<boolean> {
  const rows = await journal();
  return rows.some((row) => authorizationOf(row) === key && row.state !== 'refused');
}

/** Whether the right request was answered otherwise than the wrong one. */
async function tryOne(
  payment: SignedPayment | undefined,
  by: ReaderOptions & { readonly told: { tries: number; bytes: number } },
): Promise<boolean> {
  if (payment === undefined) return false;
  const { chain, url, ca, targets, told } = by;
  let isApart = false;
  for (const [name, value] of rebuiltHeaders(payment, chain.network)) {
    const heard: Heard[] = [];
    for (const target of targets) {
      const answer = await askFrom(url, target, { headers: { [name]: value }, ca });
      told.tries += 1;
      if (answer.status === 200) told.bytes += answer.body.length;
      heard.push(answer);
    }
    const words = heard.map(({ status, body }) => `${status} ${body}`);
    // Whoever asks while something is killed, or too often, hears of that alone.
    const isPlain = heard.every(({ status }) => status < 429);
    if (isPlain && new Set(words).size > 1) isApart = true;
  }
  return isApart;
}
