import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { UNKNOWN_RETRY_S } from '../../../../gatekeeper/heart/purchase/purchase-reply.ts';
import { clockFailure, clockIsBehind } from '../../../../gatekeeper/settle/clock-guard.ts';
import { localFacilitator } from '../../../../gatekeeper/settle/facilitator/local-facilitator.ts';
import type { Facilitator } from '../../../../gatekeeper/settle/facilitator.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../../../gatekeeper/settle/payment.ts';
import { NOW_MS, payer } from '../../payer.ts';
import { alice, bench, expectRefused, freshJournal, json, v1 } from '../../payment-bench.ts';
import { rawAnswers, rawHttp, rawRequest } from '../../raw-http.ts';
import { BUYER_ADDRESS, type TinyGate, tinyGate } from '../../tiny-gate.ts';
import { TINY_NOW, tinyFiles, writeTinyRelease } from '../../tiny-release.ts';

const PAID = '/gauge?signal_id=airquality.aqi&entity=us-chicago';
const STORED = 'record/airquality.aqi/us-chicago.json';
const CANARY = 'paid words';
const FORWARDED = Object.entries(BUYER_ADDRESS).flat().join(': ');
/** Rounds of 50 copies each; COPY_ROUNDS=2000 for a long run. */
const ROUNDS = Number(process.env.COPY_ROUNDS ?? 4);
const ROUND_TIMEOUT_MS = 2000;
const local = localFacilitator({ clock: () => TINY_NOW });
const calls = { verify: 0, settle: 0 };
const delays = { settle: 0 };
const counting: Facilitator = {
  verify: (request) => {
    calls.verify += 1;
    return local.verify(request);
  },
  settle: async (request) => {
    calls.settle += 1;
    await setTimeout(delays.settle);
    return local.settle(request);
  },
  supported: () => local.supported(),
};

interface Provenance {
  readonly age_hours_now: number;
}

let gate: TinyGate;
beforeAll(async () => {
  gate = await tinyGate({ facilitator: counting });
});
afterAll(() => gate.close());

async function freshPayment(at: TinyGate = gate): Promise<string> {
  const challenge = await fetch(at.url + PAID);
  const { accepts } = (await challenge.json()) as { accepts: readonly [RequirementsV1] };
  return payer(NETWORKS['base-sepolia']).header(accepts[0]);
}

/** The same payment in other bytes. */
function inOtherBytes(header: string): readonly string[] {
  const payment = JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  const turned = Object.fromEntries(Object.entries(payment).reverse());
  const spelled = [JSON.stringify(payment, null, 2), JSON.stringify(turned)];
  return [header, ...spelled.map((text) => Buffer.from(text).toString('base64'))];
}

function bodiesOf(text: string): string[] {
  return text
    .split(/HTTP\/1\.1 /)
    .slice(1)
    .map((one) => one.slice(one.indexOf('\r\n\r\n') + 4));
}

