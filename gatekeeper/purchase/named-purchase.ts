import { defined } from '../../compiler/contract/defined.ts';
import type { RequestTrace } from '../http/request.ts';
import type { Journal, JournalEntry } from '../money/journal.ts';
import type { CheckResult, Tender, TenderBinding } from '../payment/tender.ts';
import { failed, IDENTIFIER_USED, type PurchaseOutcome, refused } from './purchase-outcome.ts';

interface NamedContext {
  readonly journal: Pick<Journal, 'findOnDisk' | 'identifiedKey'>;
  readonly recall: (entry: JournalEntry, trace?: RequestTrace) => Tender | null;
  /** What is known of a tender without its answer. */
  readonly knownOutcome: (tender: Tender) => Promise<PurchaseOutcome> | null;
}

/**
 * What an earlier payment came to that its payer gave the same name (the x402 extension `payment-identifier`): a new
 * signature for the same request gets the same answer, and its own money is not asked for. Null where the name is new, or
 * where the earlier payment turned out to have moved nothing: then this one is sold.
 *
 * A name counts for the account that signs, so nothing is told before it is known to have signed this payment. Two payments
 * of one name that come at the same time are told apart by the claim: the journal takes one of them.
 */
export async function namedOutcome(
  { tender, trace }: { readonly tender: Tender; readonly trace?: RequestTrace | undefined },
  context: NamedContext,
): Promise<PurchaseOutcome | null> {
  const { identifier, refusal } = tender;
  if (identifier === null || refusal !== null) return null;
  const key = await context.journal.identifiedKey(identifier.text);
  if (key === null) return null;
  if (!identifier.isSignedByKey()) {
    const doubt = ofCheck(await tender.settlement.check());
    tender.settlement.drop();
    if (doubt !== null) return doubt;
  }
  const entry = await context.journal.findOnDisk(key);
  if (entry === null || entry.state === 'refused') return null;
  if (!isSamePurchase(entry, tender)) return IDENTIFIER_USED;
  // The token of the second one is offered, and it is that of the first.
  const first = defined(context.recall(entry, trace), 'the tender of a payment in the journal');
  const outcome = await context.knownOutcome(first);
  if (outcome?.kind !== 'refused') return outcome;
  const isOver = (await context.journal.identifiedKey(identifier.text)) === null;
  return isOver ? null : outcome;
}

/** What a check of the signature says; null where the account signed. */
function ofCheck(checked: CheckResult | null): PurchaseOutcome | null {
  if (checked === null) return null;
  return checked.kind === 'refused'
    ? refused(checked.refusal)
    : failed(checked.error, checked.retryS);
}

/** The same request for the same money, whatever its nonce and its window. */
function isSamePurchase(
  left: Pick<TenderBinding, 'key' | 'resource' | 'signed'>,
  right: Pick<TenderBinding, 'key' | 'resource' | 'signed'>,
): boolean {
  return left.resource === right.resource && moneyOf(left) === moneyOf(right);
}

/** Network, asset, payer, payee and value. */
function moneyOf({ key, signed }: Pick<TenderBinding, 'key' | 'signed'>): string {
  const withoutNonce = key.slice(0, key.lastIndexOf('|'));
  return [withoutNonce, ...signed.split('|').slice(1, 3)].join('|');
}
