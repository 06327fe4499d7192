import { clientAddress, type TrustedProxies } from './client-address.ts';
import type { HeaderFacts } from './header-facts.ts';
import type { RateLimit } from './rate-limit.ts';

/** A request before anything of it is answered. */
export interface Knock {
  /** Address of the socket. */
  readonly address: string;
  readonly method: string;
  /** The raw request target. */
  readonly target: string;
  readonly facts: HeaderFacts;
}

export interface AdmissionOptions {
  readonly limit: RateLimit;
  readonly proxies: TrustedProxies;
  /** True when a request fetches again what it paid for; it must be cheap and must not throw. */
  readonly isRepeat: (knock: Knock) => boolean;
}

/** Decides before anything else is looked at: 0 lets a request in, otherwise the seconds to wait. */
export type Admission = (knock: Knock, now: number) => number;

/** Who has paid is never turned away, and its fetching again is not counted. */
export function admission({ limit, proxies, isRepeat }: AdmissionOptions): Admission {
  return (knock, now) => {
    if (!limit.isOn || isRepeat(knock)) return 0;
    const { address, facts } = knock;
    return limit.take(clientAddress(address, facts.forwardedFor, proxies), now);
  };
}