describe('one payment over the wire', () => {
  it('I3: 50 parallel uses are one settlement and 50 identical bodies', async () => {
    const header = await freshPayment();
    const before = calls.settle;
    const uses = Array.from({ length: 50 }, () =>
      fetch(gate.url + PAID, { headers: { ...BUYER_ADDRESS, 'x-payment': header } }),
    );
    const answers = await Promise.all(uses);
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect(new Set(bodies).size).toBe(1);
    expect(bodies[0]).toContain(CANARY);
    expect(calls.settle - before).toBe(1);
  });

  it(
    'I3: 50 copies in other bytes, before, during and after its settlement, are one settlement',
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        delays.settle = round % 8;
        const forms = inOtherBytes(await freshPayment());
        const before = calls.settle;
        const uses = Array.from({ length: 50 }, async (_, at) => {
          await setTimeout(at % 12);
          const header = forms[(at + round) % forms.length] ?? '';
          const answer = await fetch(gate.url + PAID, {
            headers: { ...BUYER_ADDRESS, 'x-payment': header },
          });
          return [answer.status, await answer.text()] as const;
        });
        const answers = await Promise.all(uses);
        expect(new Set(answers.map(([status]) => status))).toEqual(new Set([200]));
        expect(new Set(answers.map(([, body]) => body)).size).toBe(1);
        expect(calls.settle - before).toBe(1);
      }
      delays.settle = 0;
    },
    ROUNDS * ROUND_TIMEOUT_MS,
  );

  it('I3: 20 pipelined uses are one settlement', async () => {
    const header = await freshPayment();
    const before = calls.settle;
    const one = `GET ${PAID} HTTP/1.1\r\nHost: gate\r\n${FORWARDED}\r\nX-PAYMENT: ${header}\r\n\r\n`;
    const { text, statuses } = await rawAnswers(gate.port, one.repeat(20), 20);
    expect(statuses).toEqual(Array(20).fill(200));
    expect(new Set(bodiesOf(text)).size).toBe(1);
    expect(calls.settle - before).toBe(1);
  });

  it('I10: each of many copies hears that nothing is stored, and nobody is asked about it', async () => {
    const header = await freshPayment();
    const before = calls.verify;
    const nowhere = gate.url + PAID.replace('us-chicago', 'us-nowhere');
    const uses = Array.from({ length: 20 }, () =>
      fetch(nowhere, { headers: { ...BUYER_ADDRESS, 'x-payment': header } }),
    );
    const answers = await Promise.all(uses);
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(422));
    expect(calls.verify).toBe(before);
  });

  it('I10: each of many copies is told to come again where the file cannot be read', async () => {
    let isGone = false;
    const read = async (path: string): Promise<Buffer> => {
      if (isGone) throw new Error('EIO');
      return readFileSync(path);
    };
    const broken = await tinyGate({ facilitator: counting, read });
    isGone = true;
    const header = await freshPayment();
    const before = calls.verify;
    const uses = Array.from({ length: 20 }, () =>
      fetch(broken.url + PAID, { headers: { ...BUYER_ADDRESS, 'x-payment': header } }),
    );
    const answers = await Promise.all(uses);
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(503));
    expect(calls.verify).toBe(before);
    await broken.close();
  });

  it('I5: opens no other resource, query or method, before and after it is spent', async () => {
    const header = await freshPayment();
    const lines = [`${FORWARDED}\r\nX-PAYMENT: ${header}`];
    const others: [string, string, number][] = [
      [PAID.replace('us-chicago', 'us-denver'), 'GET', 402],
      [PAID.replace('us-chicago', 'us-nowhere'), 'GET', 422],
      ['/gauge', 'GET', 422],
      ['/gauge/raw?signal_id=airquality.aqi&entity=us-chicago', 'GET', 422],
      [PAID, 'HEAD', 402],
      [PAID, 'OPTIONS', 204],
      [PAID, 'POST', 405],
    ];
    const tryAll = async (): Promise<void> => {
      for (const [target, method, status] of others) {
        const { text, statuses } = await rawHttp(gate.port, rawRequest(target, lines, method));
        expect([target, method, statuses]).toEqual([target, method, [status]]);
        expect(text).not.toContain(CANARY);
      }
    };
    const before = calls.settle;
    expect((await rawHttp(gate.port, rawRequest(PAID, lines))).statuses).toEqual([200]);
    await tryAll();
    expect(calls.settle - before).toBe(1);
  });

  it('I6: is answered whole whatever Range, condition or encoding is asked for, and to HTTP/1.0', async () => {
    const header = await freshPayment();
    const pay = `${FORWARDED}\r\nX-PAYMENT: ${header}`;
    const whole = await rawHttp(gate.port, rawRequest(PAID, [pay]));
    const asked = [
      ['Range: bytes=0-3'],
      ['If-None-Match: *'],
      ['Accept-Encoding: gzip, br'],
      ['If-Modified-Since: Sat, 21 Nov 2037 11:00:00 GMT'],
    ];
    for (const lines of asked) {
      const answer = await rawHttp(gate.port, rawRequest(PAID, [pay, ...lines]));
      expect(answer.statuses).toEqual([200]);
      expect(bodiesOf(answer.text)).toEqual(bodiesOf(whole.text));
      expect(answer.text).not.toMatch(/^(etag|content-encoding|content-range|last-modified):/im);
    }
    const old = `GET ${PAID} HTTP/1.0\r\nHost: gate\r\n${pay}\r\n\r\n`;
    expect(bodiesOf((await rawHttp(gate.port, old)).text)).toEqual(bodiesOf(whole.text));
    const unpaid = await rawHttp(gate.port, `GET ${PAID} HTTP/1.0\r\nHost: gate\r\n\r\n`);
    expect([unpaid.statuses, unpaid.text.includes(CANARY)]).toEqual([[402], false]);
  });

  it('I6: a pipelined request without a payment gains nothing from the one before it', async () => {
    const header = await freshPayment();
    const get = (lines: string) => `GET ${PAID} HTTP/1.1\r\nHost: gate\r\n${lines}\r\n`;
    const bytes =
      get(`${FORWARDED}\r\nX-PAYMENT: ${header}\r\n`) +
      get('') +
      get(`${FORWARDED}\r\nX-PAYMENT: ${header}\r\nX-PAYMENT: ${header}\r\n`);
    const { text, statuses } = await rawAnswers(gate.port, bytes, 3);
    expect(statuses).toEqual([200, 402, 402]);
    expect(bodiesOf(text).map((body) => body.includes(CANARY))).toEqual([true, false, false]);
  });
});

