import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import { expect } from 'vitest';
import { sqliteJournal } from '../../gatekeeper/heart/journal/sqlite-journal.ts';
import { challenger } from '../../gatekeeper/heart/offer/challenge.ts';
import type { PurchaseRequest } from '../../gatekeeper/heart/payment/tender.ts';
import { type Delivery, UNKNOWN_RETRY_S } from '../../gatekeeper/heart/purchase/purchase-reply.ts';
import {
  type PurchaseService,
  purchaseService,
} from '../../gatekeeper/heart/purchase/purchase-service.ts';
import {
  authorizationOf,
  type Facilitator,
  type FacilitatorRequest,
  type SettleOutcome,
  type ValidityOutcome,
} from '../../gatekeeper/settle/facilitator.ts';
import type { Journal } from '../../gatekeeper/settle/journal.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import { jsonReply, type Reply } from '../../gatekeeper/wire/reply.ts';
import { builtinOperation } from '../builtin-rows.ts';
import { encoded, NOW_MS, payer, payerKey } from './payer.ts';

type PurchaseServiceOptions = Parameters<typeof purchaseService>[0];

const folder = mkdtempSync(join(tmpdir(), 'purchases-'));
let files = 0;

/** The public address of the shop, which messages to sign in name. */
export const BASE = 'https://api.example.com';
/** Where buyers are, unless a test says otherwise. */
export const HERE = '192.0.2.1';
export const PAY_TO = `0x${'ab'.repeat(20)}`;
export const TX = `0x${'12'.repeat(32)}`;
export const TARGET = '/gauge?entity=us-denver&signal_id=airquality.aqi';
export const network = NETWORKS.base;
export const shop = challenger({
  baseUrl: BASE,
  payTo: PAY_TO,
  network,
  serviceName: 'Example',
});
export const gauge = builtinOperation('/gauge');
export const v1 = shop.terms(gauge, TARGET, 1)[0];
export const v2 = shop.terms(gauge, TARGET, 2)[0];
export const alice = payer(network);

/** What a test may script while purchases are made. */
interface Script {
  now: number;
  verify: (request: FacilitatorRequest) => Promise<ValidityOutcome>;
  settle: (request: FacilitatorRequest) => Promise<SettleOutcome>;
  deliver: () => Promise<Delivery>;
}
/** A request with a payment header, and what makes its answer. */
export interface Bought extends Partial<Omit<PurchaseRequest, 'paymentHeader'>> {
  readonly header: string;
  readonly version?: 1 | 2;
  /** `PAYMENT-IDENTIFIER` and `SIGN-IN-WITH-X` beside the payment. */
  readonly identifier?: string;
  readonly signIn?: string;
  /** The network address; null behind a proxy that hides it. */
  readonly client?: string | null;
  readonly deliver: () => Promise<Delivery>;
}

/** Buys in the two steps of respond(): who is known is answered, anything else is made and sold. */
export async function buy(
  purchases: PurchaseService,
  { header: value, version = 1, deliver, identifier, signIn, client = HERE, ...order }: Bought,
): Promise<Reply> {
  const paymentHeader = {
    ...({ kind: 'payment', version, text: value } as const),
    ...(identifier === undefined ? {} : { identifier }),
    ...(signIn === undefined ? {} : { signIn }),
  };
  const trace = { id: 'r', sentId: 'r', client, ...order.trace };
  const usual = { endpoint: gauge, target: TARGET, method: 'GET' };
  const opened = await purchases.open({ ...usual, ...order, paymentHeader, trace });
  if (!('sell' in opened)) return opened;
  const made = async (): Promise<Delivery> => deliver();
  const delivery = await made().catch(() => null);
  // respond() answers what could not be made; its own tests hold it to that.
  return delivery === null
    ? jsonReply(503, { error: 'Not charged. The service failed', retryable: true })
    : opened.sell(delivery);
}

export interface Bench {
  readonly calls: { verify: FacilitatorRequest[]; settle: FacilitatorRequest[]; deliver: number };
  readonly script: Script;
  journal(): Journal;
  service(): ReturnType<typeof purchaseService>;
  pay(order: Omit<Bought, 'deliver'>): Promise<Reply>;
  /** Lets the time pass that a buyer in doubt is told to wait. */
  wait(): void;
  /** A new service over the same journal file. */
  restart(): void;
}

let settlements = 0;

const settledBy = (transaction: string): SettleOutcome => ({ verdict: 'settled', transaction });
/** Each settlement is a transaction of its own. */
export const settled = async (): Promise<SettleOutcome> => {
  settlements += 1;
  return settledBy(`0x${settlements.toString(16).padStart(64, '0')}`);
};

/** A journal on a file of its own. */
export function freshJournal(): ReturnType<typeof sqliteJournal> {
  files += 1;
  return sqliteJournal({ path: join(folder, `${files}.db`), clock: () => NOW_MS });
}

