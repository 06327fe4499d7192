import type { OutsideTime } from '../../settle/clock-guard.ts';
import {
  blockNumberOf,
  type ChainHead,
  type ChainVerdict,
  type WatchedTransfer,
} from '../../settle/evidence.ts';
import {
  ABANDONED,
  type Facilitator,
  type FacilitatorRequest,
  isAwaited,
  type NoVerdict,
  type SettleOutcome,
} from '../../settle/facilitator.ts';
import { DEAD_AFTER_S, type Journal, type JournalEntry } from '../../settle/journal.ts';
import type { Payment, Refusal } from '../../settle/payment.ts';
import type { AdmittedEnd, PayerAdmission, SmartAccounts } from './payer-admission.ts';
import { facilitatorRefusal, isDefinite, NOT_SIGNED, speaksOfUse } from './payment-check.ts';
import type { CheckResult, SettlementResult, TenderSettlement } from './tender.ts';

export interface SettlementContext {
  readonly journal: Pick<Journal, 'takeTransaction'>;
  readonly facilitator: Facilitator;
  readonly clock: () => number;
  /** Asks `/verify` before the claim; without it the facilitator checks when it settles. */
  readonly verifyFirst?: boolean;
  /** Bounds what accounts with code may cost, where `verify` can ask them whether they signed; else none can pay. */
  readonly accounts?: SmartAccounts;
  /** Asked before a new payment costs anything; absent where payments are simulated. */
  readonly admission?: PayerAdmission;
  /** What the chain says, if the operator configured a node. */
  readonly evidence?: PaymentEvidence;
  /** The time as something outside tells it; absent where no money moves. */
  readonly outside?: OutsideTime;
  /** Told about failures of our own parts; must not throw. */
  readonly report: (error: unknown, requestId?: string) => void;
}

/** Whose chain is asked about a payment. */
type PaymentPlace = Pick<Payment, 'network'> & { readonly asset: string };

/** What the chain of each payment says; no question throws. */
export interface PaymentEvidence {
  /** See ChainEvidence; a transfer that is not deep enough yet is unknown. */
  find(payment: Payment & PaymentPlace, after: ChainHead | undefined): Promise<ChainVerdict>;
  head(payment: PaymentPlace): Promise<ChainHead | null>;
  watch(payment: Payment & PaymentPlace, transaction: string): Promise<WatchedTransfer>;
}

/** A payment with the one request that both calls of the facilitator send. */
interface DuePayment {
  readonly key: string;
  readonly payment: Payment;
  readonly request: FacilitatorRequest;
  /** Whether the payer's own key signed; else its code may have. */
  readonly isSignedByKey: () => boolean;
}

export class PaymentSettlement implements TenderSettlement {
  readonly #due: DuePayment;
  readonly #by: SettlementContext;
  /** Whether it was admitted, and nobody was asked for its money yet. */
  #isAdmitted = false;
  #isVerified = false;

  constructor(due: DuePayment, by: SettlementContext) {
    this.#due = due;
    this.#by = by;
  }

  /** Whether the payer may cost anything, then `/verify`, always for an account with code; null if the payment is valid. */
  async check(): Promise<CheckResult | null> {
    const { verifyFirst = false, accounts, admission } = this.#by;
    if (this.#due.isSignedByKey()) {
      const result = await this.#admitted(() => this.#verified(true));
      return result === null && verifyFirst && !this.#isVerified ? this.#verified() : result;
    }
    if (accounts === undefined) return refused(NOT_SIGNED);
    const { key, payment, request } = this.#due;
    const hasPaid = async (): Promise<boolean> => (await admission?.hasPaid(key)) ?? false;
    const due = { key, payment, client: clientOf(request), hasPaid };
    const ask = (): Promise<CheckResult | null> => accounts.check(due, () => this.#verified());
    return admission === undefined ? ask() : this.#admitted(ask);
  }

  async #admitted(verify: () => Promise<CheckResult | null>): Promise<CheckResult | null> {
    const { admission } = this.#by;
    if (admission === undefined) return null;
    const { key, payment, request, isSignedByKey } = this.#due;
    const { asset } = request.paymentRequirements;
    const due = { key, payment, asset, client: clientOf(request), isByKey: isSignedByKey() };
    const result = await admission.admit(due, verify);
    this.#isAdmitted = result === null;
    return result;
  }

