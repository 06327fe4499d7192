import { describe, expect, it } from 'vitest';
import { DEAD_AFTER_S } from '../../../gatekeeper/money/journal.ts';
import { Doubts } from '../../../gatekeeper/purchase/purchase.ts';
import { NOW_MS } from '../payer.ts';
import { alice, bench, expectRefused, header, json, settled, v1 } from '../payment-bench.ts';

const DOUBT_REST_MS = 5000;

const DOUBTS_MAX = 20_000;

const one = { key: 'k', payer: '0xa', resource: 'GET /gauge', signed: 's' };

describe('Doubts', () => {
  it('makes the same payment wait for its rest and no longer', () => {
    const doubts = new Doubts();
    expect(doubts.waitMs(one, NOW_MS)).toBe(0);
    doubts.note(one, NOW_MS);
    expect(doubts.waitMs(one, NOW_MS + 1)).toBe(DOUBT_REST_MS - 1);
    expect(doubts.waitMs(one, NOW_MS + DOUBT_REST_MS)).toBe(0);
  });

  it('says nothing to another request or signature under the key', () => {
    const doubts = new Doubts();
    doubts.note(one, NOW_MS);
    expect(doubts.waitMs({ ...one, resource: 'GET /other' }, NOW_MS)).toBe(0);
    expect(doubts.waitMs({ ...one, signed: 't' }, NOW_MS)).toBe(0);
    expect(doubts.waitMs(one, NOW_MS)).toBe(DOUBT_REST_MS);
  });

  it('I33: waits no longer because the clock was set back', () => {
    const doubts = new Doubts();
    doubts.note(one, NOW_MS);
    expect(doubts.waitMs(one, NOW_MS - 86_400_000)).toBe(0);
  });

  it('I43: remembers as many as it may, and forgets the oldest with one more', () => {
    const doubts = new Doubts();
    for (let at = 0; at < DOUBTS_MAX; at++) doubts.note({ ...one, key: `${at}` }, NOW_MS);
    expect(doubts.waitMs({ ...one, key: '0' }, NOW_MS)).toBeGreaterThan(0);
    doubts.note({ ...one, key: 'new' }, NOW_MS);
    expect(doubts.waitMs({ ...one, key: '0' }, NOW_MS)).toBe(0);
    expect(doubts.waitMs({ ...one, key: '1' }, NOW_MS)).toBeGreaterThan(0);
  });
});

describe('a settlement in doubt', () => {
  it('I54: is asked about once per Retry-After, however often it is sent', async () => {
    const purchases = bench({ verifyFirst: false });
    purchases.script.settle = async () => ({ verdict: 'none', detail: 'timeout' });
    const value = await alice.header(v1);
    for (let rest = 0; rest < 4; rest++) {
      for (let at = 0; at < 400; at++) {
        const reply = await purchases.pay({ header: value });
        expect(reply.status).toBe(503);
        expect(header(reply, 'retry-after')).toMatch(/^[1-5]$/);
        expect(json(reply).error).toContain('Send the same X-PAYMENT again');
      }
      expect(purchases.calls.settle).toHaveLength(rest + 1);
      purchases.wait();
    }
    purchases.script.settle = settled;
    expect((await purchases.pay({ header: value })).status).toBe(200);
    expect((await purchases.pay({ header: value })).status).toBe(200);
    expect(purchases.calls.settle).toHaveLength(5);
  });

  it('I5: opens nothing else while it is in doubt', async () => {
    const purchases = bench();
    purchases.script.settle = async () => ({ verdict: 'none', detail: 'timeout' });
    const value = await alice.header(v1);
    expect((await purchases.pay({ header: value })).status).toBe(503);
    expectRefused(await purchases.pay({ header: value, target: '/gauge' }), /payment_already_used/);
  });

  it('I10: is none where nobody was reached, so the row is closed and the same payment sells again', async () => {
    const purchases = bench({ verifyFirst: false });
    purchases.script.settle = async () => ({ verdict: 'none', detail: 'refused', unsent: true });
    const value = await alice.header(v1);
    const reply = await purchases.pay({ header: value });
    expect([reply.status, json(reply).error]).toEqual([503, expect.stringMatching(/^Not charged/)]);
    expect(await purchases.journal().unresolved(0, 10)).toEqual([]);
    purchases.script.settle = settled;
    expect((await purchases.pay({ header: value })).status).toBe(200);
  });

  it('I51: is none where our own account could not send it: 402, the row closed, and the same payment sells later', async () => {
    const purchases = bench({ verifyFirst: false });
    const declined = { unsent: true, declined: true } as const;
    purchases.script.settle = async () => ({
      verdict: 'none',
      detail: 'insufficient funds',
      ...declined,
    });
    const value = await alice.header(v1);
    expectRefused(
      await purchases.pay({ header: value }),
      /^settlement_not_sent: .*insufficient funds/,
    );
    expect(await purchases.journal().unresolved(0, 10)).toEqual([]);
    purchases.script.settle = settled;
    expect((await purchases.pay({ header: value })).status).toBe(200);
  });

  it('I9: stays a doubt where a repeat reaches nobody, for the first call may have been the one', async () => {
    const purchases = bench({ verifyFirst: false });
    purchases.script.settle = async () => ({ verdict: 'none', detail: 'timeout' });
    const value = await alice.header(v1);
    await purchases.pay({ header: value });
    purchases.wait();
    purchases.script.settle = async () => ({ verdict: 'none', detail: 'refused', unsent: true });
    const reply = await purchases.pay({ header: value });
    expect(json(reply).error).toContain('not known yet');
    purchases.script.now = NOW_MS + (DEAD_AFTER_S + 400) * 1000;
    purchases.script.settle = async () => ({ verdict: 'refused', reason: 'expired' });
    expectRefused(await purchases.pay({ header: value }), /authorization_expired/);
  });
});
