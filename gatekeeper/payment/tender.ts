import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import type { HeaderFacts } from '../http/header-facts.ts';
import type { Header } from '../http/reply.ts';
import type { RequestTrace } from '../http/request-id.ts';
import type { JournalClaim } from '../money/journal.ts';
import type { Refusal, X402Version } from '../money/payment.ts';
import { oncePer } from '../system/once-per.ts';
import type { Ending } from './settlement.ts';
import type { Waiters } from './waiters.ts';

/** The one header that a request wants to be answered for: an x402 payment, or a receipt of the operator's processor. */
export type Offered =
  | { readonly kind: 'payment'; readonly version: X402Version; readonly header: string }
  | { readonly kind: 'receipt'; readonly header: string };

type OfferHeaders = Pick<HeaderFacts, 'paymentV1' | 'paymentV2' | 'receipt'>;

/**
 * Everything that a request offers; more than one is refused. The same objects when it comes in and when it pays, between
 * which nothing is waited for, so that each header is read once.
 */
export const offeredBy = oncePer(
  ({ paymentV1, paymentV2, receipt }: OfferHeaders): readonly Offered[] => [
    ...(paymentV1 === null ? [] : [{ kind: 'payment', version: 1, header: paymentV1 } as const]),
    ...(paymentV2 === null ? [] : [{ kind: 'payment', version: 2, header: paymentV2 } as const]),
    ...(receipt === null ? [] : [{ kind: 'receipt', header: receipt } as const]),
  ],
);

/** A request that offers something for its answer. */
export interface Order {
  readonly endpoint: Endpoint;
  /** Canonical `path?query`. */
  readonly target: string;
  readonly method: string;
  readonly offered: Offered;
  /** What the request is called, in the log and towards facilitators. */
  readonly trace?: RequestTrace;
}

/** What a payment or receipt is bound to. */
export interface Binding {
  readonly key: string;
  readonly payer: string;
  readonly resource: string;
  readonly signed: string;
}
/** What is bound to one request: the same for a payment and for a receipt, whatever moves the money. */
export interface Tender extends Binding, Pick<JournalClaim, 'version' | 'value' | 'validBefore'> {
  /** Why a tender that the journal does not know is refused; null if it is accepted. */
  readonly refusal: Refusal | null;
  readonly money: Money;
  readonly waiters: Waiters;
  /** Tells the buyer what moved the money. */
  readonly paidHeader: (transaction: string) => Header;
  /** Who paid, as the request spells it; null for a receipt, which names nobody. */
  readonly paidBy: string | null;
}

/** How the money of one tender moves; nothing here throws. */
export interface Money {
  /** The objection of a check before the claim, or null. Moves no money. */
  readonly check: () => Promise<Ending | null>;
  /** The first settlement, of a claim that is durable. */
  readonly settle: () => Promise<Ending>;
  /** The buyer asks again for a claim whose end nobody noted: the money may be asked for again. */
  readonly resume: () => Promise<Ending>;
  /** Learns what became of a claim and never moves money; `isKept` while its answer can still be delivered. */
  readonly look: (isKept: boolean) => Promise<Ending>;
}

/** The key of a tender and the text that a repeat must carry, read without checking anything. */
export type Identity = Pick<Binding, 'key' | 'signed'>;

export type OfferedOf<Kind extends Offered['kind']> = Extract<Offered, { kind: Kind }>;

/** Reads one kind of header. */
export interface TenderReader<Kind extends Offered['kind']> {
  /** Never throws for what a header holds. */
  read(order: OrderOf<Kind>): Promise<Tender | Refusal>;
  /** Null for what is malformed; never waits. */
  identify(offered: OfferedOf<Kind>): Identity | null;
}

export type OrderOf<Kind extends Offered['kind']> = Order & {
  readonly offered: OfferedOf<Kind>;
};
