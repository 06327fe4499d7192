import type { ChainHead } from './evidence.ts';
import type { X402Version } from './payment.ts';

/** `settling` is durable before the settlement is asked for, so after a crash it means the same as `unknown`. */
export type PaymentState = 'settling' | 'settled' | 'refused' | 'unknown';

export interface Claim {
  /** `network|asset|payer|nonce`, lower-case. */
  readonly key: string;
  /** Method and canonical `path?query` that the payment is bound to. */
  readonly resource: string;
  readonly version: X402Version;
  /** The authorization with its signature as `signedText` writes it: a replay must carry the same. */
  readonly signed: string;
  /** The exact bytes that were bought, so that a redelivery is byte-identical whatever was published since. */
  readonly body: Buffer;
  readonly contentType: string;
  readonly value: string;
  /** Unix seconds; from then on the token refuses the authorization. */
  readonly validBefore: number;
  /** Worth of the value when it was sold, in atomic units of USDC; absent for USDC. */
  readonly usd?: string;
  /** What the payer calls the purchase, as `identifierHash` writes it. No two payments that stand have the same. */
  readonly identifier?: string | null;
  /** Keyed hash of the network address that brought the payment; null where that is not known for sure. */
  readonly client?: string | null;
  /** The newest block of the chain before the claim; absent where no node was configured. */
  readonly claimBlock?: ChainHead;
}

/** The row of one payment key: what was promised for it and what came of it. */
export interface JournalEntry extends Omit<Claim, 'body' | 'identifier' | 'client'>, KnownPayment {
  readonly state: PaymentState;
  /** Null once the retention is over: the sale stays in the ledger, its bytes do not. */
  readonly body: Buffer | null;
  readonly transaction: string | null;
  /** What a refusal or a missing verdict said. */
  readonly detail: string | null;
  /** It was settled while nobody waited for its answer, which was not delivered since. */
  readonly isWaiting?: true;
}

/** The request that a payment is bound to, and what a repeat of it must carry. */
export type PaymentBinding = Pick<Claim, 'resource' | 'signed'>;

/** A payment that was not refused, with what tells its buyer from others who show its header. */
export interface KnownPayment extends PaymentBinding {
  /** Of its first request, each null where that had none. */
  readonly identifier: string | null;
  readonly client: string | null;
  /** When its settlement was noted, in milliseconds since the epoch; null while its end is not known. */
  readonly settledMs: number | null;
}

/** How an open payment ends, or that its end is not known. */
export interface Conclusion {
  readonly key: string;
  readonly state: Exclude<PaymentState, 'settling'>;
  readonly transaction?: string;
  /** When the settlement was known, in milliseconds since the epoch; the time of the writing by default. */
  readonly settledMs?: number;
  readonly detail?: string;
  /** Settled while nobody waits for the answer: until that is delivered, the shop owes it. */
  readonly isWaiting?: boolean;
  /** A refusal of the first call: it counts only while no other gatekeeper has taken the payment since. */
  readonly isFirst?: boolean;
}

export interface OpenPayment {
  /** Grows with the order in which payments came; above 0. */
  readonly place: number;
  readonly key: string;
}

/** What the chain said later of a payment that was settled. */
export type Review = { readonly key: string } & (
  | { readonly state: 'final' }
  /** It was the same transfer in another transaction. */
  | { readonly state: 'moved'; readonly transaction: string }
  /** It vanished in a reorganisation, so the payment is open again. */
  | { readonly state: 'gone' }
);

export interface OpenSummary {
  /** At most OPEN_COUNTED_MAX of each. */
  readonly settling: number;
  readonly unknown: number;
  /** When the oldest of them was taken, in milliseconds since the epoch; null for none. */
  readonly oldestMs: number | null;
}

export interface JournalFacts {
  /** Newest time that was noted, in milliseconds since the epoch; 0 when there is none. */
  readonly newestMs: number;
  readonly open: number;
  /** When the oldest of them was claimed, in milliseconds since the epoch; null without one. */
  readonly oldestMs: number | null;
  readonly damage: string | null;
}

