import { describe, expect, it } from 'vitest';
import { SIGNATURE_CHARS } from '../../../gatekeeper/money/signature.ts';
import { SmartAccounts } from '../../../gatekeeper/payment/smart-accounts.ts';
import type { CheckResult } from '../../../gatekeeper/payment/tender.ts';
import {
  encoded,
  freshNonce,
  headerOf,
  NOW_MS,
  NOW_S,
  paymentObject,
  type SignedPayment,
} from '../payer.ts';
import { alice, bench, expectRefused, json, keyOf, PAY_TO, v1, v2 } from '../payment-bench.ts';

/** Of one account, of all as many times that, and for how many seconds at once; in flight, of all and of one. */
const [CHECKS_PER_ACCOUNT_S, ACCOUNTS_FACTOR, CHECKS_BURST_S] = [2, 5, 5];
const [CHECKS_MAX, CHECKS_PER_ACCOUNT_MAX] = [16, 4];
const [REFUSAL_MS, FAILED_MS, FAILED_MAX] = [10_000, 600_000, 10];
const REFUSED: CheckResult = { kind: 'refused', refusal: { reason: 'no', error: 'no' } };

/** An account with code; the same number is always the same one. */
const accountOf = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`;

/** A payment that only the code of its account can judge. */
function paymentBy(from: string, signature: string = `0x${'77'.repeat(80)}`): SignedPayment {
  const authorization = {
    from,
    to: PAY_TO,
    value: '10000',
    validAfter: '0',
    validBefore: String(NOW_S + 300),
    nonce: freshNonce(),
  };
  return { authorization, signature: signature as `0x${string}` };
}

/** What is due on a token; by itself on the same one as all others here. */
const dueFor = (payment: SignedPayment, token = 'usdc') => ({
  key: `base|${token}|${payment.authorization.from}|${payment.authorization.nonce}`,
  payment,
});

/** Bounds with a clock of their own, and what came of many checks at once. */
function bounds() {
  const at = { ms: NOW_MS };
  const accounts = new SmartAccounts(() => at.ms);
  const calls = { asked: 0 };
  const check = (from: string, result: CheckResult | null = null) =>
    accounts.check(dueFor(paymentBy(from)), async () => {
      calls.asked += 1;
      return result;
    });
  return { at, accounts, calls, check };
}

describe('SmartAccounts', () => {
  const BURST = CHECKS_PER_ACCOUNT_S * CHECKS_BURST_S;

  it('I54: asks about one account, and about all of them, at a bounded rate', async () => {
    const { at, calls, check } = bounds();
    for (let i = 0; i < 3 * BURST; i++) await check(accountOf(1));
    expect(calls.asked).toBe(BURST);
    for (let i = 2; i < 1000; i++) await check(accountOf(i));
    expect(calls.asked).toBe(BURST * ACCOUNTS_FACTOR);
    expect(await check(accountOf(5000))).toEqual({ kind: 'busy' });
    at.ms += 1000;
    expect(await check(accountOf(5000))).toBeNull();
    for (let i = 0; i < 1000; i++) await check(accountOf(6000 + i));
    expect(calls.asked).toBe(BURST * ACCOUNTS_FACTOR + CHECKS_PER_ACCOUNT_S * ACCOUNTS_FACTOR);
  });

  it('keeps nobody out for longer when the clock is set back', async () => {
    const { at, accounts, calls, check } = bounds();
    for (let i = 0; i < FAILED_MAX; i++) accounts.failed(paymentBy(accountOf(i)));
    const refused = dueFor(paymentBy(accountOf(50)));
    at.ms += FAILED_MS;
    const ask = async () => REFUSED;
    expect(await accounts.check(refused, ask)).toEqual(REFUSED);
    at.ms -= 86_400_000;
    expect(await check(accountOf(0))).toBeNull();
    expect(await check(accountOf(99))).toBeNull();
    expect(await accounts.check(refused, async () => null)).toBeNull();
    expect(calls.asked).toBe(2);
  });

  it('I54: has few checks in flight, of one account and of all, whatever their code waits for', async () => {
    const { accounts } = bounds();
    let release = (): void => {};
    const hung = new Promise<null>((resolve) => {
      release = () => resolve(null);
    });
    const start = (from: string) => accounts.check(dueFor(paymentBy(from)), () => hung);
    const own = Array.from({ length: CHECKS_PER_ACCOUNT_MAX }, () => start(accountOf(1)));
    expect(await start(accountOf(1))).toEqual({ kind: 'busy' });
    const others = Array.from({ length: CHECKS_MAX - CHECKS_PER_ACCOUNT_MAX }, (_, at) =>
      start(accountOf(2 + at)),
    );
    expect(await start(accountOf(99))).toEqual({ kind: 'busy' });
    release();
    expect(await Promise.all([...own, ...others])).toEqual(new Array(CHECKS_MAX).fill(null));
    expect(await start(accountOf(99)), 'their places are free again').toBeNull();
  });

  it('remembers a refusal of exactly one payment for a while, and nothing else', async () => {
    const { at, accounts } = bounds();
    const payment = paymentBy(accountOf(1));
    const answers: (CheckResult | null)[] = [REFUSED, null, null, null];
    const ask = async () => answers.shift() ?? null;
    expect(await accounts.check(dueFor(payment), ask)).toEqual(REFUSED);
    expect(await accounts.check(dueFor(payment), ask)).toEqual(REFUSED);
    expect(answers, 'nobody was asked again').toHaveLength(3);
    expect(await accounts.check(dueFor(payment, 'eurc'), ask), 'another transfer').toBeNull();
    const other: SignedPayment = { ...payment, signature: `0x${'78'.repeat(80)}` };
    expect(await accounts.check(dueFor(other), ask)).toBeNull();
    at.ms += REFUSAL_MS;
    expect(await accounts.check(dueFor(payment), ask)).toBeNull();
    expect(answers, 'each of the others was asked about').toEqual([]);
  });

  it('frees its place when a check fails', async () => {
    const { accounts } = bounds();
    for (let i = 0; i < 2 * CHECKS_PER_ACCOUNT_MAX; i++) {
      const failing = accounts.check(dueFor(paymentBy(accountOf(1))), () =>
        Promise.reject(new Error('x')),
      );
      await expect(failing).rejects.toThrow('x');
    }
  });

  it('refuses an account whose payment passed and did not settle, until it does or some time is over', async () => {
    const { at, accounts, calls, check } = bounds();
    const [bad, good] = [accountOf(1), accountOf(2)];
    accounts.failed(paymentBy(bad));
    expect(await check(bad)).toMatchObject({ refusal: { reason: 'smart_account_did_not_settle' } });
    expect(await check(good)).toBeNull();
    expect(calls.asked).toBe(1);
    accounts.settled(paymentBy(bad));
    expect(await check(bad)).toBeNull();
    accounts.failed(paymentBy(bad));
    at.ms += FAILED_MS;
    expect(await check(bad)).toBeNull();
  });

  it('takes none at all while too many of them did so', async () => {
    const { at, accounts, check } = bounds();
    for (let i = 1; i < FAILED_MAX; i++) accounts.failed(paymentBy(accountOf(i)));
    expect(await check(accountOf(100))).toBeNull();
    at.ms += 1000;
    accounts.failed(paymentBy(accountOf(FAILED_MAX)));
    expect(await check(accountOf(100))).toEqual({ kind: 'busy' });
    at.ms += FAILED_MS - 1000;
    expect(await check(accountOf(100)), 'the first of them is over').toBeNull();
  });
});

describe('a purchase by an account with code', () => {
  /** A bench that asks nobody about plain accounts. */
  const asking = () => bench({ verifyFirst: false, accounts: new SmartAccounts(() => NOW_MS) });
  const NOT_VALID = { verdict: 'invalid', reason: 'invalid_exact_evm_signature' } as const;

  it('I14: is refused where nobody can ask the account, and nobody is asked', async () => {
    const purchases = bench();
    const long = headerOf(v1, paymentBy(accountOf(7)));
    const short = headerOf(v1, {
      ...paymentBy(accountOf(7)),
      signature: (await alice.sign(PAY_TO, '10000')).signature,
    });
    for (const header of [long, short]) {
      expectRefused(
        await purchases.pay({ header }),
        /invalid_exact_evm_payload_signature: .*payer must be a plain externally-owned account/,
      );
    }
    expect([purchases.calls.verify, purchases.calls.settle]).toEqual([[], []]);
  });

  it.each([1, 2] as const)('is verified before it is settled, version %i', async (version) => {
    const purchases = asking();
    const header = headerOf(version === 1 ? v1 : v2, paymentBy(accountOf(7)));
    const order: string[] = [];
    purchases.script.verify = async () => {
      order.push('verify');
      return { verdict: 'valid' };
    };
    purchases.script.settle = async () => {
      order.push('settle');
      return { verdict: 'settled', transaction: freshNonce() };
    };
    const reply = await purchases.pay({ header, version });
    expect([reply.status, order]).toEqual([200, ['verify', 'settle']]);
    expect((await purchases.pay({ header, version })).body).toEqual(reply.body);
    expect(order).toHaveLength(2);
    const plain = await alice.header(v1);
    expect((await purchases.pay({ header: plain })).status).toBe(200);
    expect(order, 'a plain account is settled alone').toEqual(['verify', 'settle', 'settle']);
  });

  it('I10: a signature that its code does not take is not settled and burns nothing', async () => {
    let now = NOW_MS;
    const purchases = bench({ verifyFirst: false, accounts: new SmartAccounts(() => now) });
    const header = headerOf(v1, paymentBy(accountOf(7)));
    purchases.script.verify = async () => NOT_VALID;
    expectRefused(
      await purchases.pay({ header }),
      /payer must be a plain externally-owned account/,
    );
    expect(purchases.calls.settle).toEqual([]);
    expect(await purchases.journal().find(keyOf(header))).toBeNull();
    purchases.script.verify = async () => ({ verdict: 'valid' });
    expectRefused(await purchases.pay({ header }), /invalid_exact_evm_signature/);
    expect(purchases.calls.verify).toHaveLength(1);
    now += REFUSAL_MS;
    expect((await purchases.pay({ header })).status).toBe(200);
  });

  it('charges nobody while the facilitator does not say whether it is valid', async () => {
    const purchases = asking();
    purchases.script.verify = async () => ({ verdict: 'none', detail: 'down' });
    const reply = await purchases.pay({ header: headerOf(v1, paymentBy(accountOf(7))) });
    expect([reply.status, json(reply).retryable]).toEqual([503, true]);
    expect(purchases.calls.settle).toEqual([]);
  });

  it('I5: opens one resource, and with another signature none', async () => {
    const purchases = asking();
    const payment = paymentBy(accountOf(7));
    expect((await purchases.pay({ header: headerOf(v1, payment) })).status).toBe(200);
    const other = { ...payment, signature: `0x${'78'.repeat(80)}` as const };
    expectRefused(await purchases.pay({ header: headerOf(v1, other) }), /payment_already_used/);
    const elsewhere = {
      header: headerOf(v1, payment),
      target: '/gauge?entity=us-chicago&signal_id=airquality.aqi',
    };
    expectRefused(await purchases.pay(elsewhere), /payment_already_used/);
    expect(purchases.calls.settle).toHaveLength(1);
  });

  it('I4, I54: 1,000 made-up ones at once cause few calls, and plain accounts buy meanwhile', async () => {
    const purchases = asking();
    purchases.script.verify = () => new Promise(() => {});
    const flood = Array.from({ length: 1000 }, (_, at) =>
      purchases.pay({ header: headerOf(v1, paymentBy(accountOf(at))) }),
    );
    const plain = await Promise.all(
      Array.from({ length: 60 }, async () => purchases.pay({ header: await alice.header(v1) })),
    );
    expect(plain.map(({ status }) => status)).toEqual(new Array(60).fill(200));
    const answered = await Promise.all(
      flood.map((reply) =>
        Promise.race([reply, new Promise<null>((done) => setTimeout(done, 500, null))]),
      ),
    );
    const reported = answered.filter((reply) => reply !== null);
    expect(reported).toHaveLength(1000 - CHECKS_MAX);
    expect(new Set(reported.map(({ status }) => status))).toEqual(new Set([503]));
    for (const reply of reported.slice(0, 1)) {
      expect(json(reply).error).toMatch(/^Not charged\. Too many payments by smart accounts/);
    }
    expect(purchases.calls.verify).toHaveLength(CHECKS_MAX);
    expect(purchases.calls.settle).toHaveLength(60);
  });

  it('I9: whose settlement has no known end is in doubt like any other, and takes no new one meanwhile', async () => {
    const purchases = asking();
    const header = headerOf(v1, paymentBy(accountOf(7)));
    purchases.script.settle = async () => ({ verdict: 'none', detail: 'lost' });
    expect((await purchases.pay({ header })).status).toBe(503);
    const next = headerOf(v1, paymentBy(accountOf(7)));
    expectRefused(await purchases.pay({ header: next }), /smart_account_did_not_settle/);
    purchases.script.settle = async () => ({ verdict: 'settled', transaction: freshNonce() });
    purchases.wait();
    expect((await purchases.pay({ header })).status).toBe(200);
    expect((await purchases.pay({ header: next })).status).toBe(200);
  });

  it.each([
    ['cost a transaction', { reason: 'authorization_cancelled', isProven: true }, 402],
    ['cost nothing', { reason: 'insufficient_funds' }, 200],
  ] as const)('whose settlement is refused and %s: its next payment', async (_, why, status) => {
    const purchases = asking();
    purchases.script.settle = async () => ({ verdict: 'refused', ...why });
    expectRefused(
      await purchases.pay({ header: headerOf(v1, paymentBy(accountOf(7))) }),
      new RegExp(why.reason),
    );
    purchases.script.settle = async () => ({ verdict: 'settled', transaction: freshNonce() });
    const next = await purchases.pay({ header: headerOf(v1, paymentBy(accountOf(7))) });
    expect(next.status).toBe(status);
    if (status === 402) expectRefused(next, /smart_account_did_not_settle/);
  });

  it('I43: a signature has at most 2048 bytes', async () => {
    const purchases = asking();
    const of = (bytes: number) => headerOf(v1, paymentBy(accountOf(7), `0x${'77'.repeat(bytes)}`));
    expect((await purchases.pay({ header: of(2048) })).status).toBe(200);
    expectRefused(await purchases.pay({ header: of(2049) }), /longer than 2048 bytes/);
    expectRefused(
      await purchases.pay({ header: of((SIGNATURE_CHARS - 4) / 2) }),
      /shorter than 65/,
    );
    const odd = paymentObject(v1, paymentBy(accountOf(7), `0x${'7'.repeat(161)}`));
    expectRefused(await purchases.pay({ header: encoded(odd) }), /"payload.signature" is missing/);
    expect(purchases.calls.verify).toHaveLength(1);
  });
});
