import type { JournalClaim, JournalEntry } from '../journal/journal.ts';
import type { Challenger } from '../offer/challenge.ts';
import { clockTrouble } from './clock-guard.ts';
import { facilitatorRefusal } from './facilitator-refusal.ts';
import { type Binding, Flights } from './flights.ts';
import { decodePayment, isRefusal, type X402Version } from './payment-header.ts';
import {
  type Asked,
  type Delivery,
  failedReply,
  type Outcome,
  paymentReply,
  refusalReply,
  type UnpaidReply,
} from './payment-reply.ts';
import { paymentKey, type Task, taskReader } from './payment-task.ts';
import { resume, type Settlers, settle } from './settlement.ts';
import type { SignaturePool } from './signature-pool.ts';
import { signedText } from './signed-text.ts';

/** A request that came with a payment. */
export interface Order extends Asked {
  readonly method: string;
  /** Value of `X-PAYMENT` (version 1) or `PAYMENT-SIGNATURE` (version 2). */
  readonly header: string;
  /** Makes the complete, hash-checked 200 body; a throw charges nobody. */
  readonly deliver: () => Promise<Delivery>;
}

export interface PaymentDeskOptions extends Omit<Settlers, 'report'> {
  readonly challenger: Challenger;
  /** Settles without asking the facilitator to verify first: it checks again when it settles. */
  readonly settleOnly?: boolean;
  /** Recovers signers beside this thread; without it this thread does. */
  readonly signatures?: Pick<SignaturePool, 'judge'>;
  /** Told about failures of our own parts, for the log; it gets no payment data. */
  readonly report?: (error: unknown) => void;
}

/** Takes payments; one journal belongs to one desk. */
export interface PaymentDesk {
  pay(order: Order): Promise<PaymentAnswer>;
}

/** Remembers what was paid for; never waits and never throws. */
export interface PaymentMemory {
  /** The request that exactly this signed payment paid for, or is in flight or in doubt for; else null. */
  boughtBy(header: string, version: X402Version): string | null;
}

/** Finds out what its journal does not know. */
export interface Reconciler {
  /** Learns what became of a payment whose end nobody noted; true when it is known now. */
  reconcile(key: string): Promise<boolean>;
}

/** A reply, with who paid where somebody did. */
export type PaymentAnswer = UnpaidReply & { readonly payer?: string };

interface Desk extends Settlers {
  readonly flights: Flights;
  readonly settleOnly: boolean;
}

/** The one way from a payment header to a reply, for both versions. */
export function paymentDesk(options: PaymentDeskOptions): PaymentDesk & PaymentMemory & Reconciler {
  const { challenger, clock, settleOnly = false } = options;
  const tasks = taskReader(challenger);
  const report = quiet(options.report);
  const desk: Desk = { ...options, flights: new Flights(), settleOnly, report };
  return {
    async pay(order) {
      try {
        const payment = decodePayment(order.header, order.version);
        if (isRefusal(payment)) return refusalReply(payment, order, challenger);
        await options.signatures?.judge(payment, challenger.network);
        // No await from here to board(): the key is bound before any other request can run.
        const task = tasks.read(payment, order, clock());
        if (isRefusal(task)) return refusalReply(task, order, challenger);
        return answerOf(await board(task, desk), { task, order }, challenger);
      } catch (error) {
        report(error);
        return failedReply('The payment could not be looked at. Send it again.');
      }
    },
    boughtBy(header, version) {
      const payment = decodePayment(header, version);
      if (isRefusal(payment)) return null;
      const bound = bindingOf(paymentKey(payment, challenger.network), desk);
      return bound?.signed === signedText(payment) ? bound.resource : null;
    },
    async reconcile(key) {
      const entry = await desk.journal.find(key);
      const task = entry === null || entry.body === null ? null : tasks.recall(entry);
      if (task === null || desk.flights.get(key) !== undefined) return false;
      const { kind } = await fly(task, desk);
      return kind === 'paid' || kind === 'refused';
    },
  };
}

/** Copies of one payment may spell the payer differently; each receipt spells it as its request did. */
function answerOf(
  outcome: Outcome,
  { task, order }: { readonly task: Task; readonly order: Order },
  challenger: Challenger,
): PaymentAnswer {
  if (outcome.kind !== 'paid') return paymentReply(outcome, order, challenger);
  const { delivery, transaction } = outcome;
  const payer = task.payment.authorization.from;
  const paid = { kind: 'paid', delivery, transaction, payer } as const;
  const { status, headers, body } = paymentReply(paid, order, challenger);
  return { status, headers, body, payer };
}

/** A log that fails must not turn a settled payment into a failed one. */
function quiet(report: PaymentDeskOptions['report']): Settlers['report'] {
  return (error) => {
    try {
      report?.(error);
    } catch {
      // There is nowhere left to say it.
    }
  };
}

/** Copies of a payment in flight share its outcome; anything else under its key is refused. */
function board(task: Task, desk: Desk): Promise<Outcome> {
  const flight = desk.flights.get(task.key);
  if (flight !== undefined) {
    if (isSame(flight.binding, task)) return flight.outcome;
    if (isBuyer(task, desk)) return boardAfter(flight.outcome, task, desk);
    return Promise.resolve(ALREADY_USED);
  }
  if (desk.flights.isFull(task.payer)) {
    return Promise.resolve(failed('Too many payments at once. Send it again.'));
  }
  return fly(task, desk);
}

/** Whether the journal holds the key for exactly this request, so that what is in flight under it is about to be refused. */
function isBuyer(task: Task, desk: Desk): boolean {
  const bound = bindingOf(task.key, desk);
  return bound !== null && isSame(bound, task);
}

