import type { Facilitator, SettleOutcome } from '../../gatekeeper/money/facilitator.ts';

export const SETTLED: SettleOutcome = { verdict: 'settled', transaction: `0x${'5e'.repeat(32)}` };
export const DOUBT: SettleOutcome = { verdict: 'none', detail: 'no answer in time' };

/** Settles as it is told. */
export function scripted(outcome: SettleOutcome) {
  const calls: string[] = [];
  const facilitator: Facilitator = {
    verify: async () => ({ verdict: 'valid' }),
    settle: async ({ paymentRequirements }) => {
      calls.push(JSON.stringify(paymentRequirements));
      return outcome;
    },
    supported: async () => ({ verdict: 'none', detail: '' }),
  };
  return { facilitator, calls };
}
