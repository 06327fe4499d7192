import type { Catalog } from '../../../compiler/catalog/catalog.ts';
import { canonicalRequest, route } from '../../../compiler/catalog/route.ts';
import { defined } from '../../../compiler/format/errors.ts';
import type { Meters } from '../../settings/meters.ts';
import type { WatchedTransfer } from '../../settle/evidence.ts';
import type { Journal, KnownPayment } from '../../settle/journal.ts';
import { isRefusal, type Refusal } from '../../settle/payment.ts';
import type { AskCode } from '../../settle/sign-in.ts';
import type { PaymentHeader, TenderHeader, X402Header } from '../../wire/header-facts.ts';
import type { Reply } from '../../wire/reply.ts';
import type { Arrival, RequestTrace } from '../../wire/request.ts';
import {
  type PaymentReaderOptions,
  paymentReader,
  type SignedTransfer,
} from '../payment/payment-tender.ts';
import { isReceiptKey, receiptReader } from '../payment/receipt-tender.ts';
import {
  asksForFormer,
  type BuyerProof,
  formerEndpoint,
  type PurchaseRequest,
  soldEndpoint,
  type Tender,
  type TenderBinding,
  type TenderIdentity,
  type TenderReader,
  targetOfResource,
} from '../payment/tender.ts';
import { Guesses, isBuyer, type SignIns, signIns } from './buyer-proof.ts';
import {
  clockOutcome,
  Doubts,
  endOf,
  InFlight,
  isSameBinding,
  noteDelivery,
  Purchase,
  type PurchaseContext,
  type PurchaseLimit,
} from './purchase.ts';
import {
  ALREADY_USED,
  type Delivery,
  failed,
  failedReply,
  IDENTIFIER_USED,
  noLongerOffered,
  type PurchaseOutcome,
  purchaseReply,
  type ReceiptTerms,
  refused,
  type SignedReceipts,
  signedReceipts,
  UNKNOWN,
  UNKNOWN_RETRY_S,
  unknownReply,
  unprovenReply,
} from './purchase-reply.ts';

/**
 * One purchase, whatever pays for it: an x402 payment or a receipt of the operator's processor.
 *
 *  1. `open()` looks for what is known: a copy in flight, a doubt that was asked about a moment
 *     ago, a row of the journal. Its buyer gets the same bytes again; a doubt is asked about again.
 *  2. The caller makes the whole answer. Only a 200 goes on.
 *  3. `sell()` binds the key to the request, with no wait between the last look and the binding. A `Purchase` makes the
 *     claim durable, asks for the money, notes how that ended, and only then lets the bytes go.
 *
 * Money moves inside `open()` and `sell()` alone, so only while a request waits for it. `look()` serves the background
 * and only learns. The token takes each nonce once (EIP-3009), so asking again for the same payment is safe.
 *
 * The 402, the header and the receipt are those of x402, versions 1 and 2, scheme "exact".
 *
 * Nobody but its buyer hears anything of a known payment (`buyer-proof.ts`): its header is public once it is settled.
 *
 * A process beside this one may use the same journal: only one of them gets a claim, and the other finds the end of that
 * in the journal. Where several gatekeepers share one for good (`SharedJournal`), `open()` also learns what the others
 * noted, and a payment whose end nobody noted is taken before its money is asked for again.
 *
 * A payer may name a purchase (`namedOutcome()`): then another signature for it finds the first one's answer.
 *
 * Known limit: an answer that was paid for is kept for 30 days (`JOURNAL_RETENTION_DAYS`). Its buyer's repeat after that is refused
 * and charges nothing.
 */

interface PurchaseServiceOptions extends Omit<PaymentReaderOptions, 'report' | 'journal'> {
  readonly journal: Journal;
  /** `did:key` of the operator's payment processor; without one no receipt is taken. */
  readonly processor?: string | null;
  /** Asks accounts with code whether they signed a message. */
  readonly asksCode?: AskCode;
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
  readonly sell: (delivery: Delivery) => Promise<Reply>;
}

interface AskedRequest extends Omit<PurchaseRequest, 'paymentHeader'> {
  readonly paymentHeader: PaymentHeader;
}

type FormerRequest = Omit<AskedRequest, 'endpoint'>;

/** Sells for payments and receipts; a journal that is not shared belongs to one service. */
export interface PurchaseService {
  /** The reply to a known payment, receipt or signed-in buyer, or the sale of an answer still to be made; never throws. */
  open(request: AskedRequest): Promise<Reply | Sale>;
  /** The reply to a payment for what a release took away since; null where it bought none of that. Never sells nor throws. */
  openFormer(request: FormerRequest): Promise<Reply | null>;
  /** What a payment says that it moves, before anything else of it is checked; or why it cannot be read. Never throws. */
  transferOf(header: X402Header): Promise<SignedTransfer | Refusal>;
  /** The request that exactly this header paid for or may have; null also for a stranger to it. Never waits, never throws. */
  boughtBy(paymentHeader: PaymentHeader, client: string | null): string | null;
  /** Learns what became of an open purchase, without moving money; true when it is known now. */
  look(key: string): Promise<boolean>;
  /** Learns what became of a settled transfer, without moving money; one that vanished is a doubt again. */
  watch(key: string): Promise<WatchedTransfer['state']>;
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
  readonly signIns: SignIns;
}