/** Purchases over a real journal and a scripted facilitator. */
export function bench(overrides: Partial<PurchaseServiceOptions> = {}): Bench {
  files += 1;
  const path = join(folder, `${files}.db`);
  const calls: Bench['calls'] = { verify: [], settle: [], deliver: 0 };
  const script: Script = {
    now: NOW_MS,
    verify: async () => ({ verdict: 'valid' }),
    // Like a good facilitator: the same transaction for the same payment.
    settle: async (request) => settledBy(authorizationOf(request).nonce),
    deliver: async () => ({
      body: Buffer.from(`{"body":${calls.deliver}}`),
      contentType: 'application/json',
    }),
  };
  const facilitator: Facilitator = {
    verify: (request) => {
      calls.verify.push(request);
      return script.verify(request);
    },
    settle: (request) => {
      calls.settle.push(request);
      return script.settle(request);
    },
    supported: async () => ({ verdict: 'none', detail: '' }),
  };
  const deliver = () => {
    calls.deliver += 1;
    return script.deliver();
  };
  const opened = () => {
    const clock = () => script.now;
    const journal = sqliteJournal({ path, clock, passedMs: clock });
    const usual = { facilitator, challenger: shop, clock, verifyFirst: true };
    const service = purchaseService({ journal, ...usual, ...overrides });
    return { journal, service };
  };
  let open = opened();
  return {
    calls,
    script,
    journal: () => open.journal,
    service: () => open.service,
    pay: (order) => buy(open.service, { ...order, deliver }),
    wait() {
      script.now += UNKNOWN_RETRY_S * 1000;
    },
    restart() {
      open.journal.close();
      open = opened();
    },
  };
}

export const header = (reply: Reply, name: string) =>
  reply.headers.find(([key]) => key === name)?.[1];
export const json = (reply: Reply) => JSON.parse(reply.body.toString());
export const receipt = (reply: Reply, name = 'x-payment-response') =>
  JSON.parse(Buffer.from(header(reply, name) ?? '', 'base64').toString());
export const tick = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export function expectRefused(reply: Reply, reason: string | RegExp): void {
  expect(reply.status).toBe(402);
  expect(json(reply).error).toMatch(reason);
  expect(json(reply).accepts).toHaveLength(1);
  expect(header(reply, 'cache-control')).toBe('no-store');
  expect(header(reply, 'x-payment-response')).toBeUndefined();
}

/** The journal key of a v1 header. */
export function keyOf(value: string): string {
  const { payload } = JSON.parse(Buffer.from(value, 'base64').toString());
  const { from, nonce } = payload.authorization;
  return `base|${network.asset}|${from}|${nonce}`.toLowerCase();
}

/** An instant so long after the one of payment tests. */
export const at = (ms: number): string => new Date(NOW_MS + ms).toISOString();

/** Titles of the lines of ERC-4361, in their order. */
const TITLES = {
  uri: 'URI',
  version: 'Version',
  chainId: 'Chain ID',
  nonce: 'Nonce',
  issuedAt: 'Issued At',
  expirationTime: 'Expiration Time',
  notBefore: 'Not Before',
  requestId: 'Request ID',
};

interface Plain extends Readonly<Partial<Record<keyof typeof TITLES | 'statement', string>>> {
  readonly domain: string;
  readonly address: string;
  readonly chainId: string;
  readonly resources: readonly string[];
}

/** What a wallet shows of a message, and signs. */
function walletText(plain: Plain): string {
  const shown: Plain = { ...plain, chainId: plain.chainId.slice('eip155:'.length) };
  const lines = Object.entries(TITLES).flatMap(([name, title]) => {
    const value = shown[name as keyof typeof TITLES];
    return value === undefined ? [] : [`${title}: ${value}`];
  });
  const statement = plain.statement === undefined ? [''] : [plain.statement, ''];
  return [
    `${plain.domain} wants you to sign in with your Ethereum account:`,
    plain.address,
    '',
    ...statement,
    ...lines,
    'Resources:',
    ...plain.resources.map((one) => `- ${one}`),
  ].join('\n');
}

let nonces = 0;
/** A message of Alice as a client would send it, with changes before and after it is signed. */
export async function message(
  changes: object = {},
  after: object = {},
  name = 'payer',
): Promise<string> {
  const account = privateKeyToAccount(payerKey(name));
  nonces += 1;
  const plain = {
    domain: 'api.example.com',
    address: account.address,
    uri: BASE + TARGET,
    version: '1' as const,
    chainId: 'eip155:8453',
    nonce: `abcdef${String(nonces).padStart(10, '0')}`,
    issuedAt: at(0),
    resources: [BASE + TARGET],
    ...changes,
  };
  const signature = await account.signMessage({ message: walletText(plain) });
  return encoded({ ...plain, type: 'eip191', signature, ...after });
}
