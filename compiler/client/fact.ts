import { defined } from '../format/errors.ts';
import type { ParamName } from '../products/products.ts';
import { type Fact, factOf } from '../products/shapes/fact.ts';
import type { PurchasedBody } from './client-error.ts';
import type { SignalpressClient } from './signalpress-client.ts';

/** What a model is shown of a purchase, and what it rests on. */
export interface BoughtFact {
  readonly fact: Fact;
  /** What the payment moved, decimal. */
  readonly paidUsd: string;
  readonly verdict: 'verified';
  /** The signed body: save its `text`, and its `payment` to get it again. */
  readonly purchase: PurchasedBody;
}

/**
 * Buys the signed record, verifies it, and makes its fact here: a fact that the service makes is signed by nobody. A payment
 * that was kept is for the record: `redeliver` gets that again.
 */
export async function buyFact(
  client: Pick<SignalpressClient, 'buy'>,
  params: Readonly<Partial<Record<Exclude<ParamName<'/gauge'>, 'dim' | 'format'>, string>>>,
  call?: { readonly maxUsd?: string },
): Promise<BoughtFact> {
  const purchase = await client.buy('/gauge', params, call);
  const { paidUsd } = purchase;
  const fact = defined(factOf(purchase.body, paidUsd), 'the fact of a record that was judged');
  return { fact, paidUsd, verdict: 'verified', purchase };
}
