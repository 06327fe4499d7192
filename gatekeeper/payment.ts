import { createHash } from 'node:crypto';
import type { Challenger } from './challenge.ts';
import { facilitatorRequest } from './facilitator.ts';
import type { Journal } from './journal.ts';
import type { Network } from './networks.ts';
import { checkPayment, checkSignature, type Terms } from './payment-check.ts';
import { decodePayment, isRefusal, type Payment, type Refusal } from './payment-header.ts';
import {
  type Asked,
  type Delivery,
  failedReply,
  type Outcome,
  paymentReply,
  refusalReply,
} from './payment-reply.ts';
import type { Reply } from './reply.ts';
import { type Claim, facilitatorRefusal, resume, type Settlers, settle } from './settlement.ts';

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
  /** Told about failures of our own parts, for the log; it gets no payment data. */
  readonly report?: (error: unknown) => void;
}

/** Takes payments; one journal belongs to one desk. */
export interface PaymentDesk {
  pay(order: Order): Promise<Reply>;
}

/** Payments that may be in flight at once; the next one is told to come again. */
export const PAYMENTS_IN_FLIGHT_MAX = 10_000;

/** One payment on its way: everything is decided from these, never from header bytes. */
interface Task extends Claim {
  readonly resource: string;
  readonly digest: string;
  /** Why a payment that the journal does not know is refused; null when nothing speaks against it. */
  readonly refusal: Refusal | null;
  readonly deliver: Order['deliver'];
}
interface Binding {
  readonly resource: string;
  readonly digest: string;
}
type Flights = Map<string, Binding & { readonly outcome: Promise<Outcome> }>;

/** The one way from a payment header to a reply, for both versions. */
export function paymentDesk(options: PaymentDeskOptions): PaymentDesk {
  const { challenger, clock } = options;
  const flights: Flights = new Map();
  const settlers: Settlers = { ...options, report: quiet(options.report) };
  return {
    async pay(order) {
      try {
        // No await before board(): the key is bound before any other request can run.
        const task = taskOf(order, challenger, clock());
        if (isRefusal(task)) return refusalReply(task, order, challenger);
        return paymentReply(await board(flights, task, settlers), order, challenger);
      } catch (error) {
        settlers.report(error);
        return failedReply('The payment could not be looked at. Send it again.');
      }
    },
  };
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

function taskOf(order: Order, challenger: Challenger, nowMs: number): Task | Refusal {
  const payment = decodePayment(order.header, order.version);
  if (isRefusal(payment)) return payment;
  const { network } = challenger;
  const requirements = challenger.requirements(order.endpoint, order.target, order.version);
  const terms: Terms = { network, requirements };
  const refusal = checkPayment(payment, terms, nowMs / 1000);
  if (refusal !== null && !mayBeKnown(payment, terms)) return refusal;
  return {
    key: paymentKey(payment, network),
    resource: `${order.method} ${order.target}`,
    digest: paymentDigest(payment),
    payment,
    request: facilitatorRequest(payment, requirements),
    refusal,
    deliver: order.deliver,
  };
}

/** What is settled is delivered again after its window closed and its price changed; only a true signature gets to ask. */
function mayBeKnown(payment: Payment, { network, requirements }: Terms): boolean {
  return payment.network === requirements.network && checkSignature(payment, network) === null;
}

/** What the token itself allows once: never the bytes of the header, which have many spellings. */
export function paymentKey(payment: Payment, network: Network): string {
  const { from, nonce } = payment.authorization;
  return `${network.name}|${network.asset}|${from}|${nonce}`.toLowerCase();
}

function paymentDigest({ authorization, signature }: Payment): string {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const fields = [from, to, value, validAfter, validBefore, nonce, signature];
  return createHash('sha256').update(fields.join('|').toLowerCase()).digest('hex');
}

/** Copies of a payment in flight share its outcome; anything else under its key is refused. */
function board(flights: Flights, task: Task, by: Settlers): Promise<Outcome> {
  const flight = flights.get(task.key);
  if (flight !== undefined) {
    return isSame(flight, task) ? flight.outcome : Promise.resolve(ALREADY_USED);
  }
  if (flights.size >= PAYMENTS_IN_FLIGHT_MAX) {
    return Promise.resolve(failed('Too many payments at once. Send it again.'));
  }
  const outcome = carry(task, by)
    .catch((error: unknown) => {
      by.report(error);
      return failed('The payment could not be recorded. Send it again.');
    })
    .finally(() => flights.delete(task.key));
  flights.set(task.key, { resource: task.resource, digest: task.digest, outcome });
  return outcome;
}

function isSame(left: Binding, right: Binding): boolean {
  return left.resource === right.resource && left.digest === right.digest;
}

/** Throws only while no settlement was asked for. */
async function carry(task: Task, by: Settlers): Promise<Outcome> {
  const known = await by.journal.find(task.key);
  if (known === null || known.state === 'refused') return sell(task, by);
  if (!isSame(known, task)) return ALREADY_USED;
  if (known.state !== 'settled' || known.transaction === null) return resume(task, known, by);
  const { body, contentType, transaction } = known;
  const payer = task.payment.authorization.from;
  return { kind: 'paid', delivery: { body, contentType }, transaction, payer };
}

/** The answer is in hand before verify, the claim is durable before settle, the settlement is noted before the 200. */
async function sell(task: Task, by: Settlers): Promise<Outcome> {
  if (task.refusal !== null) return { kind: 'refused', refusal: task.refusal };
  const delivery = await delivered(task, by);
  if (delivery === null) return failed('The answer could not be read. Ask again.');
  const outcome = await by.facilitator.verify(task.request);
  if (outcome.verdict === 'none') return failed('The facilitator gave no verdict. Send it again.');
  if (outcome.verdict === 'invalid') {
    return { kind: 'refused', refusal: facilitatorRefusal(outcome.reason) };
  }
  // Another process holds the claim; its outcome will be in the journal.
  if (!(await by.journal.claim(claimOf(task, delivery)))) return { kind: 'unknown' };
  return settle(task, delivery, by);
}

async function delivered(task: Task, by: Settlers): Promise<Delivery | null> {
  try {
    return await task.deliver();
  } catch (error) {
    by.report(error);
    return null;
  }
}

function claimOf(task: Task, { body, contentType }: Delivery): Parameters<Journal['claim']>[0] {
  const { key, resource, digest, payment } = task;
  const { value } = payment.authorization;
  const validBefore = Math.min(Number(payment.authorization.validBefore), Number.MAX_SAFE_INTEGER);
  return { key, resource, digest, body, contentType, value, validBefore };
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
