import type {
  Facilitator,
  FacilitatorRequest,
  NoVerdict,
  SettleOutcome,
} from '../facilitator/facilitator.ts';
import { type Conclusion, DEAD_AFTER_S, type Journal } from '../journal/journal.ts';
import { isDefinite } from './definite-refusal.ts';
import { facilitatorRefusal } from './facilitator-refusal.ts';
import type { Payment, Refusal } from './payment-header.ts';
import type { Delivery, Outcome } from './payment-reply.ts';

/** What the chain itself says about an authorization. */
export type Evidence =
  | { readonly state: 'paid'; readonly transaction: string }
  | { readonly state: 'cancelled' | 'unused' | 'unknown' };

/** Whom a settlement is asked from and noted with. */
export interface Settlers {
  readonly journal: Journal;
  readonly facilitator: Facilitator;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Asks the chain, where the operator gave a way to. */
  readonly evidence?: (payment: Payment) => Promise<Evidence>;
  /** Told about failures of our own parts; must not throw. */
  readonly report: (error: unknown) => void;
}

/** A payment under its journal key, with the one request that both calls send. */
export interface Claim {
  readonly key: string;
  readonly payment: Payment;
  readonly request: FacilitatorRequest;
}

/** The first settlement of a claim that is durably `settling`; never throws. */
export async function settle(claim: Claim, delivery: Delivery, by: Settlers): Promise<Outcome> {
  const outcome = await askToSettle(claim, by, true);
  if (outcome.verdict === 'settled')
    return await booked(claim, delivery, { transaction: outcome.transaction, by });
  if (outcome.verdict === 'refused' && isDefinite(outcome)) {
    return refuse(claim, facilitatorRefusal(outcome.reason), by);
  }
  const proof = await proven(claim, delivery, by);
  if (proof !== null) return proof;
  const detail = outcome.verdict === 'refused' ? outcome.reason : outcome.detail;
  await note({ key: claim.key, state: 'unknown', detail }, by);
  return { kind: 'unknown' };
}

/** What the journal promised for a payment in doubt. */
export interface Promised {
  readonly delivery: Delivery;
  /** Unix seconds. */
  readonly validBefore: number;
}

/**
 * A payment whose settlement was asked for and whose outcome nobody noted; never throws. The chain is
 * asked first. Settling again is safe, because the token takes each nonce once; a refusal now proves
 * nothing by itself, since the first call may have been the one that succeeded. The payment is closed as
 * not paid when the chain says that the nonce is unused, or, where nobody can ask the chain, once the
 * token can no longer take the authorization, since nothing better can ever be learnt.
 */
export async function resume(claim: Claim, promised: Promised, by: Settlers): Promise<Outcome> {
  const { delivery, validBefore } = promised;
  const isDead = by.clock() / 1000 > validBefore + DEAD_AFTER_S;
  const before = await evidenceOf(claim, by);
  const proof = await outcomeOf(before, { claim, delivery, by });
  if (proof !== null) return proof;
  if (before.state === 'unused' && isDead) return refuse(claim, EXPIRED, by);
  const outcome = await askToSettle(claim, by, false);
  if (outcome.verdict === 'settled')
    return booked(claim, delivery, { transaction: outcome.transaction, by });
  if (outcome.verdict === 'none') return { kind: 'unknown' };
  const after = await evidenceOf(claim, by);
  const late = await outcomeOf(after, { claim, delivery, by });
  if (late !== null) return late;
  if (after.state === 'unused' && isDefinite(outcome)) {
    return refuse(claim, facilitatorRefusal(outcome.reason), by);
  }
  const isUnprovable = isDead && by.evidence === undefined;
  return isUnprovable ? refuse(claim, EXPIRED_UNPROVEN, by) : { kind: 'unknown' };
}

async function askToSettle(claim: Claim, by: Settlers, isFirst: boolean): Promise<SettleOutcome> {
  try {
    const outcome = await by.facilitator.settle(claim.request, isFirst);
    return (await isOurs(outcome, claim, by)) ? outcome : ANOTHERS;
  } catch (error) {
    by.report(error);
    return { verdict: 'none', detail: 'the call failed' };
  }
}

/** A transaction that stands for another payment is no evidence for this one, unless the chain shows this one in it. */
async function isOurs(outcome: SettleOutcome, { key }: Claim, by: Settlers): Promise<boolean> {
  if (outcome.verdict !== 'settled' || outcome.isProven === true) return true;
  if (await by.journal.takeTransaction(key, outcome.transaction)) return true;
  by.report(new Error(`Cannot take a settlement: ${ANOTHERS.detail}; ask its operator`));
  return false;
}

async function proven(claim: Claim, delivery: Delivery, by: Settlers): Promise<Outcome | null> {
  return outcomeOf(await evidenceOf(claim, by), { claim, delivery, by });
}

async function evidenceOf(claim: Claim, by: Settlers): Promise<Evidence> {
  try {
    return (await by.evidence?.(claim.payment)) ?? { state: 'unknown' };
  } catch (error) {
    by.report(error);
    return { state: 'unknown' };
  }
}

async function outcomeOf(
  evidence: Evidence,
  { claim, delivery, by }: { claim: Claim; delivery: Delivery; by: Settlers },
): Promise<Outcome | null> {
  if (evidence.state === 'paid')
    return booked(claim, delivery, { transaction: evidence.transaction, by });
  return evidence.state === 'cancelled' ? refuse(claim, CANCELLED, by) : null;
}

async function booked(
  claim: Claim,
  { body, contentType }: Delivery,
  { transaction, by }: { transaction: string; by: Settlers },
): Promise<Outcome> {
  await note({ key: claim.key, state: 'settled', transaction }, by);
  const payer = claim.payment.authorization.from;
  return { kind: 'paid', delivery: { body, contentType }, transaction, payer };
}

async function refuse(claim: Claim, refusal: Refusal, by: Settlers): Promise<Outcome> {
  await note({ key: claim.key, state: 'refused', detail: refusal.reason }, by);
  return { kind: 'refused', refusal };
}

/** The money has moved or was refused; a row that stays open only means that a repeat asks again. */
async function note(conclusion: Conclusion, by: Settlers): Promise<void> {
  try {
    await by.journal.conclude(conclusion);
  } catch (error) {
    by.report(error);
  }
}

const ANOTHERS: NoVerdict = {
  verdict: 'none',
  detail: 'the facilitator names the transaction of another payment',
};
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
    'the authorization expired and no settlement of it is known; look for the transfer in your wallet before you pay again',
};
