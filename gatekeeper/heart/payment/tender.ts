import type { Catalog } from '../../../compiler/catalog/catalog.ts';
import { canonicalRequest, route } from '../../../compiler/catalog/route.ts';
import { defined } from '../../../compiler/format/errors.ts';
import { usdAmount } from '../../../compiler/products/shapes/price.ts';
import type { Endpoint } from '../../../compiler/products/shapes/product.ts';
import type { ChainHead, WatchedTransfer } from '../../settle/evidence.ts';
import type { Claim, JournalEntry, PaymentBinding } from '../../settle/journal.ts';
import type { Refusal } from '../../settle/payment.ts';
import type { TenderHeader } from '../../wire/header-facts.ts';
import type { Header } from '../../wire/reply.ts';
import type { RequestTrace } from '../../wire/request.ts';

export interface PurchaseRequest {
  readonly endpoint: Endpoint;
  /** Canonical `path?query`. */
  readonly target: string;
  readonly method: string;
  readonly paymentHeader: TenderHeader;
  /** A fresh message of the account that paid came with it. */
  readonly isSignedIn?: true;
  /** What the request is called, in the log and towards facilitators. */
  readonly trace?: RequestTrace | undefined;
}

/** What a payment or receipt is bound to, under its journal key. */
export interface TenderBinding extends PaymentBinding {
  readonly key: string;
  readonly payer: string;
}

/** What a request shows of who sends it, beside the payment. */
export interface BuyerProof {
  /** What it calls the payment, as `identifierHash` writes it; null where it does not. */
  readonly identifier: string | null;
  /** Keyed hash of the network address that it came from; null where that is not known for sure. */
  readonly client: string | null;
  readonly isSignedIn: boolean;
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
  readonly identifier: { text: string; isSignedByKey: () => boolean } | null;
  /** Null for what proves its buyer by itself: a receipt, which nobody else has, and what the journal recalls. */
  readonly shown: BuyerProof | null;
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

export type SettlementResult =
  | { readonly kind: 'settled'; readonly transaction: string }
  /** No money moved and none will. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** Nobody was reached, so nothing can have been sent; the same payment may come again. */
  | { readonly kind: 'unsent'; readonly detail: string }
  | { readonly kind: 'unknown'; readonly detail: string };

/** What a check before the claim has against a tender. */
export type CheckResult =
  | Extract<SettlementResult, { kind: 'refused' }>
  /** Nothing is known against it, and it cannot go on at this moment. */
  | {
      readonly kind: 'held';
      readonly error: string;
      readonly retryS?: number;
      /** Which limit keeps it away, where one does. */
      readonly limit?: 'smart_accounts' | 'strangers';
    };

/** How the money of one tender moves; nothing here throws. */
export interface TenderSettlement {
  /** What a check before the claim has against it, or null. Moves no money. Ends with `settle` or `drop`. */
  check(): Promise<CheckResult | null>;
  /** The newest block before the claim: what paid by then paid for another thing. `none` without a node, null without an answer. */
  head(): Promise<ChainHead | 'none' | null>;
  /** Nobody will be asked for its money, unless somebody was already. */
  drop(): void;
  /** The first settlement, of a claim that is durable. */
  settle(claimed: ChainHead | undefined): Promise<SettlementResult>;
  /** The buyer asks again for a claim whose end nobody noted: the money may be asked for again. */
  resume(entry: JournalEntry): Promise<SettlementResult>;
  /** Learns what became of a claim and never moves money. */
  look(entry: JournalEntry): Promise<SettlementResult>;
  /** What became of the transfer of a settled claim. */
  watch(transaction: string): Promise<WatchedTransfer>;
}

/** What a header says of its tender before anything of it is checked. */
export interface TenderIdentity extends Pick<Tender, 'signed' | 'paidHeader' | 'paidBy'> {
  /** Several where the header does not name its token: one for each that it may be for, offered or not. */
  readonly keys: readonly string[];
  /** What came with the header, for one of the keys. */
  readonly shownFor: (key: string) => BuyerProof | null;
}

export interface TenderReader<Kind extends TenderHeader> {
  /** Never throws for what a header holds. */
  read(request: PurchaseRequest, header: Kind): Promise<Tender | Refusal>;
  /**
   * The keys that a tender may have and the text that a repeat must carry, without checking anything; null for what is
   * malformed. Never waits and recovers no signer: it is asked before the rate limit. `client` is the network address, null
   * where it is not known for sure.
   */
  identify(header: Kind, client: string | null): TenderIdentity | null;
  /** A tender out of the journal, to learn what became of it; null for one of another network. `trace`: who waits for it. */
  recall(entry: JournalEntry, trace?: RequestTrace): Tender | null;
}

/** For one reader: a header is read once, however often in a row it is asked about. Only the last one is remembered. */
export function readOnce<Kind extends TenderHeader, Value>(
  read: (header: Kind) => Value,
): (header: Kind) => Value {
  let last: { readonly header: Kind; readonly value: Value } | null = null;
  return (header) => {
    if (last?.header !== header) last = { header, value: read(header) };
    return last.value;
  };
}

// A release can take away what was sold before. Whoever paid for it still gets it, so a sale of the journal has a row of the
// table, whatever the table says now.

/** The row that sells a canonical target, at its price; null where nothing of this catalogue does. */
export function soldEndpoint(target: string, catalog: Catalog): Endpoint | null {
  const request = canonicalRequest(target);
  const routed = 'status' in request ? undefined : route(request, catalog);
  if (routed === undefined || routed.fault !== null || routed.target !== target) return null;
  return routed.endpoint.priceUsd === null ? null : routed.endpoint;
}

/** What was sold by a sale of the journal whose target nothing sells now, at the price that was paid. */
export function formerEndpoint({
  resource,
  usd,
  value,
}: Pick<JournalEntry, 'resource' | 'usd' | 'value'>): Endpoint {
  const isPosted = resource.startsWith('POST ');
  return {
    path: defined(targetOfResource(resource).split('?')[0], 'the path'),
    method: isPosted ? 'POST' : 'GET',
    priceUsd: usdAmount(usd ?? value),
    token: false,
    tag: '[SIGNAL+PROOF]',
    params: {},
    // Nothing else is sold by a POST.
    answer: isPosted ? 'basket' : 'file',
    summary: 'no longer offered',
  };
}
/** `path?query` of what a row of the journal is bound to: `GET /gauge?entity=…`. */
export function targetOfResource(resource: string): string {
  return resource.slice(resource.indexOf(' ') + 1);
}

/** Without a row nobody knows other names and the case of parameters, so every value must be there under any name. */
export function asksForFormer(askedTarget: string, target: string): boolean {
  const [asked, former] = [canonicalRequest(askedTarget), canonicalRequest(target)];
  if ('status' in asked || 'status' in former) return false;
  const isPath = former.path === asked.path || former.path.startsWith(`${asked.path}/`);
  const values = new Set([...asked.values.values()].map((value) => value.toUpperCase()));
  return isPath && [...former.values.values()].every((value) => values.has(value.toUpperCase()));
}