async function boardAfter(other: Promise<Outcome>, task: Task, desk: Desk): Promise<Outcome> {
  await other;
  // No await from here on either: the key may be free for this one request alone.
  return board(task, desk);
}

function fly(task: Task, desk: Desk): Promise<Outcome> {
  return desk.flights.start(task, () => carry(task, desk));
}

type Bound = Pick<Binding, 'resource' | 'signed'>;

function isSame(left: Bound, right: Bound): boolean {
  return left.resource === right.resource && left.signed === right.signed;
}

/** What a key is bound to, by the journal or else by a payment in flight; null also when that cannot be read. */
function bindingOf(key: string, desk: Desk): Bound | null {
  try {
    return desk.journal.bindingOf(key) ?? desk.flights.get(key)?.binding ?? null;
  } catch (error) {
    desk.report(error);
    return null;
  }
}

/** Never throws; what does, does so only while no settlement was asked for. */
async function carry(task: Task, desk: Desk): Promise<Outcome> {
  try {
    const known = await found(() => desk.journal.find(task.key), desk);
    // It may be paid already, so nobody is told that it is not.
    if (known === undefined) return { kind: 'unknown' };
    if (isTaken(known)) return await again(task, known, desk);
    const outcome = await sell(task, desk);
    return outcome.kind === 'refused' ? await unlessTaken(task, outcome, desk) : outcome;
  } catch (error) {
    desk.report(error);
    return failed('The payment could not be recorded. Send it again.');
  }
}

/** A payment that the journal holds. */
async function again(task: Task, known: JournalEntry, desk: Desk): Promise<Outcome> {
  if (!isSame(known, task)) return ALREADY_USED;
  const delivery = deliveryOf(known);
  if (delivery === null) return NO_LONGER_KEPT;
  if (known.state !== 'settled' || known.transaction === null) {
    return resume(task, { delivery, validBefore: known.validBefore }, desk);
  }
  const payer = task.payment.authorization.from;
  return { kind: 'paid', delivery, transaction: known.transaction, payer };
}

/** Whether a payment holds the key: one that was refused may be sent again. */
function isTaken(known: JournalEntry | null): known is JournalEntry {
  return known !== null && known.state !== 'refused';
}

/** A process beside this one, such as the one that it takes over from, may have sold under the key: that is delivered. */
async function unlessTaken(task: Task, refused: Outcome, desk: Desk): Promise<Outcome> {
  const known = await found(() => desk.journal.findOnDisk(task.key), desk);
  if (known === undefined) return { kind: 'unknown' };
  return isTaken(known) ? again(task, known, desk) : refused;
}

/** Undefined when the journal could not be read. */
async function found(
  look: () => Promise<JournalEntry | null>,
  desk: Desk,
): Promise<JournalEntry | null | undefined> {
  try {
    return await look();
  } catch (error) {
    desk.report(error);
    return undefined;
  }
}

function deliveryOf({ body, contentType }: JournalEntry): Delivery | null {
  return body === null ? null : { body, contentType };
}

/** The answer is in hand before verify, the claim is durable before settle, the settlement is noted before the 200. */
async function sell(task: Task, desk: Desk): Promise<Outcome> {
  const trouble = clockTrouble(desk.clock(), desk.journal.newestMs());
  if (trouble !== null) {
    desk.report(trouble);
    return failed('The clock of the server is wrong. Send it again later.');
  }
  if (task.refusal !== null) return { kind: 'refused', refusal: task.refusal };
  const delivery = await delivered(task, desk);
  if (delivery === null) return { kind: 'undelivered' };
  const { flights } = desk;
  const bytes = delivery.body.length;
  if (!flights.hold(bytes)) {
    return failed('Too many answers wait for their payment. Send it again.');
  }
  try {
    return await charge(task, delivery, desk);
  } finally {
    flights.release(bytes);
  }
}

async function charge(task: Task, delivery: Delivery, desk: Desk): Promise<Outcome> {
  if (!desk.settleOnly) {
    const outcome = await desk.facilitator.verify(task.request);
    if (outcome.verdict === 'none') {
      return failed('The facilitator gave no verdict. Send it again.');
    }
    if (outcome.verdict === 'invalid') {
      return { kind: 'refused', refusal: facilitatorRefusal(outcome.reason) };
    }
  }
  // Another process holds the claim; its outcome will be in the journal.
  if (!(await desk.journal.claim(claimOf(task, delivery)))) return { kind: 'unknown' };
  return await settle(task, delivery, desk);
}

async function delivered(task: Task, desk: Desk): Promise<Delivery | null> {
  try {
    return await task.deliver();
  } catch (error) {
    desk.report(error);
    return null;
  }
}

function claimOf(task: Task, { body, contentType }: Delivery): JournalClaim {
  const { key, resource, signed, payment } = task;
  const { version } = payment;
  const { value } = payment.authorization;
  const validBefore = Number(payment.authorization.validBefore);
  return { key, resource, version, signed, body, contentType, value, validBefore };
}

function failed(error: string): Outcome {
  return { kind: 'failed', error };
}

const ALREADY_USED: Outcome = {
  kind: 'refused',
  refusal: {
    reason: 'payment_already_used',
    error:
      'this authorization was used for another request or with another signature; sign a new one',
  },
};
const NO_LONGER_KEPT: Outcome = {
  kind: 'refused',
  refusal: {
    reason: 'paid_answer_no_longer_kept',
    error: 'this authorization bought an answer that is no longer kept; sign a new one',
  },
};
