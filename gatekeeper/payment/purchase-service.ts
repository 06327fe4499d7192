/**
 * One purchase, whatever pays for it: an x402 payment or a receipt of the operator's processor.
 *
 *  1. `open()` reads the header and looks for what is known: a copy in flight, a doubt that was asked about a moment
 *     ago, a row of the journal. Whoever paid already gets the same bytes again; a doubt is asked about again.
 *  2. The caller makes the whole answer. Only a 200 goes on.
 *  3. `sell()` binds the key to the request, with no wait between the last look and the binding. It makes the claim
 *     durable, asks for the money, notes how that ended, and only then lets the bytes go.
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
 * Known limit: an answer that was paid for is kept for 30 days (`JOURNAL_RETENTION_DAYS`). A repeat after that is refused
 * and charges nothing.
 */

import type { Reply } from '../http/reply.ts';
import { clockTrouble } from '../money/clock-guard.ts';
import type { Claim, Conclusion, Journal, JournalEntry, PaymentBinding } from '../money/journal.ts';
import { isRefusal, type Refusal } from '../money/payment.ts';
import { DOUBT_REST_MS, Doubts } from './doubts.ts';
import { InFlight } from './in-flight.ts';
import { type Delivery, type PurchaseOutcome, paymentReply } from './payment-reply.ts';
import { type PaymentReaderOptions, paymentReader } from './payment-tender.ts';
import { isReceiptKey, recallReceipt, receiptReader } from './receipt-tender.ts';
import type { SettlementResult } from './settlement.ts';
import type {
  Identity,
  PaymentHeader,
  PurchaseRequest,
  PurchaseRequestOf,
  Tender,
} from './tender.ts';

export interface PurchaseServiceOptions extends Omit<PaymentReaderOptions, 'report' | 'journal'> {
  readonly journal: Journal;
  /** `did:key` of the operator's payment processor; without one no receipt is taken. */
  readonly processor?: string | null;
  /** Told about failures of our own parts, for the log, with the name of the request; it gets no payment data. */
  readonly report?: Report;
  /** Told of a purchase that has to wait until others are done. */
  readonly limited?: (limit: 'purchases' | 'waiting_bytes') => void;
}

type Report = (error: unknown, requestId?: string) => void;

/** A reply, with who paid where somebody did. */
export type PurchaseReply = Reply & { readonly payer?: string };

/** A purchase that waits for its answer. Nothing is held for it, so it may be dropped. */
export interface Sale {
  /** Sells the complete, hash-checked 200 body, or says why not. */
  readonly sell: (delivery: Delivery) => Promise<PurchaseReply>;
}

