import { describe, expect, it } from 'vitest';
import { SmartAccounts } from '../../../../gatekeeper/heart/payment/payer-admission.ts';
import type { CheckResult } from '../../../../gatekeeper/heart/payment/tender.ts';
import { SIGNATURE_CHARS } from '../../../../gatekeeper/settle/signature.ts';
import {
  encoded,
  freshNonce,
  headerOf,
  NOW_MS,
  NOW_S,
  paymentObject,
  type SignedPayment,
} from '../../payer.ts';
import { alice, bench, expectRefused, json, keyOf, PAY_TO, v1, v2 } from '../../payment-bench.ts';

/** Checks a second of one account from one address, of one account and of all; for how many seconds at once. */
const [PER_PAIR_S, PER_ACCOUNT_S, PER_ALL_S, BURST_S] = [1, 4, 20, 5];
/** In flight, of one account from one address, of one account and of all. */
const [OF_PAIR_MAX, OF_ACCOUNT_MAX, CHECKS_MAX] = [2, 4, 16];
const [REFUSAL_MS, FAILED_MS, FAILED_MAX] = [10_000, 600_000, 10];
const BUSY = { kind: 'held', limit: 'smart_accounts' };
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

/** What is due on a token; by itself on the same one, and from the same address, as all others here. */
const dueFor = (payment: SignedPayment, token = 'usdc', client = '10.0.0.1') => ({
  key: `base|${token}|${payment.authorization.from}|${payment.authorization.nonce}`,
  payment,
  client,
  hasPaid: async () => false,
});

/** Bounds with a clock of their own, and what came of many checks at once. */
function bounds() {
  const at = { ms: NOW_MS };
  const accounts = new SmartAccounts(() => at.ms);
  const calls = { asked: 0 };
  const check = (from: string, client?: string) =>
    accounts.check(dueFor(paymentBy(from), 'usdc', client), async () => {
      calls.asked += 1;
      return null;
    });
  return { at, accounts, calls, check };
}

describe('SmartAccounts', () => {
  /** One of many addresses. */
  const clientOf = (at: number): string => `10.1.${at >> 8}.${at & 255}`;

  it('I54: asks about one account, and about all of them, at a bounded rate', async () => {
    const { at, calls, check } = bounds();
    for (let i = 0; i < 100; i++) await check(accountOf(1));
    expect(calls.asked, 'from one address').toBe(PER_PAIR_S * BURST_S);
    for (let i = 0; i < 100; i++) await check(accountOf(1), clientOf(i));
    expect(calls.asked, 'from many').toBe(PER_ACCOUNT_S * BURST_S);
    for (let i = 2; i < 1000; i++) await check(accountOf(i));
    expect(calls.asked).toBe(PER_ALL_S * BURST_S);
    expect(await check(accountOf(5000))).toMatchObject(BUSY);
    at.ms += 1000;
    expect(await check(accountOf(5000))).toBeNull();
    for (let i = 0; i < 1000; i++) await check(accountOf(6000 + i));
    expect(calls.asked).toBe(PER_ALL_S * (BURST_S + 1));
  });

  it('I60: what others bring in the name of an account takes nothing from the address that paid for it', async () => {
    const { at, accounts, check } = bounds();
    const [own, wallet] = ['192.0.2.1', accountOf(1)];
    for (let i = 0; i < 50; i++) await check(wallet, clientOf(0));
    expect(await check(wallet, own), 'a share of its own before the first sale').toBeNull();
    accounts.settled(paymentBy(wallet), own);
    const outcomes: (CheckResult | null)[] = [];
    for (let second = 0; second < 30; second++) {
      for (let i = 0; i < 100; i++) await check(wallet, clientOf(i));
      outcomes.push(await check(wallet, own));
      expect(await check(wallet, clientOf(200)), 'they share the rest').toMatchObject(BUSY);
      at.ms += 1000;
    }
    expect(outcomes).toEqual(new Array(30).fill(null));
  });

  it('I60: one IPv6 customer has one share', async () => {
    const { calls, check } = bounds();
    for (let i = 0; i < 50; i++) await check(accountOf(1), `2001:db8:1:2::${i.toString(16)}`);
    expect(calls.asked).toBe(PER_PAIR_S * BURST_S);
    expect(await check(accountOf(1), '2001:db8:1:3::1')).toBeNull();
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
    const start = (from: string, client?: string) =>
      accounts.check(dueFor(paymentBy(from), 'usdc', client), () => hung);
    const own = Array.from({ length: OF_PAIR_MAX }, () => start(accountOf(1)));
    expect(await start(accountOf(1))).toMatchObject(BUSY);
    own.push(...[2, 3].map((at) => start(accountOf(1), clientOf(at))));
    expect(own).toHaveLength(OF_ACCOUNT_MAX);
    expect(await start(accountOf(1), clientOf(4))).toMatchObject(BUSY);
    const others = Array.from({ length: CHECKS_MAX - OF_ACCOUNT_MAX }, (_, at) =>
      start(accountOf(2 + at)),
    );
    expect(await start(accountOf(99))).toMatchObject(BUSY);
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
    for (let i = 0; i < 2 * OF_PAIR_MAX; i++) {
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
    accounts.settled(paymentBy(bad), '10.0.0.1');
    expect(await check(bad)).toBeNull();
    accounts.failed(paymentBy(bad));
    at.ms += FAILED_MS;
    expect(await check(bad)).toBeNull();
  });

  it('takes none that never paid while too many of them did so', async () => {
    const { at, accounts, check } = bounds();
    for (let i = 1; i < FAILED_MAX; i++) accounts.failed(paymentBy(accountOf(i)));
    expect(await check(accountOf(100))).toBeNull();
    at.ms += 1000;
    accounts.failed(paymentBy(accountOf(FAILED_MAX)));
    expect(await check(accountOf(100))).toMatchObject(BUSY);
    const paidBefore = { ...dueFor(paymentBy(accountOf(101))), hasPaid: async () => true };
    expect(await accounts.check(paidBefore, async () => null), 'who paid before').toBeNull();
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
