import type { BodyVerdict } from '../../../compiler/verify/body-check.ts';

/** Name of the vector file. */
export const BODIES_NAME = 'bodies.ndjson';

/** What a reader knows, and asks of a body beside being true. */
export interface ReaderDemands {
  /** DIDs that are trusted, where they are not that of the shop. */
  readonly issuers?: readonly string[];
  /** Root keys that are trusted. */
  readonly roots?: readonly string[];
  /** The text of a list of keys. */
  readonly keys?: string;
  /** The request that it has to answer. */
  readonly expect?: string;
  /** Longest age of what was observed. */
  readonly max_age_ms?: number;
  /** Whether a body without a proof fails, or is taken, as without this member; null leaves it unproven. */
  readonly demands_proof?: boolean | null;
  /** Of a receipt: the text that was delivered. */
  readonly delivered?: string;
  /** Of a receipt: the account that paid. */
  readonly payer?: string;
}

/** One line of the vector file. */
export interface BodyVector extends ReaderDemands {
  /** Number from 1, unique in the file. */
  readonly id: number;
  /** The way in which it was made: `genuine`, or one of forging. */
  readonly class: string;
  /** The request that it was handed out for, and what was changed. */
  readonly about: string;
  /** The bytes that are judged, as text. */
  readonly text: string;
  /** The DID that is trusted. */
  readonly issuer: string;
  /** Clock of the reader, ISO 8601. */
  readonly now: string;
  /**
   * `verified` is accepted. `failed`, `unsigned` (nothing signs all of it), `undecided` (nothing can be judged by the list of
   * keys), `unlisted` (a receipt without a list) and `unproven` (nothing shows that it is in the log) are not, and of
   * `partly_verified` not the content.
   */
  readonly verdict: Exclude<BodyVerdict, 'issuer_unknown'> | 'undecided' | 'unlisted' | 'unproven';
  /** The first check that fails; null where none does. */
  readonly check: string | null;
}

export interface BodyVectors {
  readonly rows: readonly BodyVector[];
  /** What the judges do not agree about: a fault of one of them. */
  readonly disputed: readonly string[];
}

/** A body, its reader, and the verdict that he has to come to. */
export interface ReaderCase {
  readonly class: string;
  readonly about: string;
  readonly text: string;
  readonly want: BodyVector['verdict'];
  readonly reader?: ReaderDemands;
}
