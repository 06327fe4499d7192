/** `settling` is durable before the settlement is asked for, so after a crash it means the same as `unknown`. */
export type PaymentState = 'settling' | 'settled' | 'refused' | 'unknown';

/** The row of one payment key: what was promised for it and what came of it. */
export interface JournalEntry {
  /** `network|asset|payer|nonce`, lower-case. */
  readonly key: string;
  readonly state: PaymentState;
  /** Method and canonical `path?query` that the payment is bound to. */
  readonly resource: string;
  /** SHA-256, hex, of the signed authorization with its signature: a replay must carry the same. */
  readonly digest: string;
  /** The exact bytes that were bought, so that a redelivery is byte-identical whatever was published since. */
  readonly body: Buffer;
  readonly contentType: string;
  /** Atomic units, as signed. */
  readonly value: string;
  /** Unix seconds; from then on the token refuses the authorization. */
  readonly validBefore: number;
  /** The settled transaction, null until then. */
  readonly transaction: string | null;
  /** What a refusal or a missing verdict said. */
  readonly detail: string | null;
}

/** How an open payment ends, or that its end is not known. */
export interface Conclusion {
  readonly key: string;
  readonly state: Exclude<PaymentState, 'settling'>;
  readonly transaction?: string;
  readonly detail?: string;
}

/** Memory of payments that outlives the process; every promise that resolves speaks of what is durable. */
export interface Journal {
  find(key: string): Promise<JournalEntry | null>;
  /** Claims a key as `settling`; false when another claim stands. A refused payment may be claimed again. */
  claim(entry: Omit<JournalEntry, 'state' | 'transaction' | 'detail'>): Promise<boolean>;
  /** Notes the end of an open payment; what is settled stays settled. */
  conclude(conclusion: Conclusion): Promise<void>;
}

/** Days that a paid answer can be fetched again with the same payment. */
export const JOURNAL_RETENTION_DAYS = 30;