describe('I46: a rate limit and what is paid', () => {
  it('costs no facilitator call, and never turns away who fetches again', async () => {
    const limited = await tinyGate({ facilitator: counting, config: { rateLimit: 4 } });
    const header = await freshPayment(limited);
    const buy = (value: string) =>
      fetch(limited.url + PAID, { headers: { ...BUYER_ADDRESS, 'x-payment': value } });
    expect((await buy(header)).status).toBe(200);
    const others = await Promise.all(Array.from({ length: 8 }, () => freshPayment()));
    const before = { ...calls };
    const statuses = await Promise.all(others.map(async (value) => (await buy(value)).status));
    const sold = statuses.filter((status) => status === 200).length;
    expect(statuses.filter((status) => status === 429)).toHaveLength(8 - sold);
    expect(sold).toBeLessThan(4);
    expect(calls.settle - before.settle).toBe(sold);
    for (let at = 0; at < 20; at++) expect((await buy(header)).status).toBe(200);
    await limited.close();
  });

  it('counts who only knows the nonce of what was paid, on every path', async () => {
    const limited = await tinyGate({ facilitator: counting, config: { rateLimit: 4 } });
    const header = await freshPayment(limited);
    const get = async (target: string, value: string) =>
      (await fetch(limited.url + target, { headers: { ...BUYER_ADDRESS, 'x-payment': value } }))
        .status;
    expect(await get(PAID, header)).toBe(200);
    const { payload, ...rest } = JSON.parse(Buffer.from(header, 'base64').toString());
    const garbage = { ...rest, payload: { ...payload, signature: `0x${'11'.repeat(65)}` } };
    const forged = Buffer.from(JSON.stringify(garbage)).toString('base64');
    const tries = [
      [PAID, forged],
      ['/gauge/sample', forged],
      ['/gauge/sample', header],
      ['/gauge?signal_id=airquality.aqi&entity=us-denver', header],
    ] as const;
    for (const [target, value] of tries) {
      const statuses = await Promise.all(Array.from({ length: 12 }, () => get(target, value)));
      expect([target, statuses.filter((status) => status === 429).length > 5]).toEqual([
        target,
        true,
      ]);
    }
    expect(await get(PAID, header)).toBe(200);
    await limited.close();
  });
});

describe('I19: what was bought', () => {
  /** A release in which the record that was sold says other words. */
  function publish(at: TinyGate, sequence: number): Promise<void> {
    const files = tinyFiles();
    const text = String(files.get(STORED)).replaceAll(CANARY, `words of release ${sequence}`);
    writeTinyRelease(at.dataDir, { sequence, files: files.set(STORED, Buffer.from(text)) });
    return at.checkRelease();
  }

  it('stays what it was over three releases, also where its settlement was lost before them', async () => {
    let isLost = false;
    const settle: Facilitator['settle'] = async (request) => {
      const outcome = await local.settle(request);
      return isLost ? { verdict: 'none', detail: 'timeout' } : outcome;
    };
    const shop = await tinyGate({ facilitator: { ...counting, settle } });
    const buy = async (header: string): Promise<[number, string]> => {
      const answer = await fetch(shop.url + PAID, {
        headers: { ...BUYER_ADDRESS, 'x-payment': header },
      });
      return [answer.status, await answer.text()];
    };
    const [paid, doubtful] = [await freshPayment(shop), await freshPayment(shop)];
    const first = await buy(paid);
    isLost = true;
    expect((await buy(doubtful))[0]).toBe(503);
    isLost = false;
    shop.now += UNKNOWN_RETRY_S * 1000;
    for (const sequence of [2, 3, 4]) {
      await publish(shop, sequence);
      for (let at = 0; at < 10; at++) {
        expect(await buy(paid)).toEqual(first);
        expect(await buy(doubtful)).toEqual(first);
      }
      const [, text] = await buy(await freshPayment(shop));
      expect(text).toContain(`words of release ${sequence}`);
      expect(text).not.toContain(CANARY);
    }
    await shop.close();
  });
});

