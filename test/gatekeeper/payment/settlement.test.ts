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
    const desk = bench();
    const books = localFacilitator({ clock: () => desk.script.now });
    desk.script.settle = async (request) => {
      await books.settle(request);
      return { verdict: 'none', detail: 'reset' };
    };
    const value = await alice.header(v1);
    expectUnknown(await desk.pay({ header: value }));
    desk.restart();
    expectRefused(await desk.pay({ header: value, target: '/gauge' }), /payment_already_used/);
    expectUnknown(await desk.pay({ header: value }));
    desk.wait();
    desk.script.settle = (request) => books.settle(request);
    const reply = await desk.pay({ header: value });
    expect(reply.status).toBe(200);
    expect(json(reply)).toEqual({ body: 1 });
    const settles = desk.calls.settle.length;
    expect(await desk.pay({ header: value })).toStrictEqual(reply);
    expect([desk.calls.settle.length, desk.calls.verify.length]).toEqual([settles, 1]);
  });

  it('I9: resume() treats a refusal that may hide a success, and any refusal after a doubt, as unknown', async () => {
    const desk = bench();
    const value = await alice.header(v1);
    desk.script.settle = async () => ({ verdict: 'refused', reason: 'nonce_already_used' });
    expectUnknown(await desk.pay({ header: value }));
    desk.wait();
    desk.script.settle = async () => ({ verdict: 'refused', reason: 'insufficient_funds' });
    expectUnknown(await desk.pay({ header: value }));
    desk.wait();
    desk.script.settle = settled;
    expect((await desk.pay({ header: value })).status).toBe(200);
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
      const desk = bench();
      desk.script.settle = async () => ({ verdict: 'refused', reason });
      const reply = await desk.pay({ header: await alice.header(v1) });
      expect([reason, reply.status]).toEqual([reason, status]);
    }
  });

  it('I9: settle() and resume() take no refusal for definite that names a transaction', async () => {
    const desk = bench({ evidence: async () => ({ state: 'unused' }) });
    const value = await alice.header(v1);
    const refused = { verdict: 'refused', reason: 'insufficient_funds' } as const;
    desk.script.settle = async () => ({ ...refused, namesTransaction: true });
    for (let at = 0; at < 2; at++) {
      expectUnknown(await desk.pay({ header: value }));
      desk.wait();
    }
    desk.script.settle = async () => refused;
    expectUnknown(await desk.pay({ header: value }));
    desk.script.settle = async () => refused;
    expectRefused(await desk.pay({ header: await alice.header(v1) }), /^insufficient_funds/);
  });

  it('I9: resume() leaves a payment open that is refused while an earlier call may still run, until it is dead', async () => {
    let state: ChainVerdict = { state: 'unused' };
    const desk = bench({ evidence: async () => state });
    const refused = { verdict: 'refused', reason: 'insufficient_funds' } as const;
    const doubtful = async (): Promise<string> => {
      const value = await alice.header(v1);
      desk.script.settle = none;
      expectUnknown(await desk.pay({ header: value }));
      desk.wait();
      desk.script.settle = async () => ({ ...refused, isProven: true });
      expectUnknown(await desk.pay({ header: value }));
      desk.wait();
      return value;
    };
    const [late, dead] = [await doubtful(), await doubtful()];
    expect(await desk.journal().find(keyOf(late))).toMatchObject({ state: 'unknown' });
    // The first call ends now.
    state = { state: 'paid', transaction: '0xaa' };
    expect(receipt(await desk.pay({ header: late })).transaction).toBe('0xaa');
    state = { state: 'unused' };
    desk.script.now = NOW_MS + (310 + DEAD_AFTER_S) * 1000;
    expectRefused(await desk.pay({ header: dead }), /authorization_expired/);
  });

  it('I9: resume() closes a doubt when the authorization is dead, not before', async () => {
    const desk = bench();
    const value = await alice.header(v1);
    desk.script.settle = none;
    expectUnknown(await desk.pay({ header: value }));
    desk.script.settle = async () => ({ verdict: 'refused', reason: 'expired' });
    desk.script.now = NOW_MS + (300 + DEAD_AFTER_S) * 1000;
    expectUnknown(await desk.pay({ header: value }));
    desk.wait();
    desk.script.settle = none;
    expectUnknown(await desk.pay({ header: value }));
    desk.wait();
    desk.script.settle = async () => ({ verdict: 'refused', reason: 'expired' });
    expectRefused(await desk.pay({ header: value }), /authorization_expired/);
  });

  it('I9: settle() believes the chain before the facilitator', async () => {
    const cases = [
      { state: 'paid', transaction: '0xaa', status: 200 },
      { state: 'cancelled', status: 402 },
      { state: 'unused', status: 503 },
      { state: 'unknown', status: 503 },
    ] as const;
    for (const { status, ...evidence } of cases) {
      const desk = bench({ evidence: async () => evidence });
      desk.script.settle = none;
      const value = await alice.header(v1);
      expect((await desk.pay({ header: value })).status).toBe(status);
      desk.wait();
      desk.script.settle = async () => ({ verdict: 'refused', reason: 'insufficient_funds' });
      const again = await desk.pay({ header: value });
      expect(again.status).toBe(status);
      if (status === 200) expect(receipt(again).transaction).toBe('0xaa');
    }
  });

  it('I11: settle() and resume() take no transaction for evidence that stands for another payment', async () => {
    const reported: unknown[] = [];
    const desk = bench({ report: (error) => reported.push(error) });
    const settledBy = async (transaction: string): Promise<SettleOutcome> => ({
      verdict: 'settled',
      transaction,
    });
    desk.script.settle = () => settledBy('0xAb');
    const first = await alice.header(v1);
    expect((await desk.pay({ header: first })).status).toBe(200);
    const second = await alice.header(v1);
    desk.script.settle = () => settledBy('0xaB');
    for (let at = 0; at < 2; at++) {
      expectUnknown(await desk.pay({ header: second }));
      desk.restart();
    }
    expect(String(reported[0])).toMatch(/transaction of another payment; if it settles several /);
    expect(String(reported[0])).toMatch(/set SIGNALPRESS_RPC_URL .* if not, ask its operator$/);
    expect((await desk.pay({ header: first })).status, 'it still stands for the first').toBe(200);
    desk.script.settle = () => settledBy('0xac');
    expect(receipt(await desk.pay({ header: second })).transaction).toBe('0xac');
  });

  it('I11: a doubt about a payment that shares its transaction ends as soon as the chain is asked', async () => {
    let shown: ChainVerdict = { state: 'unknown' };
    const desk = bench({ evidence: async () => shown });
    desk.script.settle = async () => ({ verdict: 'settled', transaction: '0xab' });
    expect((await desk.pay({ header: await alice.header(v1) })).status).toBe(200);
    const second = await alice.header(v1);
    expectUnknown(await desk.pay({ header: second }));
    desk.wait();
    shown = { state: 'paid', transaction: '0xab' };
    expect(receipt(await desk.pay({ header: second })).transaction).toBe('0xab');
  });

  it('I11: settle() takes one transaction for two payments where the chain shows both in it', async () => {
    const desk = bench();
    desk.script.settle = async () => ({
      verdict: 'settled',
      transaction: '0xab',
      isProven: true,
    });
    for (let at = 0; at < 2; at++) {
      const reply = await desk.pay({ header: await alice.header(v1) });
      expect([reply.status, receipt(reply).transaction]).toEqual([200, '0xab']);
    }
  });

  it('I47: resume() takes a claim that a crash left open for unknown', async () => {
    const desk = bench();
    const value = await alice.header(v1);
    desk.script.settle = () => new Promise(() => {});
    void desk.pay({ header: value });
    while (desk.calls.settle.length === 0) await tick(1);
    desk.restart();
    desk.script.settle = async () => ({ verdict: 'refused', reason: 'insufficient_funds' });
    expectUnknown(await desk.pay({ header: value }));
    desk.wait();
    desk.script.settle = settled;
    const reply = await desk.pay({ header: value });
    expect(json(reply)).toEqual({ body: 1 });
    expect(desk.calls.verify).toHaveLength(1);
  });
});
