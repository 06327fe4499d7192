import { describe, expect, it } from 'vitest';
import type { Facilitator, SettleOutcome } from '../../gatekeeper/facilitator.ts';
import { NETWORKS } from '../../gatekeeper/networks.ts';
import { payerLimit } from '../../gatekeeper/payer-limit.ts';
import { payer } from './payer.ts';
import { paymentRequest } from './payment-request.ts';

const settled: SettleOutcome = {
  verdict: 'settled',
  transaction: 'tx',
  payer: '0x',
  network: 'base',
};

/** A facilitator whose settlements end when the test says so. */
function held() {
  const open: (() => void)[] = [];
  const facilitator: Facilitator = {
    verify: async () => ({ verdict: 'valid', payer: '0x' }),
    settle: () => new Promise((resolve) => open.push(() => resolve(settled))),
    supported: async () => ({ verdict: 'supported', kinds: [] }),
  };
  return { facilitator, open };
}

const turnOver = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
const bob = payer(NETWORKS.base, 'bob');

describe('payerLimit()', () => {
  it('payerLimit() keeps the settlements of one payer below the limit, and all get their turn', async () => {
    const { facilitator, open } = held();
    const limited = payerLimit(facilitator, { settlements: 2 });
    const requests = await Promise.all([1, 2, 3, 4, 5].map(() => paymentRequest()));
    const outcomes = requests.map((request) => limited.settle(request));
    let ended = 0;
    while (ended < 5) {
      await turnOver();
      expect(open.length - ended).toBe(Math.min(2, 5 - ended));
      open[ended]?.();
      ended += 1;
    }
    expect(await Promise.all(outcomes)).toEqual([1, 2, 3, 4, 5].map(() => settled));
  });

  it('I4: payerLimit() holds up nobody but the payer', async () => {
    const { facilitator, open } = held();
    const limited = payerLimit(facilitator, { settlements: 1 });
    const hung = [await paymentRequest(), await paymentRequest()];
    const mine = hung.map((request) => limited.settle(request));
    const other = limited.settle(await paymentRequest(bob));
    await turnOver();
    expect(open).toHaveLength(2);
    open[1]?.();
    expect(await other).toEqual(settled);
    open[0]?.();
    await turnOver();
    open[2]?.();
    await Promise.all(mine);
  });

  it('payerLimit() has no verdict for what waits too long or has too many before it', async () => {
    const { facilitator } = held();
    const limited = payerLimit(facilitator, { settlements: 1, waiting: 1, turnTimeoutMs: 20 });
    const request = await paymentRequest();
    expect(await limited.verify(request)).toMatchObject({ verdict: 'valid' });
    limited.settle(request).catch(() => {});
    const late = limited.settle(await paymentRequest());
    const beyond = await limited.verify(await paymentRequest());
    expect(beyond).toMatchObject({ verdict: 'none', unsent: true });
    expect(await limited.verify(await paymentRequest(bob))).toMatchObject({ verdict: 'valid' });
    expect(await late).toMatchObject({ verdict: 'none', unsent: true });
  });
});