/** Sells for payments and receipts; a journal that is not shared belongs to one service. */
export interface PurchaseService {
  /** The reply to a known payment or receipt, or the sale of an answer that is still to be made; never throws. */
  open(request: PurchaseRequest): Promise<PurchaseReply | Sale>;
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

interface Context
  extends Required<Pick<PurchaseServiceOptions, 'journal' | 'clock' | 'challenger'>> {
  readonly inFlight: InFlight;
  readonly doubts: Doubts;
  readonly read: (request: PurchaseRequest) => Promise<Tender | Refusal>;
  readonly identify: (paymentHeader: PaymentHeader) => Identity | null;
  readonly recall: (entry: JournalEntry) => Tender | null;
  readonly report: Report;
  readonly limited: NonNullable<PurchaseServiceOptions['limited']>;
}

/** The one way from a header to a sold answer. */
export function purchaseService(options: PurchaseServiceOptions): PurchaseService {
  const context = contextOf(options);
  return {
    async open(request) {
      const own = contextFor(request, context);
      try {
        return await opened(request, own);
      } catch (error) {
        own.report(error);
        const outcome = failed(
          'The payment could not be checked. Send the same payment or receipt again.',
        );
        return replyTo(outcome, { ...request, tender: null }, own);
      }
    },
    boughtBy(paymentHeader) {
      const identity = context.identify(paymentHeader);
      const bound = identity === null ? null : bindingOf(identity.key, context);
      return bound !== null && bound.signed === identity?.signed ? bound.resource : null;
    },
    async look(key) {
      const entry = await context.journal.find(key);
      // The buyer may have been faster than the pass that noted the row as open.
      if (entry?.state === 'settled' || entry?.state === 'refused') return true;
      const tender = entry === null ? null : context.recall(entry);
      if (entry === null || tender === null || context.inFlight.get(key) !== undefined)
        return false;
      const { kind } = await context.inFlight.start(tender, () => lookInto(tender, entry, context));
      return kind === 'paid' || kind === 'refused';
    },
  };
}

function contextOf(options: PurchaseServiceOptions): Context {
  const { journal, clock, challenger, processor = null, limited = () => {} } = options;
  const report = quiet(options.report);
  const payments = paymentReader({ ...options, report });
  const receipts = receiptReader({ processor, clock });
  return {
    journal,
    clock,
    challenger,
    report,
    limited,
    inFlight: new InFlight(),
    doubts: new Doubts(),
    read: (request) =>
      request.paymentHeader.kind === 'payment'
        ? payments.read(request as PurchaseRequestOf<'payment'>)
        : receipts.read(request as PurchaseRequestOf<'receipt'>),
    identify: (paymentHeader) =>
      paymentHeader.kind === 'payment'
        ? payments.identify(paymentHeader)
        : receipts.identify(paymentHeader),
    recall: (entry) => (isReceiptKey(entry.key) ? recallReceipt(entry) : payments.recall(entry)),
  };
}

/** What fails for one request is reported under its name. */
function contextFor({ trace }: PurchaseRequest, context: Context): Context {
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
  // A request without data must hear that first, so a refusal waits for the answer too.
  if (isRefusal(tender)) {
    const reply = replyTo(refused(tender), { ...request, tender: null }, context);
    return { sell: async () => reply };
  }
  const asked = { ...request, tender };
  // By a wrong clock a good window looks bad, even if the clock is right again when the answer is there.
  const wrong = tender.refusal === null ? null : clockFailure(context);
  const known = knownOutcome(tender, context) ?? knownElsewhere(tender, context);
  const outcome = known === null ? null : await known;
  if (outcome !== null) return replyTo(outcome, asked, context);
  if (wrong !== null) return { sell: async () => replyTo(wrong, asked, context) };
  return {
    sell: async (delivery) => replyTo(await sold(tender, delivery, context), asked, context),
  };
}

type TenderedRequest = PurchaseRequest & { readonly tender: Tender | null };

function replyTo(
  outcome: PurchaseOutcome,
  asked: TenderedRequest,
  { challenger }: Context,
): PurchaseReply {
  const reply = paymentReply(outcome, asked, challenger);
  const payer = asked.tender?.paidBy ?? null;
  return outcome.kind === 'paid' && payer !== null ? { ...reply, payer } : reply;
}

/** What is known of a tender without its answer; null when it has to be sold. */
function knownOutcome(tender: Tender, context: Context): Promise<PurchaseOutcome> | null {
  const running = context.inFlight.get(tender.key);
  if (running !== undefined && isSame(running.binding, tender)) {
    running.binding.waiters?.join(tender.waiters);
    return running.outcome;
  }
  const waitMs = context.doubts.waitMs(tender, context.clock());
  if (waitMs > 0) return Promise.resolve({ kind: 'unknown', waitMs });
  const bound = boundInJournal(tender.key, context);
  if (bound === undefined) return Promise.resolve(UNKNOWN);
  return bound !== null && isSame(bound, tender) ? repeat(tender, context) : null;
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
    withDoubt(tender, () => sell(tender, delivery, context), context),
  );
}