export function purchaseService(options: PurchaseServiceOptions): PurchaseService {
  const context = contextOf(options);
  return {
    async open(request) {
      const own = contextFor(request, context);
      try {
        const { paymentHeader } = request;
        return paymentHeader.kind === 'sign-in'
          ? await context.signIns.open({ ...request, paymentHeader })
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
    boughtBy(paymentHeader, client) {
      const identity =
        paymentHeader.kind === 'sign-in' ? null : context.identify(paymentHeader, client);
      const bound = identity === null ? null : boundBy(identity, context);
      const isBuyers = bound !== null && isBuyer(bound.shown, bound.known, context.clock());
      return isBuyers ? bound.known.resource : null;
    },
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
    async watch(key) {
      const entry = await context.journal.find(key);
      // It may be open again already.
      if (entry?.state !== 'settled' || entry.transaction === null) return 'final';
      const tender = context.recall(entry);
      if (tender === null) return 'open';
      const found = await tender.settlement.watch(entry.transaction);
      if (found.state !== 'open') await context.journal.review({ key, ...found });
      return found.state;
    },
  };
}

function contextOf(options: PurchaseServiceOptions): Context {
  const { journal, clock, outside, challenger, processor = null, limited = () => {} } = options;
  const report: ReportFailure = (error, requestId) => {
    try {
      options.report?.(error, requestId);
    } catch {
      // A log that fails must not turn a settled payment into a failed one.
    }
  };
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
    ...(outside === undefined ? {} : { outside }),
    challenger,
    report,
    limited,
    inFlight: new InFlight(),
    doubts: new Doubts(),
    guesses: new Guesses(),
    signIns: signIns(options),
    read: (request) => {
      const { paymentHeader } = request;
      return paymentHeader.kind === 'payment'
        ? payments.read(request, paymentHeader)
        : receipts.read(request, paymentHeader);
    },
    transferOf: payments.transferOf,
    identify: (paymentHeader, client) =>
      paymentHeader.kind === 'payment'
        ? payments.identify(paymentHeader, client)
        : receipts.identify(paymentHeader, client),
    recall: (entry, trace) => (isReceiptKey(entry.key) ? receipts : payments).recall(entry, trace),
  };
}

/** What fails for one request is reported under its name. */
function contextFor({ trace }: Pick<PurchaseRequest, 'trace'>, context: Context): Context {
  return trace === undefined
    ? context
    : { ...context, report: (error) => context.report(error, trace.id) };
}

async function opened(asked: PurchaseRequest, context: Context): Promise<Reply | Sale> {
  const bound = await knownTo(asked, context).catch((error: unknown): Reply => {
    // It may be paid already, so nobody is told that it is not.
    context.report(error);
    return unknownReply(asked.paymentHeader, UNKNOWN_RETRY_S * 1000);
  });
  if (bound !== null && 'status' in bound) return bound;
  const request = withSignIn(asked, bound);
  const tender = await context.read(request);
  const told = { ...request, tender: isRefusal(tender) ? null : tender };
  const reply = (outcome: PurchaseOutcome) => purchaseReply(outcome, told, context);
  // A request without data must hear that first, so a refusal waits for the answer too.
  if (isRefusal(tender)) {
    const kept = await keptReply(request, context);
    if (kept !== null) return kept;
    const refusal = reply(refused(tender));
    return { sell: async () => refusal };
  }
  // By a wrong clock a good window looks bad, even if the clock is right again when the answer is there.
  const failure = tender.refusal === null ? null : clockOutcome(context);
  const known = knownOutcome(tender, context);
  if (known !== null) return reply(await known);
  const earlier = tender.identifier === null ? null : await named(tender, request, context);
  if (earlier !== null) return reply(earlier);
  if (failure !== null) return { sell: async () => reply(failure) };
  return { sell: async (delivery) => reply(await sold(tender, delivery, context)) };
}

interface BoundTender {
  readonly key: string;
  readonly known: KnownPayment;
  readonly shown: BuyerProof | null;
}

/**
 * What is known of a payment, for its buyer; null where nothing is. Anybody else gets the refusal, before anything of the
 * request is looked at. A message is asked for last, because it is used up. Of what was taken away since it names the URL
 * that was bought, so nobody but the payer hears what is wrong with one.
 */
async function knownTo(
  { paymentHeader, target, trace }: Pick<PurchaseRequest, 'paymentHeader' | 'target' | 'trace'>,
  context: Context,
  isFormer = false,
): Promise<(BoundTender & Pick<BuyerProof, 'isSignedIn'>) | Reply | null> {
  const identity = context.identify(paymentHeader, trace?.client ?? null);
  const bound = identity === null ? null : await learntBy(identity, context);
  if (bound === null) return null;
  const { clock, guesses, signIns } = context;
  const { key, known, shown } = bound;
  if (isBuyer(shown, known, clock())) return { ...bound, isSignedIn: false };
  const text = paymentHeader.kind === 'payment' ? paymentHeader.signIn : undefined;
  const signedTarget = isFormer ? targetOfResource(known.resource) : target;
  const fault =
    text === undefined ? undefined : await signIns.fault(text, { key, target: signedTarget });
  if (fault === null) return { ...bound, isSignedIn: true };
  return unprovenReply(guesses.waitS(key, clock()), isFormer ? null : (fault ?? null));
}

/** What is known of exactly this tender, once it is learnt what other gatekeepers noted. */
async function learntBy(identity: TenderIdentity, context: Context): Promise<BoundTender | null> {
  for (const key of identity.keys) await context.journal.shared?.learn(key);
  return boundBy(identity, context);
}

function boundBy({ keys, signed, shownFor }: TenderIdentity, context: Context): BoundTender | null {
  for (const key of keys) {
    const known = bindingOf(key, context);
    if (known?.signed === signed) return { key, known, shown: shownFor(key) };
  }
  return null;
}

async function formerReply(asked: FormerRequest, context: Context): Promise<Reply | null> {
  const { paymentHeader, method, trace } = asked;
  const { journal, challenger } = context;
  if (paymentHeader.kind === 'sign-in') return null;
  try {
    const bound = await knownTo({ ...asked, paymentHeader }, context, true);
    if (bound === null || 'status' in bound) return bound;
    const target = targetOfResource(bound.known.resource);
    if (bound.known.resource !== `${method} ${target}` || !asksForFormer(asked.target, target))
      return null;
    if (soldEndpoint(target, challenger.catalog()) !== null) return null;
    const entry = await journal.find(bound.key);
    if (entry === null || entry.state === 'refused') return null;
    const endpoint = formerEndpoint(entry);
    const request = withSignIn({ endpoint, target, method, paymentHeader, trace }, bound);
    const tender = await context.read(request);
    if (isRefusal(tender)) return await keptReply(request, context);
    const outcome = await knownOutcome(tender, context);
    if (outcome === null) return null;
    if (outcome.kind === 'refused') return noLongerOffered(outcome.refusal);
    return purchaseReply(outcome, { ...request, tender }, context);
  } catch (error) {
    // It may be paid already, so nobody is told that it is not.
    context.report(error);
    return unknownReply(paymentHeader, UNKNOWN_RETRY_S * 1000);
  }
}

function withSignIn(
  request: PurchaseRequest,
  bound: Pick<BuyerProof, 'isSignedIn'> | null,
): PurchaseRequest {
  return bound?.isSignedIn === true ? { ...request, isSignedIn: true } : request;
}

/** A payment by settings of before: what it bought is delivered. An open one stays a doubt: its buyer must not sign again. */
async function keptReply(request: PurchaseRequest, context: Context): Promise<Reply | null> {
  const { method, target, paymentHeader, trace } = request;
  const identity = context.identify(paymentHeader, trace?.client ?? null);
  if (identity === null) return null;
  try {
    const bound = await learntBy(identity, context);
    if (bound?.known.resource !== `${method} ${target}`) return null;
    const entry = await context.journal.find(bound.key);
    if (entry === null || entry.state === 'refused') return null;
    const { key, known } = bound;
    // It may have been noted a moment ago, by somebody else.
    const isBuyers = request.isSignedIn === true || isBuyer(bound.shown, known, context.clock());
    if (!isBuyers) return unprovenReply(context.guesses.waitS(key, context.clock()), null);
    const { resource } = known;
    const outcome = endOf({ resource, signed: identity.signed }, entry) ?? UNKNOWN;
    await noteDelivery(entry, outcome, context);
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
  const { inFlight, doubts, guesses, clock } = context;
  const { key, shown } = tender;
  const bound = boundInJournal(key, context);
  const running = inFlight.get(key);
  const known = bound ?? runningPayment(running);
  // Somebody else may have brought it while this request was read.
  if (known !== null && !isBuyer(shown, known, clock()))
    return Promise.resolve({ kind: 'unproven', waitS: guesses.waitS(key, clock()) });
  if (running !== undefined && isSameBinding(running.binding, tender)) {
    running.binding.waiters?.join(tender.waiters);
    return running.outcome;
  }
  if (bound === undefined) return Promise.resolve(UNKNOWN);
  if (bound === null || !isSameBinding(bound, tender)) return null;
  const waitMs = doubts.waitMs(tender, clock());
  return waitMs > 0 ? Promise.resolve({ kind: 'unknown', waitMs }) : repeat(tender, context);
}

/** What an earlier payment of the same name came to; null for a new name, or for a payment that is used already. */
async function named(
  tender: Tender,
  { trace }: PurchaseRequest,
  context: Context,
): Promise<PurchaseOutcome | null> {
  if (bindingOf(tender.key, context) !== null) return null;
  try {
    return await namedOutcome(tender, trace, context);
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
function bindingOf(key: string, context: Context): KnownPayment | null {
  return boundInJournal(key, context) ?? runningPayment(context.inFlight.get(key));
}

function runningPayment(running: ReturnType<InFlight['get']>): KnownPayment | null {
  if (running === undefined) return null;
  const { resource, signed, shown } = running.binding;
  const { identifier = null, client = null } = shown ?? {};
  return { resource, signed, identifier, client, settledMs: null };
}

function boundInJournal(key: string, context: Context): KnownPayment | null | undefined {
  try {
    return context.journal.bindingOf(key);
  } catch (error) {
    context.report(error);
    return undefined;
  }
}

/**
 * What an earlier payment came to that its payer gave the same name (the x402 extension `payment-identifier`): a new
 * signature for the same request gets the same answer, and its own money is not asked for. Null where the name is new, or
 * where the earlier payment turned out to have moved nothing: then this one is sold.
 *
 * A name counts for the account that signs, so nothing is told before it is known to have signed this payment. Two payments
 * of one name that come at the same time are told apart by the claim: the journal takes one of them.
 */
async function namedOutcome(
  tender: Tender,
  trace: RequestTrace | undefined,
  context: Context,
): Promise<PurchaseOutcome | null> {
  const { journal, recall } = context;
  const { identifier, refusal, settlement } = tender;
  if (identifier === null || refusal !== null) return null;
  const key = await journal.identifiedKey(identifier.text);
  if (key === null) return null;
  if (!identifier.isSignedByKey()) {
    const checked = await settlement.check();
    settlement.drop();
    if (checked?.kind === 'refused') return refused(checked.refusal);
    if (checked !== null) return failed(checked.error, checked.retryS);
  }
  const entry = await journal.findOnDisk(key);
  if (entry === null || entry.state === 'refused') return null;
  // The same request for the same money, whatever its nonce and its window.
  if (entry.resource !== tender.resource || moneyOf(entry) !== moneyOf(tender))
    return IDENTIFIER_USED;
  // The token of the second one is offered, and it is that of the first.
  const first = defined(recall(entry, trace), 'the tender of a payment in the journal');
  const outcome = await knownOutcome(first, context);
  if (outcome?.kind !== 'refused') return outcome;
  const isOver = (await journal.identifiedKey(identifier.text)) === null;
  return isOver ? null : outcome;
}

function moneyOf({ key, signed }: Pick<TenderBinding, 'key' | 'signed'>): string {
  const withoutNonce = key.slice(0, key.lastIndexOf('|'));
  return [withoutNonce, ...signed.split('|').slice(1, 3)].join('|');
}

/** Whether a buyer fetches again what it bought or is buying. Never waits; no limit tells others what was bought. */
export function isRepeat(
  { method, target, facts }: Arrival,
  client: string | null,
  purchases: Pick<PurchaseService, 'boughtBy'>,
  catalog: Catalog,
): boolean {
  const [paymentHeader, ...others] = facts.paymentHeaders;
  if (method !== 'GET' || paymentHeader === undefined || others.length > 0) return false;
  const bought = purchases.boughtBy(paymentHeader, client);
  if (bought === null) return false;
  const request = canonicalRequest(target);
  const routed = 'status' in request ? undefined : route(request, catalog);
  if (routed === undefined || routed.endpoint.priceUsd === null) return false;
  const { fault, target: canonical } = routed;
  return (fault === null || fault.isUnknownName === true) && bought === `GET ${canonical}`;
}

/** A purchase service that tells how long its check takes, and how long an answer is made before it is sold. */
export function meteredPurchases(purchases: PurchaseService, meters: Meters): PurchaseService {
  return {
    ...purchases,
    async open(request) {
      const started = performance.now();
      const opened = await purchases.open(request);
      if (!('sell' in opened)) return opened;
      const checked = performance.now();
      meters.stage('check', checked - started);
      return {
        sell(delivery) {
          meters.stage('answer', performance.now() - checked);
          return opened.sell(delivery);
        },
      };
    },
  };
}
