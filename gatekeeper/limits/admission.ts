import { costOfReading, PAYMENT_COST, REPEAT_COST, REQUEST_COST } from '../http/cost.ts';
import { pays } from '../http/header-facts.ts';
import { type Account, type Arrival, type Entry, type Limits, UNLIMITED } from '../http/request.ts';
import { clientAddress, type Surroundings, surelyClient } from './client-address.ts';
import type { RateLimit } from './rate-limit.ts';

export interface AdmissionOptions extends Surroundings {
  readonly limit: RateLimit;
  /** The bucket for clients that re-fetch what they paid for; what they use elsewhere does not count here. */
  readonly repeats: RateLimit;
  /** True when the buyer of a payment fetches again what it paid for; it must be cheap and must not throw. */
  readonly isRepeat: (arrival: Arrival, client: string | null) => boolean;
  /** A monitor must not mistake a crowd of strangers for a failure of the service. */
  readonly isMonitor: (arrival: Arrival) => boolean;
}

/** The entry of what is not counted. */
const UNCOUNTED: Entry = { wait: 0, account: UNLIMITED };

/** Decides on requests, and charges for them. */
export function admission(options: AdmissionOptions): Limits['admit'] {
  const { limit, repeats, proxies, isRepeat, isMonitor } = options;
  return (arrival, now) => {
    if (!limit.isOn || isMonitor(arrival)) return UNCOUNTED;
    const { address, facts } = arrival;
    const client = clientAddress(address, facts.forwardedFor, proxies);
    if (pays(facts) && isRepeat(arrival, surelyClient(address, facts, options)))
      return enter(repeats.account(client), REPEAT_COST, now);
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
