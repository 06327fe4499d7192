import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import type { HeaderFacts } from '../http/header-facts.ts';
import type { Header } from '../http/reply.ts';
import type { RequestTrace } from '../http/request-id.ts';
import type { Claim, JournalEntry, PaymentBinding } from '../money/journal.ts';
import type { Refusal, X402Version } from '../money/payment.ts';
import { oncePer } from '../system/once-per.ts';
import type { TenderSettlement } from './settlement.ts';

/** An x402 payment, in the header of its version. */
export interface X402Header {
  readonly kind: 'payment';
  readonly version: X402Version;
  readonly text: string;
}
/** A receipt of the operator's processor. */
export interface ReceiptHeader {
  readonly kind: 'receipt';
  readonly text: string;
}
/** The one header that a request wants to be answered for. */
export type PaymentHeader = X402Header | ReceiptHeader;

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

/** Reads one kind of header. */
export interface TenderReader<Kind extends PaymentHeader> {
  /** Never throws for what a header holds. */
  read(request: PurchaseRequest, header: Kind): Promise<Tender | Refusal>;
  /**
   * The key of a tender and the text that a repeat must carry, without checking anything; null for what is malformed. Never
   * waits.
   */
  identify(header: Kind): Pick<TenderBinding, 'key' | 'signed'> | null;
  /** A tender out of the journal, to learn what became of it; null for one of another network. */
  recall(entry: JournalEntry): Tender | null;
}
