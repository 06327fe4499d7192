import type { X402Version } from '../payment/payment-header.ts';
import { clientAddress, type TrustedProxies } from './client-address.ts';
import type { HeaderFacts } from './header-facts.ts';
import type { RateLimit } from './rate-limit.ts';

export interface AdmissionOptions {
  readonly limit: RateLimit;
  readonly proxies: TrustedProxies;
  /** True when the payment of a header may have been taken already; it must be cheap and must not throw. */
  readonly mayKnow: (header: string, version: X402Version) => boolean;
}

/** Decides before anything else is looked at: 0 lets a request in, otherwise the seconds to wait. */
export type Admission = (socketAddress: string, facts: HeaderFacts, now: number) => number;

/** Who has paid is never turned away, and its fetching again is not counted. */
export function admission({ limit, proxies, mayKnow }: AdmissionOptions): Admission {
  return (socketAddress, facts, now) => {
    if (!limit.isOn) return 0;
    const { paymentV1, paymentV2, forwardedFor } = facts;
    if (paymentV1 !== null && mayKnow(paymentV1, 1)) return 0;
    if (paymentV2 !== null && mayKnow(paymentV2, 2)) return 0;
    return limit.take(clientAddress(socketAddress, forwardedFor, proxies), now);
  };
}
