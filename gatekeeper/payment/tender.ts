import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import type { HeaderFacts } from '../http/header-facts.ts';
import type { Header } from '../http/reply.ts';
import type { RequestTrace } from '../http/request-id.ts';
import type { Claim, PaymentBinding } from '../money/journal.ts';
import type { Refusal, X402Version } from '../money/payment.ts';
import { oncePer } from '../system/once-per.ts';
import type { SettlementResult } from './settlement.ts';

/** The one header that a request wants to be answered for: an x402 payment, or a receipt of the operator's processor. */
export type PaymentHeader =
  | { readonly kind: 'payment'; readonly version: X402Version; readonly text: string }
  | { readonly kind: 'receipt'; readonly text: string };

type PaymentHeaderFacts = Pick<HeaderFacts, 'paymentV1' | 'paymentV2' | 'receipt'>;

/**
 * All payment headers of a request; more than one is refused. The same objects when it comes in and when it pays, between
 * which nothing is waited for, so that each header is read once.
 */
export const paymentHeaders = oncePer(
  ({ paymentV1, paymentV2, receipt }: PaymentHeaderFacts): readonly PaymentHeader[] => [
    ...(paymentV1 === null ? [] : [{ kind: 'payment', version: 1, text: paymentV1 } as const]),
    ...(paymentV2 === null ? [] : [{ kind: 'payment', version: 2, text: paymentV2 } as const]),
    ...(receipt === null ? [] : [{ kind: 'receipt', text: receipt } as const]),
  ],
);

/** A request that pays for its answer. */
export interface PurchaseRequest {
  readonly endpoint: Endpoint;
  /** Canonical `path?query`. */
  readonly target: string;
  readonly method: string;
  readonly paymentHeader: PaymentHeader;
  /** What the request is called, in the log and towards facilitators. */
  readonly trace?: RequestTrace;
}

/** What a payment or receipt is bound to, under its journal key. */
export interface TenderBinding extends PaymentBinding {
  readonly key: string;
  readonly payer: string;
}

/** What is bound to one request: the same for a payment and for a receipt, whatever moves the money. */
export interface Tender extends TenderBinding, Pick<Claim, 'version' | 'value' | 'validBefore'> {
  /** Why a tender that the journal does not know is refused; null if it is accepted. */
  readonly refusal: Refusal | null;
  readonly settlement: TenderSettlement;
  readonly waiters: Waiters;
  /** Tells the buyer what moved the money. */
  readonly paidHeader: (transaction: string) => Header;
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

/** How the money of one tender moves; nothing here throws. */
export interface TenderSettlement {
  /** The objection of a check before the claim, or null. Moves no money. */
  readonly check: () => Promise<SettlementResult | null>;
  /** The first settlement, of a claim that is durable. */
  readonly settle: () => Promise<SettlementResult>;
  /** The buyer asks again for a claim whose end nobody noted: the money may be asked for again. */
  readonly resume: () => Promise<SettlementResult>;
  /** Learns what became of a claim and never moves money; `isKept` while its answer can still be delivered. */
  readonly look: (isKept: boolean) => Promise<SettlementResult>;
}

/** The key of a tender and the text that a repeat must carry, read without checking anything. */
export type Identity = Pick<TenderBinding, 'key' | 'signed'>;

export type PaymentHeaderOf<Kind extends PaymentHeader['kind']> = Extract<
  PaymentHeader,
  { kind: Kind }
>;

/** Reads one kind of header. */
export interface TenderReader<Kind extends PaymentHeader['kind']> {
  /** Never throws for what a header holds. */
  read(request: PurchaseRequestOf<Kind>): Promise<Tender | Refusal>;
  /** Null for what is malformed; never waits. */
  identify(paymentHeader: PaymentHeaderOf<Kind>): Identity | null;
}

export type PurchaseRequestOf<Kind extends PaymentHeader['kind']> = PurchaseRequest & {
  readonly paymentHeader: PaymentHeaderOf<Kind>;
};
