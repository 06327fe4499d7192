import type { ChainVerdict } from '../money/evidence.ts';
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
import { NOT_SIGNED } from './payment-check.ts';
import type { SmartAccounts } from './smart-accounts.ts';
import type { CheckResult, SettlementResult, TenderSettlement } from './tender.ts';

/** What a settlement needs. */
export interface SettlementContext {
  readonly journal: Pick<Journal, 'takeTransaction'>;
  readonly facilitator: Facilitator;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Asks `/verify` before the claim; without it the facilitator checks when it settles. */
  readonly verifyFirst?: boolean;
  /** Bounds what accounts with code may cost, where `verify` can ask them whether they signed; else none can pay. */
  readonly accounts?: SmartAccounts;
  /** Asks the chain, if the operator configured a node. */
  readonly evidence?: (payment: Payment & { readonly asset: string }) => Promise<ChainVerdict>;
  /** Told about failures of our own parts; must not throw. */
  readonly report: (error: unknown, requestId?: string) => void;
}

/** A payment with the one request that both calls of the facilitator send. */
interface DuePayment {
  /** Of the journal. */
  readonly key: string;
  readonly payment: Payment;
  readonly request: FacilitatorRequest;
  /** Whether the payer's own key signed; else its code may have. */
  readonly isSignedByKey: () => boolean;
}

/** Settles one x402 payment. */
export class PaymentSettlement implements TenderSettlement {
  readonly #due: DuePayment;
  readonly #by: SettlementContext;

  constructor(due: DuePayment, by: SettlementContext) {
    this.#due = due;
    this.#by = by;
  }

  /**
   * Asks `/verify`, if it is to be asked; null if the payment is valid. An account with code is always asked about:
   * nobody here can tell whether it signed.
   */
  async check(): Promise<CheckResult | null> {
    const { verifyFirst = false, accounts } = this.#by;
    if (this.#due.isSignedByKey()) return verifyFirst ? this.#verified() : null;
    return accounts === undefined
      ? refused(NOT_SIGNED)
      : accounts.check(this.#due, () => this.#verified());
  }

  async #verified(): Promise<CheckResult | null> {
    const outcome = await this.#by.facilitator.verify(this.#due.request);
    if (outcome.verdict === 'valid') return null;
    if (outcome.verdict === 'none') return { kind: 'unsent', detail: outcome.detail };
    return refused(facilitatorRefusal(outcome.reason));
  }

  async settle(): Promise<SettlementResult> {
    const outcome = await this.#askToSettle(true);
    const result = await this.#resultOf(outcome);
    const isProven = outcome.verdict === 'refused' && outcome.isProven === true;
    this.#noteAccount(result.kind === 'unknown' || isProven ? 'failed' : result.kind);
    return result;
  }

  async #resultOf(outcome: SettleOutcome): Promise<SettlementResult> {
    if (outcome.verdict === 'settled') return { kind: 'settled', transaction: outcome.transaction };
    if (outcome.verdict === 'refused' && isDefinite(outcome)) {
      return refused(facilitatorRefusal(outcome.reason));
    }
    if (outcome.verdict === 'none' && outcome.unsent === true) {
      const { detail, declined } = outcome;
      return declined === true ? refused(notSent(detail)) : { kind: 'unsent', detail };
    }
    const proof = resultOf(await this.#evidence());
    if (proof !== null) return proof;
    return unknown(outcome.verdict === 'refused' ? outcome.reason : outcome.detail);
  }

  /**
   * The chain is asked first. Settling again is safe, because the token takes each nonce once. A refusal of this second
   * call says nothing of the first one, which may still run at a facilitator, asked by a gatekeeper that was killed. So no
   * refusal closes the payment. It ends when the chain shows the nonce used, when the chain shows a dead authorization
   * unused, or, where nobody can ask the chain, once the authorization is dead, since nothing better can ever be learnt.
   */
  async resume(): Promise<SettlementResult> {
    const result = await this.#resumed();
    this.#noteAccount(result.kind);
    return result;
  }

  async #resumed(): Promise<SettlementResult> {
    const before = await this.look(true);
    if (before.kind !== 'unknown') return before;
    const outcome = await this.#askToSettle(false);
    if (outcome.verdict === 'settled') return { kind: 'settled', transaction: outcome.transaction };
    if (outcome.verdict === 'none') return unknown(outcome.detail);
    const proof = resultOf(await this.#evidence());
    if (proof !== null) return proof;
    const isUnprovable = this.#isDead() && this.#by.evidence === undefined;
    return isUnprovable ? refused(EXPIRED_UNPROVEN) : unknown(outcome.reason);
  }

  /**
   * By the chain alone. Where nobody can ask the chain, a dead payment is closed once its answer is gone too: until then
   * the buyer's own repeat may still learn better.
   */
  async look(isKept: boolean): Promise<SettlementResult> {
    const evidence = await this.#evidence();
    const proof = resultOf(evidence);
    if (proof !== null) return proof;
    if (evidence.state === 'unused' && this.#isDead()) return refused(EXPIRED);
    const isLost = this.#by.evidence === undefined && this.#isDead() && !isKept;
    return isLost ? refused(EXPIRED_UNPROVEN) : unknown('the chain does not show it');
  }

  async #askToSettle(isFirst: boolean): Promise<SettleOutcome> {
    const { request } = this.#due;
    if (!isAwaited(request)) return ABANDONED;
    try {
      const outcome = await this.#by.facilitator.settle(request, isFirst);
      return (await this.#isOurs(outcome)) ? outcome : ANOTHERS;
    } catch (error) {
      this.#report(error);
      return { verdict: 'none', detail: 'the call failed' };
    }
  }

  /** A transaction recorded for another payment does not prove this one, unless the chain shows this one in it. */
  async #isOurs(outcome: SettleOutcome): Promise<boolean> {
    if (outcome.verdict !== 'settled' || outcome.isProven === true) return true;
    if (await this.#by.journal.takeTransaction(this.#due.key, outcome.transaction)) return true;
    this.#report(new Error(`Cannot take a settlement: ${ANOTHERS.detail}; ${HOW_TO_TAKE_IT}`));
    return false;
  }

  async #evidence(): Promise<ChainVerdict> {
    try {
      const { payment, request } = this.#due;
      const { asset } = request.paymentRequirements;
      return (await this.#by.evidence?.({ ...payment, asset })) ?? { state: 'unknown' };
    } catch (error) {
      this.#report(error);
      return { state: 'unknown' };
    }
  }

  /** How the payment of an account with code ended, whose check had passed. */
  #noteAccount(end: SettlementResult['kind'] | 'failed'): void {
    const { payment, isSignedByKey } = this.#due;
    if (this.#by.accounts === undefined || isSignedByKey()) return;
    if (end === 'failed') this.#by.accounts.failed(payment);
    if (end === 'settled') this.#by.accounts.settled(payment);
  }

  #isDead(): boolean {
    const { validBefore } = this.#due.payment.authorization;
    return this.#by.clock() / 1000 > Number(validBefore) + DEAD_AFTER_S;
  }

  /** Under the name of the request. */
  #report(error: unknown): void {
    this.#by.report(error, this.#due.request.trace?.id);
  }
}

function resultOf(evidence: ChainVerdict): SettlementResult | null {
  if (evidence.state === 'paid') return { kind: 'settled', transaction: evidence.transaction };
  return evidence.state === 'cancelled' ? refused(CANCELLED) : null;
}

function refused(refusal: Refusal): Extract<CheckResult, { kind: 'refused' }> {
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
