import type { PayingFetch } from '../../compiler/client/payment-trip.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../gatekeeper/settle/payment.ts';
import { NOW_MS, payer, windowAt } from '../gatekeeper/payer.ts';

/** A wallet as the published wrappers are: asks, signs what is asked for, sends it with the payment. */
export function payingAt(clock: () => number): PayingFetch {
  return (inner) => async (input, init) => {
    const asked = await inner(input, init);
    if (asked.status !== 402) return asked;
    const { accepts } = (await asked.json()) as { accepts: [RequirementsV1] };
    const header = await payer(NETWORKS['base-sepolia']).header(accepts[0], windowAt(clock()));
    return inner(input, { ...init, headers: { 'X-PAYMENT': header } });
  };
}

export const payingFetch = payingAt(() => NOW_MS);
