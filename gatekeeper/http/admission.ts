import { clientAddress, type TrustedProxies } from './client-address.ts';
import { costOfReading, PAYMENT_COST, REPEAT_COST, REQUEST_COST } from './cost.ts';
import { type HeaderFacts, pays } from './header-facts.ts';
import { type Account, type RateLimit, UNLIMITED } from './rate-limit.ts';

/** A request before anything of it is answered. */
export interface Arrival {
  /** Address of the socket. */
  readonly address: string;
  readonly method: string;
  /** The raw request target. */
  readonly target: string;
  readonly facts: HeaderFacts;
}

export interface AdmissionOptions {
  readonly limit: RateLimit;
  /** The bucket for clients that re-fetch what they paid for; what they use elsewhere does not count here. */
  readonly repeats: RateLimit;
  readonly proxies: TrustedProxies;
  /** True when a request that pays fetches again what it paid for; it must be cheap and must not throw. */
  readonly isRepeat: (arrival: Arrival) => boolean;
}

/** Decides whether a request is admitted, and charges for it. */
export interface Entry {
  /** 0 lets it in, otherwise the seconds to wait. */
  readonly wait: number;
  /** Pays for its body and its answer. */
  readonly account: Account;
}

/** Decides before anything else is looked at. */
export type Admission = (arrival: Arrival, now: number) => Entry;

/** The entry of what is not counted. */
export const UNCOUNTED: Entry = { wait: 0, account: UNLIMITED };

export function admission({ limit, repeats, proxies, isRepeat }: AdmissionOptions): Admission {
  return (arrival, now) => {
    if (!limit.isOn) return UNCOUNTED;
    const { address, facts } = arrival;
    const client = clientAddress(address, facts.forwardedFor, proxies);
    if (pays(facts) && isRepeat(arrival)) return enter(repeats.account(client), REPEAT_COST, now);
    return enter(limit.account(client), priceOf(arrival), now);
  };
}

function enter(account: Account, cost: number, now: number): Entry {
  return { wait: account.take(cost, now), account };
}

/** Characters of a target that are in the price. */
const TARGET_CHARS = 1024;

function priceOf({ target, facts }: Arrival): number {
  const more = costOfReading(Math.max(0, target.length - TARGET_CHARS));
  return (pays(facts) ? PAYMENT_COST : REQUEST_COST) + more;
}