describe('two gatekeepers on one state folder, as while one takes over from another', () => {
  it('I2: the second delivers what the first sold, also past its window, and sells it for nothing else', async () => {
    const first = await tinyGate({ facilitator: counting });
    const { stateDir } = first;
    const second = await tinyGate({ facilitator: counting, config: { stateDir } });
    const header = await freshPayment(first);
    const buy = (at: TinyGate, target = PAID): Promise<Response> =>
      fetch(at.url + target, { headers: { ...BUYER_ADDRESS, 'x-payment': header } });
    const bought = await (await buy(first)).text();
    const before = calls.settle;
    const other = await buy(second, PAID.replace('us-chicago', 'us-denver'));
    expect([other.status, await other.text()]).toEqual([
      402,
      expect.stringContaining('payment_already_used'),
    ]);
    const third = await tinyGate({ facilitator: counting, config: { stateDir } });
    const late = await freshPayment(first);
    const soldLate = await fetch(first.url + PAID, {
      headers: { ...BUYER_ADDRESS, 'x-payment': late },
    });
    third.now = TINY_NOW + 400_000;
    const again = await fetch(third.url + PAID, {
      headers: { ...BUYER_ADDRESS, 'x-payment': late },
    });
    expect([again.status, await again.text()]).toEqual([200, await soldLate.text()]);
    const same = await buy(second);
    expect([same.status, await same.text()]).toEqual([200, bought]);
    expect(calls.settle - before).toBe(1);
    await Promise.all([first.close(), second.close(), third.close()]);
  });

  it('I10: the second refuses what nobody sold', async () => {
    const first = await tinyGate({ facilitator: counting });
    const { stateDir } = first;
    const poor: Facilitator = {
      ...counting,
      verify: async () => ({ verdict: 'invalid', reason: 'insufficient_funds' }),
    };
    const config = { stateDir, verifyFirst: true };
    const second = await tinyGate({ facilitator: poor, config });
    const headers = { 'x-payment': await freshPayment(first) };
    expect((await fetch(second.url + PAID, { headers })).status).toBe(402);
    expect((await fetch(first.url + PAID, { headers })).status).toBe(200);
    await Promise.all([first.close(), second.close()]);
  });
});

describe('I33: a clock that is wrong by any amount', () => {
  const [second, hour] = [1000, 3_600_000];
  const skews = [-8766 * hour, -24 * hour, -hour, -6 * second, -5 * second, 5 * second];
  const ahead = [294 * second, 295 * second, hour, 24 * hour, 8766 * hour];
  it.each([...skews, ...ahead])(
    'by %i ms: reads and what is paid go on, no age is negative, and only a fitting window is sold to',
    async (skew) => {
      const config = { verifyFirst: true };
      const shop = await tinyGate({ facilitator: counting, config });
      const buy = (header: string, id = 'pay_0123456789abcdef'): Promise<Response> => {
        const headers = { 'x-payment': header, 'payment-identifier': id };
        return fetch(shop.url + PAID, { headers });
      };
      const paid = await freshPayment(shop);
      const first = await (await buy(paid)).text();
      const [header, before] = [await freshPayment(shop), { ...calls }];
      shop.now = TINY_NOW + skew;
      const free = await fetch(`${shop.url}/gauge/sample`);
      const { sample } = (await free.json()) as { sample: { provenance: Provenance } };
      expect(sample.provenance.age_hours_now).toBeGreaterThanOrEqual(0);
      const again = await buy(paid);
      expect([again.status, await again.text()]).toEqual([200, first]);
      const { status } = await buy(header, 'another_0123456789');
      // The window of a usual client closes 300 s after it signed, and 6 s must be left.
      const want = skew < -5 * second ? 503 : skew <= 294 * second ? 200 : 402;
      expect(status).toBe(want);
      const sales = want === 200 ? 1 : 0;
      expect(calls).toEqual({ verify: before.verify + sales, settle: before.settle + sales });
      await shop.close();
    },
  );
});

describe('I47: a stop with payments under way', () => {
  it('I51: ends although the facilitator hangs, and the payment is found after the restart', async () => {
    const hung: Facilitator = { ...counting, settle: () => new Promise(() => {}) };
    const stopping = await tinyGate({ facilitator: hung, times: { drainTimeout: 100 } });
    const header = await freshPayment(stopping);
    const asked = fetch(stopping.url + PAID, {
      headers: { ...BUYER_ADDRESS, 'x-payment': header },
    });
    await setTimeout(100);
    await Promise.all([stopping.close(), expect(asked).rejects.toThrow()]);
    const before = calls.settle;
    const again = await tinyGate({
      facilitator: counting,
      config: { stateDir: stopping.stateDir },
    });
    // I51: a start only looks.
    await setTimeout(100);
    expect(calls.settle).toBe(before);
    const answer = await fetch(again.url + PAID, {
      headers: { ...BUYER_ADDRESS, 'x-payment': header },
    });
    expect([answer.status, (await answer.text()).includes(CANARY)]).toEqual([200, true]);
    expect(calls.settle - before).toBe(1);
    await again.close();
  });

  it('answers what is accepted', async () => {
    let release: () => void = () => {};
    const gone = new Promise<void>((done) => {
      release = done;
    });
    const slow: Facilitator = {
      ...counting,
      settle: (request) => gone.then(() => local.settle(request)),
    };
    const stopping = await tinyGate({ facilitator: slow });
    const header = await freshPayment(stopping);
    const asked = fetch(stopping.url + PAID, {
      headers: { ...BUYER_ADDRESS, 'x-payment': header },
    });
    await setTimeout(100);
    const closed = stopping.close();
    await setTimeout(50);
    release();
    const answer = await asked;
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    await closed;
  });
});

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