/** The same tender for the same request again: what it bought, or what became of it. */
function repeat(tender: Tender, context: Context): Promise<PurchaseOutcome> {
  if (context.inFlight.isFull(tender.payer)) {
    context.limited('purchases');
    return Promise.resolve(UNKNOWN);
  }
  return context.inFlight.start(tender, () =>
    withDoubt(tender, () => again(tender, context), context),
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

function isSame(left: PaymentBinding, right: PaymentBinding): boolean {
  return left.resource === right.resource && left.signed === right.signed;
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

/** A tender that the journal holds. A throw means that it could not be read: it may be paid already. */
async function again(tender: Tender, context: Context): Promise<PurchaseOutcome> {
  const known = await context.journal.find(tender.key);
  // Another gatekeeper may have noted a refusal a moment ago: the next repeat is a new purchase.
  return known === null || known.state === 'refused' ? UNKNOWN : recorded(tender, known, context);
}

async function recorded(
  tender: Tender,
  known: JournalEntry,
  context: Context,
): Promise<PurchaseOutcome> {
  const end = endOf(tender, known);
  if (end !== null) return end;
  const { shared } = context.journal;
  if (shared === undefined) return resumed(tender, known, context);
  if (await shared.take(tender.key, tender)) return resumed(tender, known, context);
  const now = await context.journal.findOnDisk(tender.key);
  return (now === null || now.state === 'refused' ? null : endOf(tender, now)) ?? UNKNOWN;
}

/** What a repeat is answered without asking anybody; null when the end of the payment is not known. */
function endOf(tender: Tender, known: JournalEntry): PurchaseOutcome | null {
  if (!isSame(known, tender)) return ALREADY_USED;
  const { body, contentType, state, transaction } = known;
  if (body === null) return NO_LONGER_KEPT;
  const isPaid = state === 'settled' && transaction !== null;
  return isPaid ? paid({ body, contentType }, transaction) : null;
}

async function resumed(
  tender: Tender,
  known: JournalEntry,
  context: Context,
): Promise<PurchaseOutcome> {
  const result = await tender.settlement.resume();
  if (result.kind === 'unknown' && context.journal.shared !== undefined) {
    await note({ key: tender.key, state: 'unknown', detail: result.detail }, context);
  }
  return concluded(result, { tender, delivery: known }, context);
}

/** Null while the clock may be right. */
function clockFailure(context: Context): PurchaseOutcome | null {
  const trouble = clockTrouble(context.clock(), context.journal.newestMs());
  if (trouble === null) return null;
  context.report(trouble);
  return failed("The server's clock is wrong. Send the same payment or receipt again later.");
}

/** The answer is in hand, the claim is durable before the money is asked for, the ending is noted before the 200. */
async function sell(
  tender: Tender,
  delivery: Delivery,
  context: Context,
): Promise<PurchaseOutcome> {
  const wrong = clockFailure(context);
  if (wrong !== null) return wrong;
  if (tender.refusal !== null) return unlessTaken(tender, refused(tender.refusal), context);
  const { inFlight } = context;
  const bytes = delivery.body.length;
  if (!inFlight.hold(bytes)) {
    context.limited('waiting_bytes');
    return failed(
      'Too many answers are waiting to be paid for. Send the same payment or receipt again.',
    );
  }
  try {
    return await charge(tender, delivery, context);
  } finally {
    inFlight.release(bytes);
  }
}

async function charge(
  tender: Tender,
  delivery: Delivery,
  context: Context,
): Promise<PurchaseOutcome> {
  const claimed = await claim(tender, delivery, context);
  if (claimed !== null) return claimed;
  const result = await tender.settlement.settle();
  const outcome = await concluded(result, { tender, delivery }, context);
  if (result.kind === 'unknown') {
    await note({ key: tender.key, state: 'unknown', detail: result.detail }, context);
  }
  return outcome;
}

/** Null once the claim is durable; until then nobody was asked for money, so a failure charges nobody. */
async function claim(
  tender: Tender,
  delivery: Delivery,
  context: Context,
): Promise<PurchaseOutcome | null> {
  try {
    const objection = await tender.settlement.check();
    if (objection?.kind === 'refused') {
      return await unlessTaken(tender, refused(objection.refusal), context);
    }
    if (objection !== null) {
      return failed(
        'The facilitator did not say whether the payment is valid. Send the same payment again.',
      );
    }
    if (!tender.waiters.isWaiting()) return ABANDONED;
    if (await context.journal.claim(claimOf(tender, delivery))) return null;
    // Another process holds the claim; its outcome will be in the journal.
    return await unlessTaken(tender, UNKNOWN, context);
  } catch (error) {
    context.report(error);
    return failed('The payment could not be recorded. Send the same payment or receipt again.');
  }
}

/** A process beside this one, such as the one that it takes over from, may have sold under the key: that is delivered. */
async function unlessTaken(
  tender: Tender,
  otherwise: PurchaseOutcome,
  context: Context,
): Promise<PurchaseOutcome> {
  const known = await readFromDisk(tender.key, context);
  if (known === undefined) return UNKNOWN;
  if (known === null || known.state === 'refused') return otherwise;
  const isElsewhere = otherwise.kind === 'unknown' && known.state !== 'settled';
  return isElsewhere && context.journal.shared === undefined
    ? otherwise
    : recorded(tender, known, context);
}

/** Undefined when the journal could not be read. */
async function readFromDisk(
  key: string,
  context: Context,
): Promise<JournalEntry | null | undefined> {
  try {
    return await context.journal.findOnDisk(key);
  } catch (error) {
    context.report(error);
    return undefined;
  }
}

function claimOf(tender: Tender, { body, contentType }: Delivery): Claim {
  const { key, resource, version, signed, value, validBefore } = tender;
  return { key, resource, version, signed, value, validBefore, body, contentType };
}

/** For the background: nobody waits for an answer, so nobody is asked for money. */
async function lookInto(
  tender: Tender,
  entry: JournalEntry,
  context: Context,
): Promise<PurchaseOutcome> {
  const { body, contentType } = entry;
  const result = await tender.settlement.look(body !== null);
  return concluded(result, { tender, delivery: { body, contentType } }, context);
}

interface Concluded {
  readonly tender: Tender;
  readonly delivery: { readonly body: Buffer | null; readonly contentType: string };
}

/** Notes how the money ended; a doubt stays as open as it was. */
async function concluded(
  result: SettlementResult,
  { tender, delivery }: Concluded,
  context: Context,
): Promise<PurchaseOutcome> {
  const { key } = tender;
  switch (result.kind) {
    case 'settled': {
      const { transaction } = result;
      await note({ key, state: 'settled', transaction }, context);
      const { body, contentType } = delivery;
      return body === null ? NO_LONGER_KEPT : paid({ body, contentType }, transaction);
    }
    case 'refused':
      return (await isClosed({ key, detail: result.refusal.reason }, context))
        ? refused(result.refusal)
        : UNKNOWN;
    case 'unsent':
      return (await isClosed({ key, detail: result.detail }, context))
        ? failed('The payment could not be sent for settlement. Send the same payment again.')
        : UNKNOWN;
    case 'unknown':
      return UNKNOWN;
  }
}

/**
 * Notes that no money moved; false where somebody else may be asking for it. That is so in a shared journal that was not
 * written: while this gatekeeper had no session, another one may have taken the payment over.
 */
async function isClosed(
  { key, detail }: { readonly key: string; readonly detail: string },
  context: Context,
): Promise<boolean> {
  const isNoted = await note({ key, state: 'refused', detail }, context);
  return isNoted || context.journal.shared === undefined;
}

/** Whether it is noted; a row that stays open only means that a repeat asks again. */
async function note(conclusion: Conclusion, context: Context): Promise<boolean> {
  try {
    await context.journal.conclude(conclusion);
    return true;
  } catch (error) {
    context.report(error);
    return false;
  }
}

function paid(delivery: Delivery, transaction: string): PurchaseOutcome {
  return { kind: 'paid', delivery, transaction };
}

function refused(refusal: Refusal): PurchaseOutcome {
  return { kind: 'refused', refusal };
}

function failed(error: string): PurchaseOutcome {
  return { kind: 'failed', error };
}

/** Read by copies alone that came in the instant in which nobody waited. */
const ABANDONED = failed(
  'The connection ended before the payment was taken. Send the same payment or receipt again.',
);
const UNKNOWN: PurchaseOutcome = { kind: 'unknown', waitMs: DOUBT_REST_MS };
const ALREADY_USED: PurchaseOutcome = {
  kind: 'refused',
  refusal: {
    reason: 'payment_already_used',
    error:
      'this payment or receipt was already used for another request, or with another signature; send a new one',
  },
};
const NO_LONGER_KEPT: PurchaseOutcome = {
  kind: 'refused',
  refusal: {
    reason: 'paid_answer_no_longer_kept',
    error:
      'the answer that this payment or receipt bought is no longer stored; to buy it again, send a new one',
  },
};