/** Citations of bodies that were sold, for as long as these are kept. */
export interface SoldCitations {
  /** Those with a record hash that starts with these hex digits, as they were parsed; at most two, and each hash once. */
  citations(digits: string): Promise<readonly unknown[]>;
}

/** What a journal that several gatekeepers write at the same time can do beside the rest. */
export interface SharedJournal {
  /** Learns what others noted about a key, so that `bindingOf` knows it. */
  learn(key: string): Promise<void>;
  /**
   * Takes an open payment, before its money is asked for again, until it is concluded, be it as `unknown`. While another
   * gatekeeper asks, it waits a little; false when it still asks then, or when the payment is not open any more.
   */
  take(key: string, bound: PaymentBinding): Promise<boolean>;
}

/** Memory of payments that outlives the process; once a promise resolves, its result is durable. */
export interface Journal extends SoldCitations {
  /** What payments were in that were noted before it was opened: `network|asset`, lower-case. */
  readonly tokens: readonly string[];
  /** Makes hashes of network addresses that nobody else can make; the same for all who share the journal, and after a restart. */
  readonly secret: Uint8Array;
  find(key: string): Promise<JournalEntry | null>;
  /** The same, also of what another process noted meanwhile: it always reads the disk, so only a refusal waits for it. */
  findOnDisk(key: string): Promise<JournalEntry | null>;
  /** What this process knows of a payment that was not refused, without its bytes; never waits. */
  bindingOf(key: string): KnownPayment | null;
  /** Key of the newest settled payment for a resource by one of these accounts (`network|asset|payer`, lower-case); else null. */
  soldTo(accounts: readonly string[], resource: string): Promise<string | null>;
  /** Whether an account (`network|asset|payer`, lower-case) has a settled payment, noted by whatever gatekeeper. */
  hasSettled(account: string): Promise<boolean>;
  /** Key of the payment that was not refused and has this identifier, also of what another process noted; else null. */
  identifiedKey(identifier: string): Promise<string | null>;
  /** Uses a message up, until `untilMs`; false where it was used before, by whatever gatekeeper. */
  useOnce(message: string, untilMs: number): Promise<boolean>;
  /** Claims a key as `settling`; false when another claim of it or of its identifier stands. A refused one may come again. */
  claim(claim: Claim): Promise<boolean>;
  /** Notes which payment a transaction settled; false when that was another one. For what only a facilitator's word proves. */
  takeTransaction(key: string, transaction: string): Promise<boolean>;
  /** Notes the end of an open payment; what is settled stays settled. */
  conclude(conclusion: Conclusion): Promise<void>;
  /** Notes that an answer was delivered which waited for its buyer. */
  delivered(key: string): Promise<void>;
  /** Open payments behind a place, oldest first. Of several gatekeepers one gets them all, except those others work on. */
  unresolved(after: number, limit: number): Promise<readonly OpenPayment[]>;
  /** Settled payments whose transfers may still vanish, oldest first; of several gatekeepers the same one gets them all. */
  unfinal(after: number, limit: number, beforeMs: number): Promise<readonly OpenPayment[]>;
  /** Notes what became of a settled payment that is not final yet. */
  review(review: Review): Promise<void>;
  /** How many payments wait for their end, and since when. */
  openPayments(): Promise<OpenSummary>;
  /** The newest time that was noted, in milliseconds since the epoch; 0 when there is none. */
  newestMs(): number;
  /** Only where several gatekeepers share the journal. */
  readonly shared?: SharedJournal;
}

/** Open payments of one state that are counted; beyond it, their number no longer matters. */
export const OPEN_COUNTED_MAX = 10_000;
/** Days that a paid answer can be fetched again by its buyer. */
export const JOURNAL_RETENTION_DAYS = 30;
/** Seconds after `validBefore` at which an authorization is dead on every node's clock. */
export const DEAD_AFTER_S = 600;
