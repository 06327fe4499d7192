import type { SignInHeader } from '../http/header-facts.ts';
import { PRIVATE_NO_STORE, type Reply } from '../http/reply.ts';
import type { Journal, JournalEntry } from '../money/journal.ts';
import type { Network } from '../money/networks.ts';
import { isRefusal, type Refusal } from '../money/payment.ts';
import { readSignIn } from '../money/sign-in.ts';
import type { Challenger } from '../offer/challenge.ts';
import type { PurchaseRequest } from '../payment/tender.ts';
import { BoundedMap } from '../system/bounded-map.ts';
import { NO_LONGER_KEPT_REFUSAL } from './purchase-outcome.ts';
import type { PurchaseReply } from './purchase-reply.ts';

/** Messages that fetched something and are remembered; they are over sooner than one client address can push one out. */
const USED_MAX = 50_000;

interface SignInOptions {
  readonly journal: Pick<Journal, 'findOnDisk' | 'soldTo'>;
  readonly challenger: Challenger;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Public origin without a trailing slash. */
  readonly baseUrl: string;
}

/** A request of an account that shows who it is. */
export interface SignInRequest
  extends Pick<PurchaseRequest, 'endpoint' | 'target' | 'method' | 'trace'> {
  readonly paymentHeader: SignInHeader;
}

/** What is delivered, or the refusal, which waits for the answer as all refusals do. */
type Opened = PurchaseReply | { readonly sell: () => Promise<PurchaseReply> };

/** Delivers again to an account what it paid for; sells nothing and asks nobody for money. */
export function signIns(options: SignInOptions): (request: SignInRequest) => Promise<Opened> {
  const { journal, challenger, clock, baseUrl } = options;
  const used = new BoundedMap<string, true>(USED_MAX);
  const sale = async (address: string, resource: string): Promise<JournalEntry | null> => {
    const accounts = challenger.networks.map((network) => accountOf(network, address));
    const key = await journal.soldTo(accounts, resource);
    return key === null ? null : journal.findOnDisk(key);
  };
  const fetched = async (request: SignInRequest): Promise<PurchaseReply | Refusal> => {
    const { target, method, paymentHeader } = request;
    const terms = { url: baseUrl + target, networks: challenger.networks, nowMs: clock() };
    const read = readSignIn(paymentHeader.text, terms);
    if (isRefusal(read)) return read;
    const { address, nonce } = read;
    const message = `${address}|${nonce}`;
    const bought = used.has(message) ? null : delivered(await sale(address, `${method} ${target}`));
    // Others may have used the message during the look-up.
    if (bought === null || used.has(message)) return USED;
    if (isRefusal(bought)) return bought;
    used.set(message, true);
    return { ...bought, payer: address };
  };
  return async (request) => {
    const reply = await fetched(request);
    if (!isRefusal(reply)) return reply;
    const { endpoint, target } = request;
    const refusal = challenger.challenge(endpoint, target, `${reply.reason}: ${reply.error}`);
    return { sell: async () => refusal };
  };
}

function delivered(sale: JournalEntry | null): Reply | Refusal {
  if (sale === null) return NOT_PAID;
  const { body, contentType } = sale;
  if (body === null) return NO_LONGER_KEPT_REFUSAL;
  return { status: 200, headers: [['content-type', contentType], PRIVATE_NO_STORE], body };
}

/** What stands before the nonce in the keys of its payments. */
function accountOf({ name, asset }: Network, address: string): string {
  return `${name}|${asset}|${address}`.toLowerCase();
}

const USED: Refusal = {
  reason: 'invalid_siwx_nonce',
  error: 'this message was used already; sign the message of a new 402',
};
const NOT_PAID: Refusal = {
  reason: 'siwx_not_paid',
  error:
    'no settled payment of this account for this request is known; if you sent one, send the same payment again, else pay for it',
};
