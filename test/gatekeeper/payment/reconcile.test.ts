import { describe, expect, it } from 'vitest';
import type { SettleOutcome } from '../../../gatekeeper/facilitator/facilitator.ts';
import { localFacilitator } from '../../../gatekeeper/facilitator/local-facilitator.ts';
import { challenger } from '../../../gatekeeper/offer/challenge.ts';
import { paymentDesk } from '../../../gatekeeper/payment/payment.ts';
import {
  RECONCILE_PARALLEL,
  reconcileInBackground,
  reconcileOnce,
} from '../../../gatekeeper/payment/reconcile.ts';
import {
  DEAD_AFTER_S,
  type Evidence,
  type Settlers,
} from '../../../gatekeeper/payment/settlement.ts';
import { NOW_MS } from '../payer.ts';
import {
  alice,
  bench,
  freshJournal,
  gauge,
  json,
  keyOf,
  network,
  settled,
  shop,
  tick,
  v1,
  v2,
} from '../payment-bench.ts';

const none = async (): Promise<SettleOutcome> => ({ verdict: 'none', detail: 'timeout' });
const REFUSED = { verdict: 'refused', reason: 'invalid_transaction_state' } as const;

/** A desk with one payment in doubt, and a second desk over its journal, as after a crash. */
async function afterCrash(evidence?: Settlers['evidence']) {
  const first = bench();
  const header = await alice.header(v1);
  first.script.settle = none;
  await first.pay({ header });
  const journal = first.journal();
  const calls: string[] = [];
  const script = { now: NOW_MS, settle: settled as () => Promise<SettleOutcome> };
  const desk = paymentDesk({
    journal,
    challenger: shop,
    clock: () => script.now,
    facilitator: {
      verify: async () => ({ verdict: 'none', detail: '' }),
      settle: ({ paymentPayload }) => {
        calls.push(paymentPayload.payload.signature);
        return script.settle();
      },
      supported: none as never,
    },
    ...(evidence === undefined ? {} : { evidence }),
  });
  return { first, header, key: keyOf(header), journal, desk, calls, script };
}

describe('reconcileOnce()', () => {
  it('I47: settles what a crash left open, with nobody asking, and delivers it to the same payment', async () => {
    const { journal, desk, key, header, calls, first } = await afterCrash();
    expect(await journal.unresolved(10)).toEqual([key]);
    expect(await reconcileOnce({ journal, desk })).toEqual({ open: 1, resolved: 1 });
    expect(await journal.find(key)).toMatchObject({ state: 'settled' });
    const { payload } = JSON.parse(Buffer.from(header, 'base64').toString());
    expect(calls).toEqual([payload.signature]);
    first.script.settle = none;
    expect(json(await first.pay({ header }))).toEqual({ body: 1 });
    expect(await reconcileOnce({ journal, desk })).toEqual({ open: 0, resolved: 0 });
  });

  it('I9: believes the chain first, and asks nobody to settle what it shows as paid or cancelled', async () => {
    const cases: [Evidence, string][] = [
      [{ state: 'paid', transaction: '0xaa' }, 'settled'],
      [{ state: 'cancelled' }, 'refused'],
    ];
    for (const [evidence, state] of cases) {
      const { journal, desk, key, calls } = await afterCrash(async () => evidence);
      expect(await reconcileOnce({ journal, desk })).toEqual({ open: 1, resolved: 1 });
      expect(await journal.find(key)).toMatchObject({ state });
      expect(calls).toEqual([]);
    }
  });

  it('I9: leaves a doubt a doubt until it can be proved, and closes what is dead and unused', async () => {
    let evidence: Evidence = { state: 'unknown' };
    const { journal, desk, key, script } = await afterCrash(async () => evidence);
    script.settle = async () => REFUSED;
    script.now = NOW_MS + (300 + DEAD_AFTER_S + 1) * 1000;
    expect(await reconcileOnce({ journal, desk })).toEqual({ open: 1, resolved: 0 });
    evidence = { state: 'unused' };
    expect(await reconcileOnce({ journal, desk })).toEqual({ open: 1, resolved: 1 });
    expect(await journal.find(key)).toMatchObject({ state: 'refused' });
  });

  it('I3: a payment that is fetched while it is reconciled is settled once', async () => {
    const { journal, desk, header, calls, script } = await afterCrash();
    script.settle = () => tick(5).then(settled);
    const usual = { endpoint: gauge, method: 'GET', version: 1 } as const;
    const target = '/gauge?entity=us-denver&signal_id=airquality.aqi';
    const deliver = () => Promise.reject(new Error('not asked for'));
    const pass = reconcileOnce({ journal, desk });
    await tick(1);
    const reply = await desk.pay({ ...usual, target, header, deliver });
    expect([reply.status, (await pass).open, calls.length]).toEqual([200, 1, 1]);
  });

  it('I19: settles an old payment under the terms it met, whatever price and payee are now', async () => {
    for (const [terms, version] of [
      [v1, 1],
      [v2, 2],
    ] as const) {
      const journal = freshJournal();
      const clock = () => NOW_MS;
      const books = localFacilitator({ clock });
      const deliver = async () => ({ body: Buffer.from('{}'), contentType: 'application/json' });
      const order = { endpoint: gauge, method: 'GET', version, deliver } as const;
      const target = '/gauge';
      const header = await alice.header(terms);
      const lost = paymentDesk({
        journal,
        challenger: shop,
        clock,
        facilitator: { ...books, settle: none },
      });
      expect((await lost.pay({ ...order, target, header })).status).toBe(503);
      const dearer = challenger({
        baseUrl: 'https://new.example',
        payTo: `0x${'cd'.repeat(20)}`,
        network,
        serviceName: 'New',
      });
      const desk = paymentDesk({ journal, challenger: dearer, clock, facilitator: books });
      expect((await reconcileOnce({ journal, desk })).resolved).toBe(1);
      const again = await desk.pay({ ...order, target, header });
      expect([again.status, again.body.toString()]).toEqual([200, '{}']);
      journal.close();
    }
  });

  it('I4: one that hangs does not hold up the others', async () => {
    const journal = freshJournal();
    const seen: string[] = [];
    const desk = {
      reconcile: (key: string) => {
        seen.push(key);
        return key === '0' ? new Promise<boolean>(() => {}) : Promise.resolve(true);
      },
    };
    const many = {
      ...journal,
      unresolved: async () => Array.from({ length: 50 }, (_, at) => `${at}`),
    };
    void reconcileOnce({ journal: many, desk });
    await tick(5);
    expect(seen).toHaveLength(50);
    expect(RECONCILE_PARALLEL).toBeGreaterThan(1);
    journal.close();
  });
});

describe('reconcileInBackground()', () => {
  it('comes again after a pass that failed, tells so, and ends when closed', async () => {
    const logged: Readonly<Record<string, unknown>>[] = [];
    let passes = 0;
    const journal = {
      ...freshJournal(),
      unresolved: async () => {
        passes += 1;
        if (passes === 1) throw new Error('disk');
        return ['a'];
      },
    };
    const desk = { reconcile: async () => true };
    const background = reconcileInBackground({
      journal,
      desk,
      log: (entry) => logged.push(entry),
      intervalMs: 1,
    });
    while (passes < 3) await tick(1);
    background.close();
    const before = passes;
    await tick(20);
    expect(passes).toBeLessThanOrEqual(before + 1);
    expect(logged[0]).toMatchObject({ event: 'reconcile_failed' });
    expect(logged[1]).toEqual({ event: 'payments_reconciled', open: 1, resolved: 1 });
    journal.close();
  });
});
