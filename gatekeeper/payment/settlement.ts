import type { Evidence } from '../money/evidence.ts';
import {
  ABANDONED,
  type Facilitator,
  type FacilitatorRequest,
  isAwaited,
  type NoVerdict,
  type SettleOutcome,
} from '../money/facilitator.ts';
import { DEAD_AFTER_S, type Journal } from '../money/journal.ts';
import type { Payment, Refusal } from '../money/payment.ts';
import { facilitatorRefusal, isDefinite } from './facilitator-refusal.ts';

/** What a settlement needs. */
export interface SettlementContext {
  readonly journal: Pick<Journal, 'takeTransaction'>;
  readonly facilitator: Facilitator;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Asks the chain, if the operator configured a node. */
  readonly evidence?: (payment: Payment) => Promise<Evidence>;
  /** Told about failures of our own parts; must not throw. */
  readonly report: (error: unknown, requestId?: string) => void;
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

/** A payment under its journal key, with the one request that both calls send. */
interface DuePayment {
  /** Of the journal. */
  readonly key: string;
  readonly payment: Payment;
  readonly request: FacilitatorRequest;
  /** Unix seconds. */
  readonly validBefore: number;
}

/** Asks `/verify`, which moves no money; null if the payment is valid. */
export async function check(
  { request }: DuePayment,
  { facilitator }: SettlementContext,
): Promise<SettlementResult | null> {
  const outcome = await facilitator.verify(request);
  if (outcome.verdict === 'valid') return null;
  if (outcome.verdict === 'none') return { kind: 'unsent', detail: outcome.detail };
  return refused(facilitatorRefusal(outcome.reason));
}

/** The first settlement of a claim that is durably `settling`; never throws. */
export async function settle(due: DuePayment, by: SettlementContext): Promise<SettlementResult> {
  const outcome = await askToSettle(due, by, true);
  if (outcome.verdict === 'settled') return { kind: 'settled', transaction: outcome.transaction };
  if (outcome.verdict === 'refused' && isDefinite(outcome)) {
    return refused(facilitatorRefusal(outcome.reason));
  }
  if (outcome.verdict === 'none' && outcome.unsent === true) {
    const { detail, declined } = outcome;
    return declined === true ? refused(notSent(detail)) : { kind: 'unsent', detail };
  }
  const proof = resultOf(await evidenceOf(due, by));
  if (proof !== null) return proof;
  return unknown(outcome.verdict === 'refused' ? outcome.reason : outcome.detail);
}

/**
 * The buyer sends a payment again whose settlement was asked for and whose outcome nobody noted; never throws. The chain
 * is asked first. Settling again is safe, because the token takes each nonce once. A refusal of this second call says
 * nothing of the first one, which may still run at a facilitator, asked by a gatekeeper that was killed. So no refusal
 * closes the payment. It ends when the chain shows the nonce used, when the chain shows a dead authorization unused, or,
 * where nobody can ask the chain, once the authorization is dead, since nothing better can ever be learnt.
 */
export async function resume(due: DuePayment, by: SettlementContext): Promise<SettlementResult> {
  const before = await look(due, by);
  if (before.kind !== 'unknown') return before;
  const outcome = await askToSettle(due, by, false);
  if (outcome.verdict === 'settled') return { kind: 'settled', transaction: outcome.transaction };
  if (outcome.verdict === 'none') return unknown(outcome.detail);
  const proof = resultOf(await evidenceOf(due, by));
  if (proof !== null) return proof;
  const isUnprovable = isDead(due, by) && by.evidence === undefined;
  return isUnprovable ? refused(EXPIRED_UNPROVEN) : unknown(outcome.reason);
}

/**
 * What became of a payment, by the chain alone; moves no money and never throws. Where nobody can ask the chain, a dead
 * payment is closed once its answer is gone too: until then the buyer's own repeat may still learn better.
 */
export async function look(
  due: DuePayment,
  by: SettlementContext,
  isKept = true,
): Promise<SettlementResult> {
  const evidence = await evidenceOf(due, by);
  const proof = resultOf(evidence);
  if (proof !== null) return proof;
  if (evidence.state === 'unused' && isDead(due, by)) return refused(EXPIRED);
  const isLost = by.evidence === undefined && isDead(due, by) && !isKept;
  return isLost ? refused(EXPIRED_UNPROVEN) : unknown('the chain does not show it');
}

async function askToSettle(
  due: DuePayment,
  by: SettlementContext,
  isFirst: boolean,
): Promise<SettleOutcome> {
  if (!isAwaited(due.request)) return ABANDONED;
  try {
    const outcome = await by.facilitator.settle(due.request, isFirst);
    return (await isOurs(outcome, due, by)) ? outcome : ANOTHERS;
  } catch (error) {
    by.report(error);
    return { verdict: 'none', detail: 'the call failed' };
  }
}

/** A transaction recorded for another payment does not prove this one, unless the chain shows this one in it. */
async function isOurs(
  outcome: SettleOutcome,
  { key }: DuePayment,
  by: SettlementContext,
): Promise<boolean> {
  if (outcome.verdict !== 'settled' || outcome.isProven === true) return true;
  if (await by.journal.takeTransaction(key, outcome.transaction)) return true;
  by.report(new Error(`Cannot take a settlement: ${ANOTHERS.detail}; ${HOW_TO_TAKE_IT}`));
  return false;
}

async function evidenceOf(due: DuePayment, by: SettlementContext): Promise<Evidence> {
  try {
    return (await by.evidence?.(due.payment)) ?? { state: 'unknown' };
  } catch (error) {
    by.report(error);
    return { state: 'unknown' };
  }
}

function resultOf(evidence: Evidence): SettlementResult | null {
  if (evidence.state === 'paid') return { kind: 'settled', transaction: evidence.transaction };
  return evidence.state === 'cancelled' ? refused(CANCELLED) : null;
}

function isDead({ validBefore }: DuePayment, { clock }: SettlementContext): boolean {
  return clock() / 1000 > validBefore + DEAD_AFTER_S;
}

function refused(refusal: Refusal): SettlementResult {
  return { kind: 'refused', refusal };
}

function unknown(detail: string): SettlementResult {
  return { kind: 'unknown', detail };
}

/** The account of the operator has no gas money, or gas costs too much: no fault of the buyer, and no doubt either. */
function notSent(detail: string): Refusal {
  const error = `the seller's account could not send the transaction (${detail}); nothing was charged; send the same authorization again later`;
  return { reason: 'settlement_not_sent', error };
}

const ANOTHERS: NoVerdict = {
  verdict: 'none',
  detail: 'the facilitator names the transaction of another payment',
};
/** Where one transaction settles several payments, its name proves one of them; only the chain proves the others. */
const HOW_TO_TAKE_IT =
  'if it settles several payments in one transaction, set SIGNALPRESS_RPC_URL to a node that answers; if not, ask its operator';
const CANCELLED: Refusal = {
  reason: 'authorization_cancelled',
  error: 'the authorization was cancelled on chain before it was settled; sign a new one',
};
const EXPIRED: Refusal = {
  reason: 'authorization_expired',
  error: 'the authorization expired and the chain shows that it was never used; sign a new one',
};
const EXPIRED_UNPROVEN: Refusal = {
  reason: 'authorization_expired',
  error:
    'the authorization expired and no settlement of it is known; check your wallet for the transfer before you pay again',
};
