/**
 * One purchase, whatever pays for it: an x402 payment or a receipt of the operator's processor.
 *
 *  1. `open()` reads the header and looks for what is known: a copy in flight, a doubt that was asked about a moment
 *     ago, a row of the journal. Whoever paid already gets the same bytes again; a doubt is asked about again.
 *  2. The caller makes the whole answer. Only a 200 goes on.
 *  3. `sell()` binds the key to the request, with no wait between the last look and the binding. A `Purchase` makes the
 *     claim durable, asks for the money, notes how that ended, and only then lets the bytes go.
 *
 * Money moves inside `open()` and `sell()` alone, so only while a request waits for it. `look()` serves the background
 * and only learns. The token takes each nonce once (EIP-3009), so asking again for the same payment is safe.
 *
 * The 402, the header and the receipt are those of x402, versions 1 and 2, scheme "exact".
 *
 * A process beside this one may use the same journal: only one of them gets a claim, and the other finds the end of that
 * in the journal. Where several gatekeepers share one for good (`SharedJournal`), `open()` also learns what the others
 * noted, and a payment whose end nobody noted is taken before its money is asked for again.
 *
 * A payer may name a purchase (`named-purchase.ts`): then another signature for it finds the first one's answer.
 *
 * Known limit: an answer that was paid for is kept for 30 days (`JOURNAL_RETENTION_DAYS`). A repeat after that is refused
 * and charges nothing.
 */
import type { PaymentHeader, TenderHeader, X402Header } from '../http/header-facts.ts';
import type { Journal, PaymentBinding } from '../money/journal.ts';
import { isRefusal, type Refusal } from '../money/payment.ts';
import {
  asksForFormer,
  formerEndpoint,
  soldEndpoint,
  targetOfResource,
} from '../offer/former-endpoint.ts';
import {
  type PaymentReaderOptions,
  paymentReader,
  type SignedTransfer,
} from '../payment/payment-tender.ts';
import { isReceiptKey, receiptReader } from '../payment/receipt-tender.ts';
import type {
  PurchaseRequest,
  Tender,
  TenderBinding,
  TenderIdentity,
  TenderReader,
} from '../payment/tender.ts';
import { Doubts } from './doubts.ts';
import { InFlight } from './in-flight.ts';
import { namedOutcome } from './named-purchase.ts';
import {
  clockOutcome,
  endOf,
  isSameBinding,
  Purchase,
  type PurchaseContext,
  type PurchaseLimit,
} from './purchase.ts';
import {
  ALREADY_USED,
  type Delivery,
  failed,
  type PurchaseOutcome,
  refused,
  UNKNOWN,
  UNKNOWN_RETRY_S,
} from './purchase-outcome.ts';
import {
  failedReply,
  noLongerOffered,
  type PurchaseReply,
  purchaseReply,
  unknownReply,
} from './purchase-reply.ts';
import { type SignInRequest, signIns } from './sign-ins.ts';
import { type ReceiptTerms, type SignedReceipts, signedReceipts } from './signed-receipts.ts';

interface PurchaseServiceOptions extends Omit<PaymentReaderOptions, 'report' | 'journal'> {
  readonly journal: Journal;
  /** `did:key` of the operator's payment processor; without one no receipt is taken. */
  readonly processor?: string | null;
  /** Public origin without a trailing slash, where accounts that paid may fetch it again by signing; else none may. */
  readonly signInAt?: string;
  /** Signs what was delivered; without one nobody gets a signed receipt. */
  readonly receipts?: ReceiptTerms;
  /** Told about failures of our own parts, for the log, with the name of the request; it gets no payment data. */
  readonly report?: ReportFailure;
  /** Told of a purchase that has to wait until others are done. */
  readonly limited?: (limit: PurchaseLimit) => void;
}

type ReportFailure = (error: unknown, requestId?: string) => void;

/** A purchase that waits for its answer. Nothing is held for it, so it may be dropped. */
interface Sale {
  /** Sells the complete, hash-checked 200 body, or says why not. */
  readonly sell: (delivery: Delivery) => Promise<PurchaseReply>;
}

/** A request that pays, or whose account paid before. */
interface AskedRequest extends Omit<PurchaseRequest, 'paymentHeader'> {
  readonly paymentHeader: PaymentHeader;
}

/** A request with a payment that the catalogue has no answer to. */
type FormerRequest = Omit<AskedRequest, 'endpoint'>;