  drop(): void {
    if (this.#isAdmitted) this.#by.admission?.ended(this.#due.key, 'dropped');
    this.#isAdmitted = false;
  }

  async #verified(isStranger = false): Promise<CheckResult | null> {
    const { request } = this.#due;
    this.#isVerified = true;
    const asked = isStranger ? { ...request, isStranger } : request;
    const outcome = await this.#by.facilitator.verify(asked);
    if (outcome.verdict === 'valid') return null;
    if (outcome.verdict === 'invalid') return refused(facilitatorRefusal(outcome.reason));
    const { retryMs } = outcome;
    const later = retryMs === undefined ? {} : { retryS: Math.max(1, Math.ceil(retryMs / 1000)) };
    return { kind: 'held', error: NO_VERDICT, ...later };
  }

  async head(): Promise<ChainHead | 'none' | null> {
    const { evidence, outside, facilitator } = this.#by;
    if (evidence !== undefined) return evidence.head(this.#place());
    // The answer tells the time anew; whatever it says moves no money.
    if (outside?.fault() != null) await facilitator.verify(this.#due.request);
    return 'none';
  }

  async settle(claimed: ChainHead | undefined): Promise<SettlementResult> {
    this.#isAdmitted = false;
    const outcome = await this.#askToSettle(true);
    const result = await this.#resultOf(outcome, claimed);
    this.#ended(result.kind);
    const isProven = outcome.verdict === 'refused' && outcome.isProven === true;
    this.#noteAccount(result.kind === 'unknown' || isProven ? 'failed' : result.kind);
    return result;
  }

  async #resultOf(
    outcome: SettleOutcome,
    claimed: ChainHead | undefined,
  ): Promise<SettlementResult> {
    if (outcome.verdict === 'settled') return this.#settled(outcome, claimed);
    if (outcome.verdict === 'refused' && isDefinite(outcome)) {
      return refused(facilitatorRefusal(outcome.reason));
    }
    if (outcome.verdict === 'none' && outcome.unsent === true) {
      const { detail, declined } = outcome;
      return declined === true ? refused(notSent(detail)) : { kind: 'unsent', detail };
    }
    const proof = resultOf(await this.#evidence(claimed));
    if (proof !== null) return proof;
    if (outcome.verdict === 'none') return unknown(outcome.detail);
    const isUsedBefore = this.#by.evidence === undefined && speaksOfUse(outcome.reason);
    return unknown(isUsedBefore ? `${USED_BEFORE}: ${outcome.reason}` : outcome.reason);
  }

  /** A transfer that is not later than the claim paid for something else. */
  async #settled(
    { transaction, block }: Extract<SettleOutcome, { verdict: 'settled' }>,
    claimed: ChainHead | undefined,
  ): Promise<SettlementResult> {
    const mayBeOlder =
      block !== undefined && claimed !== undefined && block <= blockNumberOf(claimed);
    if (!mayBeOlder) return { kind: 'settled', transaction };
    return resultOf(await this.#evidence(claimed)) ?? unknown('the chain node gave no answer');
  }

  /**
   * The chain is asked first, and money is asked for again only where it shows the authorization unused. That is safe,
   * because the token takes each nonce once. A refusal of this second call says nothing of the first one, which may still
   * run at a facilitator, asked by a gatekeeper that was killed. So no refusal closes the payment. It ends when the chain shows the nonce used, when the chain shows a dead authorization
   * unused, or, where nobody can ask the chain, once the authorization is dead, since nothing better can ever be learnt.
   */
  async resume(entry: ClaimedEntry): Promise<SettlementResult> {
    const result = await this.#resumed(entry);
    this.#ended(result.kind);
    this.#noteAccount(result.kind);
    return result;
  }

  async #resumed(entry: ClaimedEntry): Promise<SettlementResult> {
    const evidence = await this.#evidence(entry.claimBlock);
    const before = this.#endBy(evidence, true);
    const mayAsk = this.#by.evidence === undefined || evidence.state === 'unused';
    if (before.kind !== 'unknown' || !mayAsk) return before;
    const isUnprovable = this.#isDead() && this.#by.evidence === undefined;
    if (this.#by.evidence === undefined && entry.detail?.startsWith(USED_BEFORE) === true)
      return isUnprovable ? refused(EXPIRED_UNPROVEN) : unknown(entry.detail);
    const outcome = await this.#askToSettle(false);
    if (outcome.verdict === 'settled') return this.#settled(outcome, entry.claimBlock);
    if (outcome.verdict === 'none') return unknown(outcome.detail);
    const proof = resultOf(await this.#evidence(entry.claimBlock));
    if (proof !== null) return proof;
    return isUnprovable ? refused(EXPIRED_UNPROVEN) : unknown(outcome.reason);
  }

  /** By the chain alone. Without one, a dead payment stays open until its answer is gone: a repeat may learn better. */
  async look({ claimBlock, body }: ClaimedEntry): Promise<SettlementResult> {
    return this.#endBy(await this.#evidence(claimBlock), body !== null);
  }

  async watch(transaction: string): Promise<WatchedTransfer> {
    const place = { ...this.#due.payment, ...this.#place() };
    return (await this.#by.evidence?.watch(place, transaction)) ?? { state: 'open' };
  }

  #endBy(evidence: ChainVerdict, isKept: boolean): SettlementResult {
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
    if (outcome.verdict !== 'settled' || outcome.block !== undefined) return true;
    if (await this.#by.journal.takeTransaction(this.#due.key, outcome.transaction)) return true;
    this.#report(new Error(`Cannot take a settlement: ${ANOTHERS.detail}; ${HOW_TO_TAKE_IT}`));
    return false;
  }

  #place(): PaymentPlace {
    const { payment, request } = this.#due;
    return { network: payment.network, asset: request.paymentRequirements.asset };
  }

  async #evidence(claimed: ChainHead | undefined): Promise<ChainVerdict> {
    try {
      const place = { ...this.#due.payment, ...this.#place() };
      return (await this.#by.evidence?.find(place, claimed)) ?? { state: 'unknown' };
    } catch (error) {
      this.#report(error);
      return { state: 'unknown' };
    }
  }

  #ended(end: AdmittedEnd): void {
    this.#by.admission?.ended(this.#due.key, end);
  }

  /** How the payment of an account with code ended, whose check had passed. */
  #noteAccount(end: SettlementResult['kind'] | 'failed'): void {
    const { payment, request, isSignedByKey } = this.#due;
    if (this.#by.accounts === undefined || isSignedByKey()) return;
    if (end === 'failed') this.#by.accounts.failed(payment);
    if (end === 'settled') this.#by.accounts.settled(payment, clientOf(request));
  }

  #isDead(): boolean {
    const { validBefore } = this.#due.payment.authorization;
    const { clock, outside } = this.#by;
    const nowMs = outside?.earliestMs() ?? clock();
    return nowMs / 1000 > Number(validBefore) + DEAD_AFTER_S;
  }

  #report(error: unknown): void {
    this.#by.report(error, this.#due.request.trace?.id);
  }
}

function resultOf(evidence: ChainVerdict): SettlementResult | null {
  if (evidence.state === 'paid') return { kind: 'settled', transaction: evidence.transaction };
  if (evidence.state === 'older') return refused(ALREADY_USED);
  return evidence.state === 'cancelled' ? refused(CANCELLED) : null;
}

/** What is known of a claim when its money is asked about again. */
type ClaimedEntry = Pick<JournalEntry, 'claimBlock' | 'detail' | 'body'>;

/** Begins the detail of a doubt that was called used at first: without a node, a later success is that of an older use. */
const USED_BEFORE = 'authorization_already_used';

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

function clientOf({ trace }: FacilitatorRequest): string {
  return trace?.client ?? '';
}

const NO_VERDICT =
  'The facilitator did not say whether the payment is valid. Send the same payment again.';
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
const ALREADY_USED: Refusal = {
  reason: USED_BEFORE,
  error:
    'the chain shows that the authorization was used before it came here, so it pays for nothing here; nothing was charged now; sign a new one',
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
