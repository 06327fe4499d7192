import type { PaymentEvidence } from '../../gatekeeper/heart/payment/settlement.ts';
import type { ChainHead, ChainVerdict } from '../../gatekeeper/settle/evidence.ts';

/** The newest block when something is claimed. */
export const CLAIMED: ChainHead = '100:0xaa';

/** A transfer, in a block after it where none is given. */
export const paidIn = (transaction: string, block = 101n) =>
  ({ state: 'paid', transaction, block }) satisfies ChainVerdict;

/** A node that answers, and says this of payments. */
export const saying = (find: PaymentEvidence['find']): PaymentEvidence => ({
  find,
  head: async () => CLAIMED,
  watch: async () => ({ state: 'open' }),
});