/** Sells for payments and receipts; a journal that is not shared belongs to one service. */
export interface PurchaseService {
  /**
   * The reply to a known payment or receipt, or to an account that signs in and paid, or the sale of an answer that is still
   * to be made; never throws.
   */
  open(request: AskedRequest): Promise<PurchaseReply | Sale>;
  /**
   * The reply to a payment or receipt for what a release took away since: what it bought, or what became of it; null where it
   * bought nothing of that kind. Sells nothing and never throws.
   */
  openFormer(request: FormerRequest): Promise<PurchaseReply | null>;
  /** What a payment says that it moves, before anything else of it is checked; or why it cannot be read. Never throws. */
  transferOf(header: X402Header): Promise<SignedTransfer | Refusal>;
  /**
   * The request that exactly this payment or receipt paid for, or is in flight or in doubt for; else null. Never waits and
   * never throws.
   */
  boughtBy(paymentHeader: PaymentHeader): string | null;
  /**
   * Learns what became of a purchase whose end nobody noted, without moving money; true when it is known now.
   */
  look(key: string): Promise<boolean>;
}

interface Context extends Omit<PurchaseContext, 'report'> {
  readonly challenger: PurchaseServiceOptions['challenger'];
  readonly doubts: Doubts;
  readonly read: (request: PurchaseRequest) => Promise<Tender | Refusal>;
  readonly transferOf: PurchaseService['transferOf'];
  readonly identify: TenderReader<TenderHeader>['identify'];
  readonly recall: TenderReader<TenderHeader>['recall'];
  readonly report: ReportFailure;
  readonly receipts?: SignedReceipts;
}

/** The one way from a header to a sold answer. */
export function purchaseService(options: PurchaseServiceOptions): PurchaseService {
  const context = contextOf(options);
  const { signInAt } = options;
  const signedIn =
    signInAt === undefined ? unknownTo(context) : signIns({ ...context, baseUrl: signInAt });
  return {
    async open(request) {
      const own = contextFor(request, context);
      try {
        const { paymentHeader } = request;
        return paymentHeader.kind === 'sign-in'
          ? await signedIn({ ...request, paymentHeader })
          : await opened({ ...request, paymentHeader }, own);
      } catch (error) {
        own.report(error);
        return failedReply(
          'The payment could not be checked. Send the same payment or receipt again.',
        );
      }
    },
    transferOf: context.transferOf,
    openFormer: (request) => formerReply(request, contextFor(request, context)),
    boughtBy: (paymentHeader) => boughtBy(paymentHeader, context),
    async look(key) {
      const entry = await context.journal.find(key);
      // The buyer may have been faster than the pass that noted the row as open.
      if (entry?.state === 'settled' || entry?.state === 'refused') return true;
      const tender = entry === null ? null : context.recall(entry);
      if (entry === null || tender === null || context.inFlight.get(key) !== undefined)
        return false;
      const { kind } = await context.inFlight.start(tender, () =>
        new Purchase(tender, context).look(entry),
      );
      return kind === 'paid' || kind === 'refused';
    },
  };
}

function contextOf(options: PurchaseServiceOptions): Context {
  const { journal, clock, challenger, processor = null, limited = () => {} } = options;
  const report = quiet(options.report);
  const payments = paymentReader({ ...options, report });
  const receipts = receiptReader({ processor, clock });
  const { networks } = challenger;
  const signed =
    options.receipts === undefined
      ? {}
      : { receipts: signedReceipts({ ...options.receipts, networks, report }) };
  return {
    ...signed,
    journal,
    clock,
    challenger,
    report,
    limited,
    inFlight: new InFlight(),
    doubts: new Doubts(),
    read: (request) => {
      const { paymentHeader } = request;
      return paymentHeader.kind === 'payment'
        ? payments.read(request, paymentHeader)
        : receipts.read(request, paymentHeader);
    },
    transferOf: payments.transferOf,
    identify: (paymentHeader) =>
      paymentHeader.kind === 'payment'
        ? payments.identify(paymentHeader)
        : receipts.identify(paymentHeader),
    recall: (entry, trace) => (isReceiptKey(entry.key) ? receipts : payments).recall(entry, trace),
  };
}

/** Where nobody can sign in, the header is one that nobody knows: what it is for is offered. */
function unknownTo({ challenger }: Context): (request: SignInRequest) => Promise<Sale> {
  return async ({ endpoint, target }) => ({
    sell: async () => challenger.challenge(endpoint, target),
  });
}

/** What fails for one request is reported under its name. */
function contextFor({ trace }: Pick<PurchaseRequest, 'trace'>, context: Context): Context {
  return trace === undefined
    ? context
    : { ...context, report: (error) => context.report(error, trace.id) };
}

