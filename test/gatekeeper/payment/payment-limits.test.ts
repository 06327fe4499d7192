import { describe, expect, it, vi } from 'vitest';
import { clockFailure, clockIsBehind } from '../../../gatekeeper/money/clock-guard.ts';
import { NOW_MS } from '../payer.ts';
import { alice, bench, expectRefused, freshJournal, json, v1 } from '../payment-bench.ts';

const CLOCK_BACK_MS_MAX = 5000;

describe('I33: a clock that was set back', () => {
  it('takes no new payment until it has caught up, and delivers what is paid', async () => {
    const purchases = bench();
    const paid = await alice.header(v1);
    expect((await purchases.pay({ header: paid })).status).toBe(200);
    purchases.script.now = NOW_MS - CLOCK_BACK_MS_MAX;
    expect((await purchases.pay({ header: await alice.header(v1) })).status).toBe(200);
    purchases.script.now = NOW_MS - CLOCK_BACK_MS_MAX - 1;
    const header = await alice.header(v1);
    for (const restarted of [false, true]) {
      if (restarted) purchases.restart();
      const reply = await purchases.pay({ header });
      expect(reply.status).toBe(503);
      expect(json(reply).error).toMatch(/^Not charged\. The server's clock is wrong/);
      expect((await purchases.pay({ header: paid })).status).toBe(200);
    }
    expect(purchases.calls.settle).toHaveLength(2);
    purchases.script.now = NOW_MS;
    expect((await purchases.pay({ header })).status).toBe(200);
  });

  it('tells the operator both times and the ways out', async () => {
    const reported: unknown[] = [];
    const purchases = bench({ report: (error) => reported.push(error) });
    await purchases.pay({ header: await alice.header(v1) });
    purchases.script.now = NOW_MS - 60_000;
    await purchases.pay({ header: await alice.header(v1) });
    const [now, newest] = [purchases.script.now, NOW_MS].map((ms) => new Date(ms).toISOString());
    expect(String(reported)).toContain(`Cannot take payments at "${now}"`);
    expect(String(reported)).toMatch(new RegExp(`${newest}; correct the clock, .* accept-clock$`));
    expect(clockFailure(NOW_MS, NOW_MS)).toBeNull();
  });

  it('answers 503 also to a window that only the wrong clock refuses', async () => {
    const purchases = bench();
    await purchases.pay({ header: await alice.header(v1) });
    purchases.script.now = NOW_MS - 3_600_000;
    expect((await purchases.pay({ header: await alice.header(v1) })).status).toBe(503);
  });

  it('answers 503 also where the clock is set right between the look at the window and the sale', async () => {
    const purchases = bench();
    await purchases.pay({ header: await alice.header(v1) });
    const { deliver } = purchases.script;
    purchases.script.deliver = () => {
      purchases.script.now = NOW_MS;
      return deliver();
    };
    purchases.script.now = NOW_MS - 3_600_000;
    const header = await alice.header(v1);
    expect((await purchases.pay({ header })).status).toBe(503);
    expect((await purchases.pay({ header })).status).toBe(200);
  });

  it('answers 402 to a window that is bad by a clock that is right', async () => {
    const purchases = bench();
    await purchases.pay({ header: await alice.header(v1) });
    const header = await alice.header(v1, { validBefore: String(NOW_MS / 1000 + 100_000) });
    expect((await purchases.pay({ header })).status).toBe(402);
  });

  it('is told from a clock that was corrected by seconds', () => {
    expect(clockIsBehind(1000, 0)).toBe(false);
    expect(clockIsBehind(0, CLOCK_BACK_MS_MAX)).toBe(false);
    expect(clockIsBehind(0, CLOCK_BACK_MS_MAX + 1)).toBe(true);
  });
});

describe('I17: a journal that cannot write', () => {
  it('is a 503 before anybody is asked to settle, and burns nothing', async () => {
    const inner = freshJournal();
    let isFull = true;
    const claim: typeof inner.claim = (entry) =>
      isFull ? Promise.reject(new Error('database or disk is full')) : inner.claim(entry);
    const purchases = bench({ journal: { ...inner, claim } });
    const header = await alice.header(v1);
    const reply = await purchases.pay({ header });
    expect(reply.status).toBe(503);
    expect(json(reply)).toMatchObject({ retryable: true });
    expect(purchases.calls.settle).toEqual([]);
    isFull = false;
    expect((await purchases.pay({ header })).status).toBe(200);
    inner.close();
  });
});

describe('a facilitator that takes its time', () => {
  it('I4: 300 waiting buyers neither wait for each other nor hold anything afterwards', async () => {
    const purchases = bench();
    const settle = purchases.script.settle;
    let answer = (): void => {};
    const answered = new Promise<void>((done) => {
      answer = done;
    });
    purchases.script.settle = (request) => answered.then(() => settle(request));
    const headers = await Promise.all(Array.from({ length: 300 }, () => alice.header(v1)));
    const buying = headers.map((header) => purchases.pay({ header }));
    let ended = 0;
    for (const one of buying) void one.then(() => (ended += 1));
    await vi.waitFor(() => expect(purchases.calls.settle).toHaveLength(300), 60_000);
    expectRefused(await purchases.pay({ header: await alice.header(v1, { value: '1' }) }), /value/);
    expect(ended).toBe(0);
    answer();
    const replies = await Promise.all(buying);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(300);
  });
});
