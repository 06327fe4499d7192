import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import type { TenderHeader } from '../http/header-facts.ts';
import type { Header } from '../http/reply.ts';
import type { RequestTrace } from '../http/request-id.ts';
import type { Claim, JournalEntry, PaymentBinding } from '../money/journal.ts';
import type { Refusal } from '../money/payment.ts';

/** A request that pays for its answer. */
export interface PurchaseRequest {
  readonly endpoint: Endpoint;
  /** Canonical `path?query`. */
  readonly target: string;
  readonly method: string;
  readonly paymentHeader: TenderHeader;
  /** What the request is called, in the log and towards facilitators. */
  readonly trace?: RequestTrace | undefined;
}

/** What a payment or receipt is bound to, under its journal key. */
export interface TenderBinding extends PaymentBinding {
  readonly key: string;
  readonly payer: string;
}

/** A payer's own name of a purchase. */
export interface TenderIdentifier {
  /** `payer|id`, the payer in lower case: as long as it is, of an account that signed. */
  readonly text: string;
  /** Whether the payer's own key signed; else its code may have, which a check tells. */
  readonly isSignedByKey: () => boolean;
}

/** What is bound to one request: the same for a payment and for a receipt, whatever moves the money. */
export interface Tender
  extends TenderBinding,
    Pick<Claim, 'version' | 'value' | 'validBefore' | 'usd'> {
  /** Why a tender that the journal does not know is refused; null if it is accepted. */
  readonly refusal: Refusal | null;
  readonly settlement: TenderSettlement;
  readonly waiters: Waiters;
  /** Null where the payer named nothing. */
  readonly identifier: TenderIdentifier | null;
  /** Tells the buyer what moved the money, with what the extensions of version 2 add to it. */
  readonly paidHeader: (transaction: string, extensions?: object) => Header;
  /** Who paid, as the request spells it; null for a receipt, which names nobody. */
  readonly paidBy: string | null;
}

/** Who waits for one purchase: the request that began it, and its copies. Money moves only while one of them waits. */
export class Waiters {
  readonly #requests: (() => boolean)[];

  /** By default somebody waits until the end. */
  constructor(isAwaited: () => boolean = () => true) {
    this.#requests = [isAwaited];
  }

  join({ isWaiting }: Waiters): void {
    this.#requests.push(isWaiting);
  }

  readonly isWaiting = (): boolean => this.#requests.some((isAwaited) => isAwaited());
}

/** What is known of the money of one payment or receipt. */
export type SettlementResult =
  | { readonly kind: 'settled'; readonly transaction: string }
  /** No money moved and none will. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** Nobody was reached, so nothing can have been sent; the same payment may come again. */
  | { readonly kind: 'unsent'; readonly detail: string }
  /** Money may have moved. */
  | { readonly kind: 'unknown'; readonly detail: string };

/** What a check before the claim has against a tender; `busy` where too many are checked already. */
export type CheckResult =
  | Extract<SettlementResult, { kind: 'refused' | 'unsent' }>
  | { readonly kind: 'busy' };

/** How the money of one tender moves; nothing here throws. */
export interface TenderSettlement {
  /** What a check before the claim has against it, or null. Moves no money. */
  check(): Promise<CheckResult | null>;
  /** The first settlement, of a claim that is durable. */
  settle(): Promise<SettlementResult>;
  /** The buyer asks again for a claim whose end nobody noted: the money may be asked for again. */
  resume(): Promise<SettlementResult>;
  /** Learns what became of a claim and never moves money; `isKept` while its answer can still be delivered. */
  look(isKept: boolean): Promise<SettlementResult>;
}

/** What a header says of its tender before anything of it is checked. */
export interface TenderIdentity extends Pick<Tender, 'signed' | 'paidHeader' | 'paidBy'> {
  /** Several where the header does not name its token: one for each that it may be for, offered or not. */
  readonly keys: readonly string[];
}

/** Reads one kind of header. */
export interface TenderReader<Kind extends TenderHeader> {
  /** Never throws for what a header holds. */
  read(request: PurchaseRequest, header: Kind): Promise<Tender | Refusal>;
  /**
   * The keys that a tender may have and the text that a repeat must carry, without checking anything; null for what is
   * malformed. Never waits and recovers no signer: it is asked before the rate limit.
   */
  identify(header: Kind): TenderIdentity | null;
  /**
   * A tender out of the journal, to learn what became of it; null for one of another network. `trace` is that of a request
   * which waits for it.
   */
  recall(entry: JournalEntry, trace?: RequestTrace): Tender | null;
}