/** A log that fails must not turn a settled payment into a failed one. */
function quiet(report: PurchaseServiceOptions['report']): Context['report'] {
  return (error, requestId) => {
    try {
      report?.(error, requestId);
    } catch {
      // There is nowhere left to say it.
    }
  };
}

async function opened(request: PurchaseRequest, context: Context): Promise<PurchaseReply | Sale> {
  const tender = await context.read(request);
  const asked = { ...request, tender: isRefusal(tender) ? null : tender };
  const reply = (outcome: PurchaseOutcome) => purchaseReply(outcome, asked, context);
  // A request without data must hear that first, so a refusal waits for the answer too.
  if (isRefusal(tender)) {
    const kept = await keptReply(request, context);
    if (kept !== null) return kept;
    const refusal = reply(refused(tender));
    return { sell: async () => refusal };
  }
  // By a wrong clock a good window looks bad, even if the clock is right again when the answer is there.
  const failure = tender.refusal === null ? null : clockOutcome(context);
  const known = knownOutcome(tender, context) ?? knownElsewhere(tender, context);
  const outcome = known === null ? null : await known;
  if (outcome !== null) return reply(outcome);
  const earlier = tender.identifier === null ? null : await named(tender, request, context);
  if (earlier !== null) return reply(earlier);
  if (failure !== null) return { sell: async () => reply(failure) };
  return { sell: async (delivery) => reply(await sold(tender, delivery, context)) };
}

/** The request that exactly this header is bound to. */
function boughtBy(paymentHeader: PaymentHeader, context: Context): string | null {
  const identity = paymentHeader.kind === 'sign-in' ? null : context.identify(paymentHeader);
  return identity === null ? null : (boundBy(identity, context)?.resource ?? null);
}

/** The same, once it is learnt what other gatekeepers noted; with its key. */
async function learntBy(identity: TenderIdentity, context: Context): Promise<BoundTender | null> {
  for (const key of identity.keys) await context.journal.shared?.learn(key);
  return boundBy(identity, context);
}

/** The key and the request of what is known of exactly this tender. */
function boundBy({ keys, signed }: TenderIdentity, context: Context): BoundTender | null {
  for (const key of keys) {
    const bound = bindingOf(key, context);
    if (bound?.signed === signed) return { key, resource: bound.resource };
  }
  return null;
}
type BoundTender = Pick<TenderBinding, 'key' | 'resource'>;

async function formerReply(asked: FormerRequest, context: Context): Promise<PurchaseReply | null> {
  const { paymentHeader, method, trace } = asked;
  const { journal, challenger } = context;
  if (paymentHeader.kind === 'sign-in') return null;
  try {
    const identity = context.identify(paymentHeader);
    if (identity === null) return null;
    const bound = await learntBy(identity, context);
    const target = bound === null ? '' : targetOfResource(bound.resource);
    if (bound?.resource !== `${method} ${target}` || !asksForFormer(asked.target, target))
      return null;
    if (soldEndpoint(target, challenger.catalog()) !== null) return null;
    const entry = await journal.find(bound.key);
    if (entry === null || entry.state === 'refused') return null;
    const endpoint = formerEndpoint(entry);
    return await knownReply({ endpoint, target, method, paymentHeader, trace }, context);
  } catch (error) {
    // It may be paid already, so nobody is told that it is not.
    context.report(error);
    return unknownReply(paymentHeader, UNKNOWN_RETRY_S * 1000);
  }
}

/** The reply to what the journal holds; what it refuses is not offered again. */
async function knownReply(
  request: PurchaseRequest,
  context: Context,
): Promise<PurchaseReply | null> {
  const tender = await context.read(request);
  if (isRefusal(tender)) return keptReply(request, context);
  const outcome = await knownOutcome(tender, context);
  if (outcome === null) return null;
  if (outcome.kind === 'refused') return noLongerOffered(outcome.refusal);
  return purchaseReply(outcome, { ...request, tender }, context);
}

/**
 * The reply to a payment or receipt that was taken by settings of before, whose token, node or processor may be gone. What it
 * bought is delivered. Nobody can be asked about an open one, so it stays a doubt: whoever sent it must not sign again.
 */
