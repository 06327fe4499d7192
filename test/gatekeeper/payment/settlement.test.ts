import { describe, expect, it } from 'vitest';
import { localFacilitator } from '../../../gatekeeper/facilitator/local-facilitator.ts';
import type { Reply } from '../../../gatekeeper/http/reply.ts';
import type { ChainVerdict } from '../../../gatekeeper/money/evidence.ts';
import type { SettleOutcome } from '../../../gatekeeper/money/facilitator.ts';
import { DEAD_AFTER_S } from '../../../gatekeeper/money/journal.ts';
import { NOW_MS } from '../payer.ts';
import {
  alice,
  bench,
  expectRefused,
  header,
  json,
  keyOf,
  receipt,
  settled,
  tick,
  v1,
} from '../payment-bench.ts';

describe('settle() and resume()', () => {
  const none = async (): Promise<SettleOutcome> => ({ verdict: 'none', detail: 'timeout' });
  const expectUnknown = (reply: Reply) => {
    expect(reply.status).toBe(503);
    expect(json(reply).error).toContain('Send the same X-PAYMENT again');
    expect(header(reply, 'retry-after')).toMatch(/^[0-9]+$/);
    expect(header(reply, 'cache-control')).toBe('no-store');
    expect(json(reply)).not.toHaveProperty('accepts');
  };

  it('I9: settle() answers 503 after a lost settlement and delivers the same payment later, settled once', async () => {
    const purchases = bench();
    const local = localFacilitator({ clock: () => purchases.script.now });
    purchases.script.settle = async (request) => {
      await local.settle(request);
      return { verdict: 'none', detail: 'reset' };
    };
    const value = await alice.header(v1);
    expectUnknown(await purchases.pay({ header: value }));
    purchases.restart();
    expectRefused(await purchases.pay({ header: value, target: '/gauge' }), /payment_already_used/);
    expectUnknown(await purchases.pay({ header: value }));
    purchases.wait();
    purchases.script.settle = (request) => local.settle(request);
    const reply = await purchases.pay({ header: value });
    expect(reply.status).toBe(200);
    expect(json(reply)).toEqual({ body: 1 });
    const settles = purchases.calls.settle.length;
    expect(await purchases.pay({ header: value })).toStrictEqual(reply);
    expect([purchases.calls.settle.length, purchases.calls.verify.length]).toEqual([settles, 1]);
  });

  it('I9: resume() treats a refusal that may hide a success, and any refusal after a doubt, as unknown', async () => {
    const purchases = bench();
    const value = await alice.header(v1);
    purchases.script.settle = async () => ({ verdict: 'refused', reason: 'nonce_already_used' });
    expectUnknown(await purchases.pay({ header: value }));
    purchases.wait();
    purchases.script.settle = async () => ({ verdict: 'refused', reason: 'insufficient_funds' });
    expectUnknown(await purchases.pay({ header: value }));
    purchases.wait();
    purchases.script.settle = settled;
    expect((await purchases.pay({ header: value })).status).toBe(200);
  });

  it("I9: settle() takes the token's own words for a used nonce, and words that nobody knows, as a doubt", async () => {
    const words: [string, number][] = [
      ['FiatTokenV2: authorization is used or canceled', 503],
      ['authorization_used', 503],
      ['refused', 503],
      ['internal_error', 503],
      ['FiatTokenV2: authorization is expired', 402],
      ['insufficient_funds', 402],
    ];
    for (const [reason, status] of words) {
      const purchases = bench();
      purchases.script.settle = async () => ({ verdict: 'refused', reason });
      const reply = await purchases.pay({ header: await alice.header(v1) });
      expect([reason, reply.status]).toEqual([reason, status]);
    }
  });

  it('I9: settle() and resume() take no refusal for definite that names a transaction', async () => {
    const purchases = bench({ evidence: async () => ({ state: 'unused' }) });
    const value = await alice.header(v1);
    const refused = { verdict: 'refused', reason: 'insufficient_funds' } as const;
    purchases.script.settle = async () => ({ ...refused, namesTransaction: true });
    for (let at = 0; at < 2; at++) {
      expectUnknown(await purchases.pay({ header: value }));
      purchases.wait();
    }
    purchases.script.settle = async () => refused;
    expectUnknown(await purchases.pay({ header: value }));
    purchases.script.settle = async () => refused;
    expectRefused(await purchases.pay({ header: await alice.header(v1) }), /^insufficient_funds/);
  });

  it('I9: resume() leaves a payment open that is refused while an earlier call may still run, until it is dead', async () => {
    let state: ChainVerdict = { state: 'unused' };
    const purchases = bench({ evidence: async () => state });
    const refused = { verdict: 'refused', reason: 'insufficient_funds' } as const;
    const doubtful = async (): Promise<string> => {
      const value = await alice.header(v1);
      purchases.script.settle = none;
      expectUnknown(await purchases.pay({ header: value }));
      purchases.wait();
      purchases.script.settle = async () => ({ ...refused, isProven: true });
      expectUnknown(await purchases.pay({ header: value }));
      purchases.wait();
      return value;
    };
    const [late, dead] = [await doubtful(), await doubtful()];
    expect(await purchases.journal().find(keyOf(late))).toMatchObject({ state: 'unknown' });
    // The first call ends now.
    state = { state: 'paid', transaction: '0xaa' };
    expect(receipt(await purchases.pay({ header: late })).transaction).toBe('0xaa');
    state = { state: 'unused' };
    purchases.script.now = NOW_MS + (310 + DEAD_AFTER_S) * 1000;
    expectRefused(await purchases.pay({ header: dead }), /authorization_expired/);
  });

  it('I9: resume() closes a doubt when the authorization is dead, not before', async () => {
    const purchases = bench();
    const value = await alice.header(v1);
    purchases.script.settle = none;
    expectUnknown(await purchases.pay({ header: value }));
    purchases.script.settle = async () => ({ verdict: 'refused', reason: 'expired' });
    purchases.script.now = NOW_MS + (300 + DEAD_AFTER_S) * 1000;
    expectUnknown(await purchases.pay({ header: value }));
    purchases.wait();
    purchases.script.settle = none;
    expectUnknown(await purchases.pay({ header: value }));
    purchases.wait();
    purchases.script.settle = async () => ({ verdict: 'refused', reason: 'expired' });
    expectRefused(await purchases.pay({ header: value }), /authorization_expired/);
  });

  it('I9: settle() believes the chain before the facilitator', async () => {
    const cases = [
      { state: 'paid', transaction: '0xaa', status: 200 },
      { state: 'cancelled', status: 402 },
      { state: 'unused', status: 503 },
      { state: 'unknown', status: 503 },
    ] as const;
    for (const { status, ...evidence } of cases) {
      const purchases = bench({ evidence: async () => evidence });
      purchases.script.settle = none;
      const value = await alice.header(v1);
      expect((await purchases.pay({ header: value })).status).toBe(status);
      purchases.wait();
      purchases.script.settle = async () => ({ verdict: 'refused', reason: 'insufficient_funds' });
      const again = await purchases.pay({ header: value });
      expect(again.status).toBe(status);
      if (status === 200) expect(receipt(again).transaction).toBe('0xaa');
    }
  });

  it('I11: settle() and resume() take no transaction for evidence that stands for another payment', async () => {
    const reported: unknown[] = [];
    const purchases = bench({ report: (error) => reported.push(error) });
    const settledBy = async (transaction: string): Promise<SettleOutcome> => ({
      verdict: 'settled',
      transaction,
    });
    purchases.script.settle = () => settledBy('0xAb');
    const first = await alice.header(v1);
    expect((await purchases.pay({ header: first })).status).toBe(200);
    const second = await alice.header(v1);
    purchases.script.settle = () => settledBy('0xaB');
    for (let at = 0; at < 2; at++) {
      expectUnknown(await purchases.pay({ header: second }));
      purchases.restart();
    }
    expect(String(reported[0])).toMatch(/transaction of another payment; if it settles several /);
    expect(String(reported[0])).toMatch(/set SIGNALPRESS_RPC_URL .* if not, ask its operator$/);
    expect((await purchases.pay({ header: first })).status, 'it still stands for the first').toBe(
      200,
    );
    purchases.script.settle = () => settledBy('0xac');
    expect(receipt(await purchases.pay({ header: second })).transaction).toBe('0xac');
  });

  it('I11: a doubt about a payment that shares its transaction ends as soon as the chain is asked', async () => {
    let shown: ChainVerdict = { state: 'unknown' };
    const purchases = bench({ evidence: async () => shown });
    purchases.script.settle = async () => ({ verdict: 'settled', transaction: '0xab' });
    expect((await purchases.pay({ header: await alice.header(v1) })).status).toBe(200);
    const second = await alice.header(v1);
    expectUnknown(await purchases.pay({ header: second }));
    purchases.wait();
    shown = { state: 'paid', transaction: '0xab' };
    expect(receipt(await purchases.pay({ header: second })).transaction).toBe('0xab');
  });

  it('I11: settle() takes one transaction for two payments where the chain shows both in it', async () => {
    const purchases = bench();
    purchases.script.settle = async () => ({
      verdict: 'settled',
      transaction: '0xab',
      isProven: true,
    });
    for (let at = 0; at < 2; at++) {
      const reply = await purchases.pay({ header: await alice.header(v1) });
      expect([reply.status, receipt(reply).transaction]).toEqual([200, '0xab']);
    }
  });

  it('I47: resume() takes a claim that a crash left open for unknown', async () => {
    const purchases = bench();
    const value = await alice.header(v1);
    purchases.script.settle = () => new Promise(() => {});
    void purchases.pay({ header: value });
    while (purchases.calls.settle.length === 0) await tick(1);
    purchases.restart();
    purchases.script.settle = async () => ({ verdict: 'refused', reason: 'insufficient_funds' });
    expectUnknown(await purchases.pay({ header: value }));
    purchases.wait();
    purchases.script.settle = settled;
    const reply = await purchases.pay({ header: value });
    expect(json(reply)).toEqual({ body: 1 });
    expect(purchases.calls.verify).toHaveLength(1);
  });
});
