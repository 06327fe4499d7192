import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import { headerFacts } from '../../../gatekeeper/http/header-facts.ts';
import type { SettleOutcome } from '../../../gatekeeper/money/facilitator.ts';
import type { Journal } from '../../../gatekeeper/money/journal.ts';
import { isRepeat, purchaseService } from '../../../gatekeeper/purchase/purchase-service.ts';
import { headerOf, NOW_MS } from '../payer.ts';
import {
  alice,
  buy,
  freshJournal,
  HERE,
  PAY_TO,
  settled,
  shop,
  TARGET,
  tick,
  v1,
  v2,
} from '../payment-bench.ts';

/** Purchases that take one payment, whose facilitator says what it is told to. */
async function oneBuyer(journal: Journal = freshJournal()) {
  const script: { settle: () => Promise<SettleOutcome> } = { settle: settled };
  const purchases = purchaseService({
    journal,
    challenger: shop,
    clock: () => NOW_MS,
    facilitator: {
      verify: async () => ({ verdict: 'valid' }),
      settle: () => script.settle(),
      supported: async () => ({ verdict: 'none', detail: '' }),
    },
  });
  const signed = await alice.sign(PAY_TO, '10000');
  const header = headerOf(v1, signed);
  const deliver = async () => ({ body: Buffer.from('{}'), contentType: 'application/json' });
  const asks = (
    change: { method?: string; target?: string; client?: string } = {},
    ...headers: string[]
  ) => {
    const facts = headerFacts(headers.length > 0 ? headers : ['X-PAYMENT', header]);
    const { client = HERE, ...other } = change;
    const arrival = { address: HERE, method: 'GET', target: TARGET, facts, ...other };
    return isRepeat(arrival, client, purchases, BUILTIN);
  };
  return {
    script,
    signed,
    header,
    asks,
    pay: (target = TARGET) => buy(purchases, { target, header, deliver }),
  };
}

describe('isRepeat()', () => {
  it('I46: isRepeat() is true of what was paid, in any spelling, and of nothing before it was paid', async () => {
    const { asks, pay, signed } = await oneBuyer();
    expect(asks()).toBe(false);
    expect((await pay()).status).toBe(200);
    expect(asks()).toBe(true);
    const other = '/gauge?signal_id=airquality.aqi&entity=us-denver&days=&unknown=1';
    expect(asks({ target: other })).toBe(true);
    expect(asks({}, 'PAYMENT-SIGNATURE', headerOf(v2, signed))).toBe(true);
  });

  it('I46: isRepeat() is false of another request, another method, no payment and two of them', async () => {
    const { asks, pay, header } = await oneBuyer();
    await pay();
    for (const target of [
      '/gauge/sample',
      '/gauge',
      '/gauge?entity=x&signal_id=y',
      '/no',
      '*',
      '',
    ]) {
      expect([target, asks({ target })]).toEqual([target, false]);
    }
    for (const method of ['HEAD', 'POST', 'OPTIONS']) expect(asks({ method })).toBe(false);
    expect(asks({}, 'Host', 'gate')).toBe(false);
    expect(asks({}, 'X-RECEIPT', header)).toBe(false);
    expect(asks({}, 'X-PAYMENT', header, 'X-PAYMENT', header)).toBe(false);
    expect(asks({}, 'X-PAYMENT', header, 'PAYMENT-SIGNATURE', header)).toBe(false);
  });

  it('I46: isRepeat() is false of a known nonce under another signature or other terms', async () => {
    const { asks, pay, signed } = await oneBuyer();
    await pay();
    const { authorization, signature } = signed;
    const garbage = { authorization, signature: `0x${'11'.repeat(64)}1b` } as const;
    const dearer = { authorization: { ...authorization, value: '10001' }, signature };
    for (const forged of [garbage, dearer]) {
      expect(asks({}, 'X-PAYMENT', headerOf(v1, forged))).toBe(false);
    }
  });

  it('I46: isRepeat() is true while a payment is in flight or in doubt, and false of a refused one', async () => {
    const { asks, pay, script } = await oneBuyer();
    const landing: ((outcome: SettleOutcome) => void)[] = [];
    script.settle = () => new Promise((resolve) => landing.push(resolve));
    const paying = pay();
    while (landing.length === 0) await tick(1);
    expect(asks()).toBe(true);
    landing[0]?.({ verdict: 'none', detail: 'timeout' });
    expect((await paying).status).toBe(503);
    expect(asks()).toBe(true);
    const poor = await oneBuyer();
    poor.script.settle = async () => ({ verdict: 'refused', reason: 'insufficient_funds' });
    expect((await poor.pay()).status).toBe(402);
    expect(poor.asks()).toBe(false);
  });

  it('I46: isRepeat() is true of what was paid while the same payment is sent for another request', async () => {
    const inner = freshJournal();
    const { asks, pay } = await oneBuyer({
      ...inner,
      find: (key) => tick(5).then(() => inner.find(key)),
    });
    expect((await pay()).status).toBe(200);
    const other = '/gauge?entity=us-boise&signal_id=airquality.aqi';
    const elsewhere = pay(other);
    await tick(1);
    expect(asks()).toBe(true);
    expect(asks({ target: other })).toBe(false);
    expect((await elsewhere).status).toBe(402);
  });

  it('isRepeat() is false where the journal cannot be read', async () => {
    const inner = freshJournal();
    let isBroken = false;
    const bindingOf: Journal['bindingOf'] = (key) => {
      if (isBroken) throw new Error('disk');
      return inner.bindingOf(key);
    };
    const { asks, pay } = await oneBuyer({ ...inner, bindingOf });
    expect((await pay()).status).toBe(200);
    expect(asks()).toBe(true);
    isBroken = true;
    expect(asks()).toBe(false);
    // It may be paid already, so nobody is told that it is not.
    expect((await pay()).status).toBe(503);
  });
});
