import type { Authorization } from './payment.ts';

/** What the chain itself says about an authorization. */
export type ChainVerdict =
  | { readonly state: 'paid'; readonly transaction: string }
  | { readonly state: 'cancelled' | 'unused' | 'unknown' };

/** The same, or a transfer that is mined but not yet as deep as required. */
export type ChainFinding = ChainVerdict | { readonly state: 'unconfirmed' };

/** What the chain says about authorizations; no question throws. */
export interface ChainEvidence {
  /** What became of an authorization, whoever submitted it; `unknown` when the node gives no answer. */
  find(authorization: Authorization): Promise<ChainFinding>;
  /** Whether this transaction made the transfer; `unused` when the node knows no such transfer. */
  confirm(authorization: Authorization, transaction: string): Promise<ChainFinding>;
}
