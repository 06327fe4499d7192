import type { Authorization } from './payment.ts';

/** What the chain itself says about an authorization. */
export type ChainVerdict =
  | {
      readonly state: 'paid';
      readonly transaction: string;
      /** Number of the block that holds the transfer. */
      readonly block: bigint;
    }
  /** `older`: used, but not later than the block that was the newest when the payment was claimed. */
  | { readonly state: 'cancelled' | 'unused' | 'unknown' | 'older' };

/** The same, or a transfer that is mined but not yet as deep as required. */
export type ChainFinding = ChainVerdict | { readonly state: 'unconfirmed' };

/** What the newest block shows of an account that is to pay, before anybody is asked for its money. */
export interface AccountStanding {
  /** Atomic units of the token. */
  readonly balance: bigint;
  /** The authorization was used or cancelled. */
  readonly isUsed: boolean;
  /** Null where it was not asked. */
  readonly hasCode: boolean | null;
}

/** What the chain says about authorizations; no question throws. */
export interface ChainEvidence {
  /** What became of an authorization, whoever used it; `after` leaves out uses up to that block. `unknown` without an answer. */
  find(authorization: Authorization, after?: ChainHead): Promise<ChainFinding>;
  /** Whether this transaction made the transfer; `unused` when the node knows no such transfer. */
  confirm(authorization: Authorization, transaction: string): Promise<ChainFinding>;
  /** What became of a transfer that was there once. */
  watch(authorization: Authorization, transaction: string): Promise<WatchedTransfer>;
  /** The newest block, read after the question; null without an answer, or when the node does not follow its chain. */
  head(): Promise<ChainHead | null>;
}

/** A settled transfer, looked at later. */
export type WatchedTransfer =
  /** No reorganisation reaches it any more. */
  | { readonly state: 'final' }
  /** The same authorization moved the same money in another transaction. */
  | { readonly state: 'moved'; readonly transaction: string }
  /** A reorganisation took it away: the authorization is not used now. */
  | { readonly state: 'gone' }
  /** It is too early to tell, or the node gives no answer. */
  | { readonly state: 'open' };

/** A block as `number:hash`: a number alone may stand for another block after a reorganisation. */
export type ChainHead = `${bigint}:${string}`;

export function blockNumberOf(head: ChainHead): bigint {
  return BigInt(head.slice(0, head.indexOf(':')));
}