async function keptReply(
  request: PurchaseRequest,
  context: Context,
): Promise<PurchaseReply | null> {
  const { method, target, paymentHeader } = request;
  const identity = context.identify(paymentHeader);
  if (identity === null) return null;
  try {
    const bound = await learntBy(identity, context);
    if (bound?.resource !== `${method} ${target}`) return null;
    const entry = await context.journal.find(bound.key);
    if (entry === null || entry.state === 'refused') return null;
    const { key, resource } = bound;
    const outcome = endOf({ resource, signed: identity.signed }, entry) ?? UNKNOWN;
    const tender = { ...identity, key, resource, version: entry.version };
    return purchaseReply(outcome, { ...request, tender }, context);
  } catch (error) {
    // It may be paid already, so nobody is told that it is not.
    context.report(error);
    return unknownReply(paymentHeader, UNKNOWN_RETRY_S * 1000);
  }
}

/** What is known of a tender without its answer; null when it has to be sold. */
function knownOutcome(tender: Tender, context: Context): Promise<PurchaseOutcome> | null {
  const running = context.inFlight.get(tender.key);
  if (running !== undefined && isSameBinding(running.binding, tender)) {
    running.binding.waiters?.join(tender.waiters);
    return running.outcome;
  }
  const waitMs = context.doubts.waitMs(tender, context.clock());
  if (waitMs > 0) return Promise.resolve({ kind: 'unknown', waitMs });
  const bound = boundInJournal(tender.key, context);
  if (bound === undefined) return Promise.resolve(UNKNOWN);
  return bound !== null && isSameBinding(bound, tender) ? repeat(tender, context) : null;
}

/** The same, once it is learnt what other gatekeepers noted; null at once where there are none. */
function knownElsewhere(tender: Tender, context: Context): Promise<PurchaseOutcome | null> | null {
  const { shared } = context.journal;
  if (shared === undefined) return null;
  const unread = (error: unknown): PurchaseOutcome => {
    // It may be paid already, so nobody is told that it is not.
    context.report(error);
    return UNKNOWN;
  };
  return shared.learn(tender.key).then(() => knownOutcome(tender, context), unread);
}

/** What an earlier payment of the same name came to; null for a new name, or for a payment that is used already. */
async function named(
  tender: Tender,
  { trace }: PurchaseRequest,
  context: Context,
): Promise<PurchaseOutcome | null> {
  if (bindingOf(tender.key, context) !== null) return null;
  try {
    const known = (first: Tender) => knownOutcome(first, context);
    return await namedOutcome({ tender, trace }, { ...context, knownOutcome: known });
  } catch (error) {
    // It may be paid already, so nobody is told that it is not.
    context.report(error);
    return UNKNOWN;
  }
}

/** No wait from here to the binding: whatever was learnt about the key still holds when it is bound. */
function sold(tender: Tender, delivery: Delivery, context: Context): Promise<PurchaseOutcome> {
  const known = knownOutcome(tender, context);
  if (known !== null) return known;
  const { inFlight } = context;
  if (bindingOf(tender.key, context) !== null) return Promise.resolve(ALREADY_USED);
  if (inFlight.isFull(tender.payer)) {
    context.limited('purchases');
    return Promise.resolve(
      failed('Too many payments at once. Send the same payment or receipt again.'),
    );
  }
  return inFlight.start(tender, () =>
    withDoubt(tender, () => new Purchase(tender, context).sell(delivery), context),
  );
}

/** The same tender for the same request again: what it bought, or what became of it. */
function repeat(tender: Tender, context: Context): Promise<PurchaseOutcome> {
  if (context.inFlight.isFull(tender.payer)) {
    context.limited('purchases');
    return Promise.resolve(UNKNOWN);
  }
  return context.inFlight.start(tender, () =>
    withDoubt(tender, () => new Purchase(tender, context).repeat(), context),
  );
}

/** Notes a doubt, so that the next one who asks is answered from memory; never throws. */
async function withDoubt(
  tender: Tender,
  run: () => Promise<PurchaseOutcome>,
  context: Context,
): Promise<PurchaseOutcome> {
  const outcome = await run().catch((error: unknown): PurchaseOutcome => {
    context.report(error);
    return UNKNOWN;
  });
  if (outcome.kind === 'unknown') context.doubts.note(tender, context.clock());
  return outcome;
}

/** What a key is bound to, by the journal or else by a purchase in flight; null also when that cannot be read. */
function bindingOf(key: string, context: Context): PaymentBinding | null {
  return boundInJournal(key, context) ?? context.inFlight.get(key)?.binding ?? null;
}

/** Undefined when the journal cannot be read. */
function boundInJournal(key: string, context: Context): PaymentBinding | null | undefined {
  try {
    return context.journal.bindingOf(key);
  } catch (error) {
    context.report(error);
    return undefined;
  }
}
