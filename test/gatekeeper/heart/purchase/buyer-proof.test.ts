import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sqliteJournal } from '../../../../gatekeeper/heart/journal/sqlite-journal.ts';
import { challenger } from '../../../../gatekeeper/heart/offer/challenge.ts';
import { SmartAccounts } from '../../../../gatekeeper/heart/payment/payer-admission.ts';
import { purchaseService } from '../../../../gatekeeper/heart/purchase/purchase-service.ts';
import type { SettleOutcome } from '../../../../gatekeeper/settle/facilitator.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import type { Reply } from '../../../../gatekeeper/wire/reply.ts';
import { headerOf, NOW_MS, type SignedPayment } from '../../payer.ts';
import {
  alice,
  at,
  BASE,
  type Bench,
  bench,
  buy,
  expectRefused,
  gauge,
  HERE,
  header,
  json,
  message,
  PAY_TO,
  settled,
  shop,
  TARGET,
  tick,
  v1,
  v2,
} from '../../payment-bench.ts';

const ELSEWHERE = '198.51.100.7';
const ID = 'pay_0123456789abcdef';
const OTHER = '/gauge?entity=us-boise&signal_id=airquality.aqi';
const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000];
const DEARER = '/gauge/bundle?entity=us-denver&signal_id=airquality.aqi';

/** Somebody else, who has the header and may have more: never bytes, whatever is asked. */
async function expectStranger(reply: Reply, wrong?: RegExp): Promise<void> {
  expect(reply.status).toBe(402);
  const { x402Version, error, code, accepts } = json(reply);
  expect([x402Version, code, accepts]).toEqual([1, 'sign_in_to_redeliver', []]);
  expect(error).toMatch(wrong ?? /^sign_in_to_redeliver: .*payment identifier.*SIGN-IN-WITH-X/);
  expect(reply.headers.map(([name]) => name).sort()).toEqual(['cache-control', 'content-type']);
}

/** A purchase from HERE, with the same payment in the headers of both versions. */
async function sold(purchases: Bench, identifier?: string, status = 200) {
  const signed = await alice.sign(PAY_TO, '10000');
  const first = {
    header: headerOf(v1, signed),
    ...(identifier === undefined ? {} : { identifier }),
  };
  const reply = await purchases.pay(first);
  expect(reply.status).toBe(status);
  return { signed, first, reply, ...ways(signed) };
}

/** What a reader of the chain sends. */
function ways(signed: SignedPayment) {
  const orders = [
    { header: headerOf(v1, signed), version: 1, client: ELSEWHERE },
    { header: headerOf(v2, signed), version: 2, client: ELSEWHERE },
  ] as const;
  return { stolen: orders[0], orders };
}

describe('who gets the answer of a payment again', () => {
  it('I59: a header from elsewhere gets one refusal for every request, in both versions, and nothing is computed', async () => {
    const purchases = bench();
    const { orders, reply } = await sold(purchases);
    const made = purchases.calls.deliver;
    const replies = [];
    for (const order of orders)
      for (const target of [TARGET, OTHER, DEARER])
        replies.push(await purchases.pay({ ...order, target }));
    for (const one of replies) {
      await expectStranger(one);
      expect(one).toStrictEqual(replies[0]);
      expect(one.body).not.toEqual(reply.body);
    }
    expect(purchases.calls.deliver).toBe(made);
    expect(purchases.calls.settle).toHaveLength(1);
    expect((await purchases.pay({ header: orders[0].header })).body).toEqual(reply.body);
  });

  it('I59: the identifier of the first request proves its buyer from anywhere for 29 days, in both versions', async () => {
    const purchases = bench();
    const { stolen, orders, reply } = await sold(purchases, ID);
    purchases.restart();
    purchases.script.now += 29 * DAY_MS;
    for (const order of orders) {
      expect((await purchases.pay({ ...order, identifier: ID })).body).toEqual(reply.body);
      await expectStranger(await purchases.pay({ ...order, identifier: `${ID}0` }));
    }
    for (const identifier of ['short', '', `${ID}, ${ID}`])
      await expectStranger(await purchases.pay({ ...stolen, identifier }));
    const other = await purchases.pay({ ...stolen, identifier: ID, target: OTHER });
    expectRefused(other, /^payment_already_used: /);
  });

  it('I59: an identifier proves nothing where the first request had none, or belongs to another account', async () => {
    const purchases = bench();
    const { stolen } = await sold(purchases);
    await expectStranger(await purchases.pay({ ...stolen, identifier: ID }));
    const named = await sold(purchases, ID);
    await expectStranger(await purchases.pay({ ...stolen, identifier: ID }));
    expect((await purchases.pay({ ...named.stolen, identifier: ID })).status).toBe(200);
  });

  it('I59: the header alone is enough from its first address for ten minutes, and from no other', async () => {
    const purchases = bench();
    const { first, stolen, reply } = await sold(purchases);
    purchases.restart();
    purchases.script.now += 10 * MINUTE_MS;
    expect((await purchases.pay(first)).body).toEqual(reply.body);
    await expectStranger(await purchases.pay(stolen));
    purchases.script.now += 1;
    await expectStranger(await purchases.pay(first));
    purchases.script.now -= 20 * MINUTE_MS + 2;
    await expectStranger(await purchases.pay(first));
  });

  it('I59: one IPv6 /64 is one address, a mapped IPv4 address is that one, and what a proxy hides is none', async () => {
    for (const [client, again, other] of [
      ['2001:db8:1:2::3', '2001:db8:1:2:ffff::9', '2001:db8:1:3::3'],
      ['::ffff:192.0.2.9', '192.0.2.9', '192.0.2.10'],
    ] as const) {
      const purchases = bench();
      const value = await alice.header(v1);
      expect((await purchases.pay({ header: value, client })).status).toBe(200);
      expect((await purchases.pay({ header: value, client: again })).status).toBe(200);
      await expectStranger(await purchases.pay({ header: value, client: other }));
      await expectStranger(await purchases.pay({ header: value, client: null }));
    }
    const purchases = bench();
    const value = await alice.header(v1);
    expect((await purchases.pay({ header: value, client: null })).status).toBe(200);
    for (const client of [null, HERE])
      await expectStranger(await purchases.pay({ header: value, client }));
  });

  it('I59: a token is never given for a header alone: not from its address, not in doubt, and for a proof it is', async () => {
    const token = { target: '/gauge/subscribe', endpoint: { ...gauge, path: '/gauge/subscribe' } };
    for (const lost of [false, true]) {
      const purchases = bench();
      if (lost) purchases.script.settle = async () => ({ verdict: 'none', detail: 'timeout' });
      const order = { ...token, header: await alice.header(v1), identifier: ID };
      const first = await purchases.pay(order);
      expect(first.status).toBe(lost ? 503 : 200);
      purchases.script.settle = settled;
      purchases.wait();
      const { identifier: _, ...alone } = order;
      await expectStranger(await purchases.pay(alone));
      const proven = await purchases.pay({ ...order, client: ELSEWHERE });
      expect([proven.status, proven.body]).toEqual([200, Buffer.from('{"body":1}')]);
      await expectStranger(await purchases.pay(alone));
    }
  });

  it('I59: while a doubt lasts its first address is enough, and ten minutes from its end', async () => {
    const purchases = bench();
    purchases.script.settle = async () => ({ verdict: 'none', detail: 'timeout' });
    const { first, stolen } = await sold(purchases, undefined, 503);
    for (const target of [TARGET, OTHER])
      await expectStranger(await purchases.pay({ ...stolen, target }));
    purchases.script.now += 25 * MINUTE_MS;
    await expectStranger(await purchases.pay(stolen));
    expect(purchases.calls.settle).toHaveLength(1);
    purchases.script.settle = settled;
    expect((await purchases.pay(first)).status).toBe(200);
    await expectStranger(await purchases.pay(stolen));
    purchases.script.now += 10 * MINUTE_MS;
    expect((await purchases.pay(first)).status).toBe(200);
    purchases.script.now += 1;
    await expectStranger(await purchases.pay(first));
  });

  it('I59: in flight its buyer awaits the same outcome, and nobody else joins', async () => {
    const purchases = bench();
    const landing: ((outcome: SettleOutcome) => void)[] = [];
    purchases.script.settle = () => new Promise((resolve) => landing.push(resolve));
    const signed = await alice.sign(PAY_TO, '10000');
    const { stolen, orders } = ways(signed);
    const order = { header: headerOf(v1, signed), identifier: ID };
    const first = purchases.pay(order);
    while (landing.length === 0) await tick(1);
    const copies = [
      purchases.pay({ header: order.header }),
      purchases.pay({ ...order, client: ELSEWHERE }),
      purchases.pay({ ...stolen, signIn: await message() }),
    ];
    for (const stranger of orders)
      for (const target of [TARGET, OTHER])
        await expectStranger(await purchases.pay({ ...stranger, target }));
    landing[0]?.({ verdict: 'settled', transaction: '0x1' });
    const replies = await Promise.all([first, ...copies]);
    expect(replies.map(({ status, body }) => [status, String(body)])).toEqual(
      Array(4).fill([200, '{"body":1}']),
    );
    expect(purchases.calls.settle).toHaveLength(1);
  });

  it('I59: in flight before it is written down, too: whoever brings a header first is its bearer', async () => {
    const purchases = bench();
    const checks: (() => void)[] = [];
    purchases.script.verify = () =>
      new Promise((resolve) => checks.push(() => resolve({ verdict: 'valid' })));
    const signed = await alice.sign(PAY_TO, '10000');
    const bearer = purchases.pay({ header: headerOf(v1, signed) });
    while (checks.length === 0) await tick(1);
    await expectStranger(await purchases.pay(ways(signed).stolen));
    checks[0]?.();
    expect((await bearer).status).toBe(200);
  });

  it('I59: a request that was read while the buyer began gets nothing either', async () => {
    const held: (() => void)[] = [];
    let isSlow = true;
    const judge = (): Promise<void> =>
      isSlow ? new Promise((resolve) => held.push(resolve)) : Promise.resolve();
    const purchases = bench({ signatures: { judge } });
    const signed = await alice.sign(PAY_TO, '10000');
    const early = purchases.pay(ways(signed).stolen);
    while (held.length === 0) await tick(1);
    isSlow = false;
    expect((await purchases.pay({ header: headerOf(v1, signed) })).status).toBe(200);
    held[0]?.();
    await expectStranger(await early);
  });

  it('I59: nor does one that another gatekeeper of the journal was faster than', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'two-shops-')), 'payments.db');
    const clock = (): number => NOW_MS;
    const value = await alice.header(v1);
    const deliver = async () => ({ body: Buffer.from('sold'), contentType: 'text/plain' });
    const open = (verify: () => Promise<void>) => {
      const journal = sqliteJournal({ path, clock });
      const facilitator = {
        verify: async () => verify().then(() => ({ verdict: 'valid' }) as const),
        settle: settled,
        supported: async () => ({ verdict: 'none', detail: '' }) as const,
      };
      const service = purchaseService({
        journal,
        facilitator,
        challenger: shop,
        clock,
        verifyFirst: true,
      });
      return { journal, pay: (client: string) => buy(service, { header: value, deliver, client }) };
    };
    const one = open(async () => {});
    let first: Reply | null = null;
    const other = open(async () => {
      first = await one.pay(HERE);
    });
    await expectStranger(await other.pay(ELSEWHERE));
    expect(first).toMatchObject({ status: 200 });
    expect((await other.pay(HERE)).status).toBe(200);
    one.journal.close();
    other.journal.close();
  });

  it('I59: what was taken by other settings is kept for its buyer alone', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'kept-')), 'payments.db');
    const clock = (): number => NOW_MS;
    const journal = sqliteJournal({ path, clock });
    const facilitator = {
      verify: async () => ({ verdict: 'valid' }) as const,
      settle: settled,
      supported: async () => ({ verdict: 'none', detail: '' }) as const,
    };
    const before = purchaseService({ journal, facilitator, challenger: shop, clock });
    const deliver = async () => ({ body: Buffer.from('sold'), contentType: 'text/plain' });
    const order = { header: await alice.header(v1), deliver };
    expect((await buy(before, order)).status).toBe(200);
    const elsewhere = challenger({
      baseUrl: BASE,
      payTo: PAY_TO,
      network: NETWORKS.polygon,
      serviceName: 'A',
    });
    const after = purchaseService({ journal, facilitator, challenger: elsewhere, clock });
    for (const target of [TARGET, OTHER])
      await expectStranger(await buy(after, { ...order, target, client: ELSEWHERE }));
    expect(String((await buy(after, order)).body)).toBe('sold');
    journal.close();
  });

  it('I59: a row of before, without address and identifier, is for who signs in', async () => {
    const purchases = bench();
    const value = await alice.header(v1);
    expect((await purchases.pay({ header: value, client: null })).status).toBe(200);
    await expectStranger(await purchases.pay({ header: value }));
    const proven = await purchases.pay({ header: value, client: null, signIn: await message() });
    expect(proven.status).toBe(200);
  });

  it('I59: after ten refusals in a minute a payment has 429 for right and wrong requests, its buyer never', async () => {
    const purchases = bench();
    const { first, stolen } = await sold(purchases, ID);
    const other = await sold(purchases);
    for (let times = 0; times < 10; times++)
      await expectStranger(await purchases.pay({ ...stolen, target: times % 2 ? OTHER : TARGET }));
    purchases.script.now += 20_000;
    const refused = [TARGET, OTHER].map((target) => purchases.pay({ ...stolen, target }));
    const [right, wrong] = await Promise.all(refused);
    expect(right).toMatchObject({ status: 429 });
    expect(right).toStrictEqual(wrong);
    expect(header(right as Reply, 'retry-after')).toBe('40');
    expect((await purchases.pay({ ...stolen, identifier: ID })).status).toBe(200);
    expect(
      (await purchases.pay({ ...stolen, signIn: await message({ issuedAt: at(20_000) }) })).status,
    ).toBe(200);
    expect((await purchases.pay(first)).status).toBe(200);
    await expectStranger(await purchases.pay(other.stolen));
    purchases.script.now += 40_000;
    await expectStranger(await purchases.pay(stolen));
  });

  it('I49: the identifier and the address reach neither the facilitator nor the journal in plain words', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'plain-')), 'payments.db');
    const journal = sqliteJournal({ path, clock: () => NOW_MS });
    const purchases = bench({ journal });
    for (const version of [1, 2] as const) {
      const value = await alice.header(version === 1 ? v1 : v2);
      const order = { header: value, version, identifier: `${ID}${version}` };
      expect((await purchases.pay(order)).status).toBe(200);
    }
    const { verify, settle } = purchases.calls;
    expect([verify.length, settle.length]).toEqual([2, 2]);
    expect(
      JSON.stringify([verify, settle].map((calls) => calls.map(({ trace: _, ...sent }) => sent))),
    ).not.toMatch(/pay_0123456789|192\.0\.2/);
    journal.close();
    expect(readFileSync(path).toString('latin1')).not.toMatch(/pay_0123456789|192\.0\.2/);
  });
});

describe('SIGN-IN-WITH-X beside a payment', () => {
  it('I59: proves its buyer from anywhere, after two hours and after 29 days, with a new message each time', async () => {
    const purchases = bench();
    const { orders, reply } = await sold(purchases);
    for (const ms of [0, 2 * 60 * MINUTE_MS, 29 * DAY_MS]) {
      purchases.script.now = NOW_MS + ms;
      purchases.restart();
      for (const order of orders) {
        const signIn = await message({ issuedAt: at(ms) });
        expect((await purchases.pay({ ...order, signIn })).body).toEqual(reply.body);
        await expectStranger(await purchases.pay({ ...order, signIn }), /^invalid_siwx_nonce: /);
      }
    }
    expect(purchases.calls.settle).toHaveLength(1);
  });

  it.each<[string, () => Promise<string>, RegExp]>([
    ['another account', () => message({}, {}, 'bob'), /^invalid_siwx_payer: /],
    ['a changed message', () => message({}, { nonce: 'changed0' }), /^invalid_siwx_signature: /],
    ['another request', () => message({ uri: BASE + OTHER }), /^invalid_siwx_uri_mismatch: /],
    [
      'another service',
      () => message({ domain: 'evil.example' }),
      /^invalid_siwx_domain_mismatch: /,
    ],
    [
      'an old message',
      () => message({ issuedAt: at(-300_001) }),
      /^invalid_siwx_issued_at_too_old: /,
    ],
    ['nothing', async () => '', /^invalid_siwx_payload: /],
  ])('I59: %s proves nothing', async (_name, text, why) => {
    const purchases = bench();
    const { stolen } = await sold(purchases);
    await expectStranger(await purchases.pay({ ...stolen, signIn: await text() }), why);
  });

  it('I59: its payer asks about a doubt from elsewhere, and hears what is wrong with another request', async () => {
    const purchases = bench();
    purchases.script.settle = async () => ({ verdict: 'none', detail: 'timeout' });
    const { stolen } = await sold(purchases, undefined, 503);
    purchases.wait();
    const soon = { issuedAt: at(5000) };
    expect((await purchases.pay({ ...stolen, signIn: await message(soon) })).status).toBe(503);
    purchases.script.settle = settled;
    purchases.wait();
    const late = { issuedAt: at(10_000) };
    expect((await purchases.pay({ ...stolen, signIn: await message(late) })).status).toBe(200);
    const signIn = await message({ ...late, uri: BASE + OTHER });
    expectRefused(
      await purchases.pay({ ...stolen, signIn, target: OTHER }),
      /^payment_already_used: /,
    );
  });

  it('a payment that nobody knows is bought with, and the message is not used up', async () => {
    const purchases = bench();
    const signIn = await message();
    expect((await purchases.pay({ header: await alice.header(v1), signIn })).status).toBe(200);
    const { stolen } = await sold(purchases);
    expect((await purchases.pay({ ...stolen, signIn })).status).toBe(200);
  });
});

describe('an account with code that signs in', () => {
  const code = `0x${'ab'.repeat(200)}`;
  const asked: string[] = [];
  const asksCode = async ({
    address,
    signature,
    network,
  }: {
    address: string;
    signature: string;
    network: { name: string };
  }) => {
    asked.push(network.name);
    return signature === code && address === alice.address.toLowerCase();
  };
  const wallet = { accounts: new SmartAccounts(() => NOW_MS), asksCode };
  const byCode = (changes: object = {}) => message(changes, { signature: code });

  async function soldByCode(purchases: Bench) {
    const { authorization } = await alice.sign(PAY_TO, '10000');
    const signed = { authorization, signature: `0x${'cd'.repeat(100)}` } as const;
    const reply = await purchases.pay({ header: headerOf(v1, signed) });
    expect(reply.status).toBe(200);
    return { reply, ...ways(signed) };
  }

  it('I59: gets its answer by the word of its code, beside the payment and alone', async () => {
    const purchases = bench(wallet);
    const { stolen, reply } = await soldByCode(purchases);
    expect((await purchases.pay({ ...stolen, signIn: await byCode() })).body).toEqual(reply.body);
    const alone = await purchases.service().open({
      ...{ endpoint: gauge, target: TARGET, method: 'GET' },
      paymentHeader: { kind: 'sign-in', text: await byCode() },
    });
    expect(alone).toMatchObject({ status: 200, body: reply.body });
    const wrong = await message({}, { signature: `0x${'ef'.repeat(200)}` });
    await expectStranger(
      await purchases.pay({ ...stolen, signIn: wrong }),
      /^invalid_siwx_signature: /,
    );
  });

  it('I59: is asked on the chain of the payment alone: on another one its address may be somebody else', async () => {
    const networks = { network: NETWORKS.base, furtherNetworks: [NETWORKS.polygon] };
    const two = challenger({ baseUrl: BASE, payTo: PAY_TO, ...networks, serviceName: 'A' });
    const purchases = bench({ ...wallet, challenger: two });
    const { stolen } = await soldByCode(purchases);
    const elsewhere = { chainId: NETWORKS.polygon.caip2 };
    asked.length = 0;
    const signIn = await byCode(elsewhere);
    await expectStranger(await purchases.pay({ ...stolen, signIn }), /^invalid_siwx_payer: /);
    expect(asked).toEqual([]);
    const alone = await purchases.service().open({
      ...{ endpoint: gauge, target: TARGET, method: 'GET' },
      paymentHeader: { kind: 'sign-in', text: await byCode(elsewhere) },
    });
    expect(alone).not.toHaveProperty('status');
    // The key of a plain account is the same everywhere.
    const plain = await sold(purchases);
    expect(
      (await purchases.pay({ ...plain.stolen, signIn: await message(elsewhere) })).status,
    ).toBe(200);
  });

  it('I59: is refused with words where nobody can be asked, or nobody answers, and asked a few times at most', async () => {
    const { asksCode: _, ...unable } = wallet;
    const purchases = bench(unable);
    const { stolen } = await soldByCode(purchases);
    await expectStranger(
      await purchases.pay({ ...stolen, signIn: await byCode() }),
      /^invalid_siwx_signature: .*needs a chain node/,
    );
    let asks = 0;
    const silent = async (): Promise<boolean> => {
      asks += 1;
      throw new Error('timeout');
    };
    const mute = bench({ ...wallet, asksCode: silent });
    const one = await soldByCode(mute);
    for (let times = 0; times < 30; times++) {
      const { status } = await mute.pay({ ...one.stolen, signIn: await byCode() });
      expect([402, 429]).toContain(status);
    }
    expect(asks).toBe(10);
  });

  it('I59: what its code refused is not asked again for ten seconds', async () => {
    let asks = 0;
    const refuses = async (): Promise<boolean> => {
      asks += 1;
      return false;
    };
    const purchases = bench({ ...wallet, asksCode: refuses });
    const { stolen } = await soldByCode(purchases);
    const signIn = await byCode();
    for (let times = 0; times < 3; times++) await purchases.pay({ ...stolen, signIn });
    expect(asks).toBe(1);
    purchases.script.now += 10_000;
    await purchases.pay({ ...stolen, signIn });
    expect(asks).toBe(2);
  });
});

describe('a payment that was refused', () => {
  it('I10: is anybody’s to bring again: nothing was sold for it', async () => {
    const purchases = bench();
    purchases.script.settle = async () => ({ verdict: 'refused', reason: 'insufficient_funds' });
    const { stolen, first } = await sold(purchases, ID, 402);
    purchases.script.settle = settled;
    expect((await purchases.pay({ ...stolen, target: OTHER })).status).toBe(200);
    await expectStranger(await purchases.pay(first));
  });
});

const DAY = 86_400_000;

/** A request with this message; `sell` shows that what cannot be answered is never refused for money. */
async function signIn(purchases: Bench, text: string, target = TARGET): Promise<Reply> {
  const paymentHeader = { kind: 'sign-in', text } as const;
  const asked = { endpoint: gauge, target, method: 'GET', paymentHeader };
  const opened = await purchases.service().open(asked);
  const delivery = { body: Buffer.from('never'), contentType: 'text/plain' };
  return 'sell' in opened ? opened.sell(delivery) : opened;
}

async function soldFor(overrides: Parameters<typeof bench>[0] = {}) {
  const purchases = bench(overrides);
  const first = await purchases.pay({ header: await alice.header(v1) });
  expect(first.status).toBe(200);
  return { purchases, first };
}

describe('signing in', () => {
  it('I2: an account that paid gets the same bytes again, and nobody is asked for money', async () => {
    const { purchases, first } = await soldFor();
    const again = await signIn(purchases, await message());
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(header(again, 'cache-control')).toBe('private, no-store');
    expect(header(again, 'content-type')).toBe('application/json');
    expect(purchases.calls.settle).toHaveLength(1);
  });

  it('I2: also after a restart, with every member that a message may have', async () => {
    const { purchases, first } = await soldFor();
    purchases.restart();
    const full = {
      statement: 'Get it again',
      expirationTime: at(60_000),
      notBefore: at(-1000),
      requestId: 'r-1',
    };
    expect((await signIn(purchases, await message(full))).body).toEqual(first.body);
  });

  it('I1: gives the newest sale of this account for this request, and nothing of another account or request', async () => {
    const { purchases, first } = await soldFor();
    const later = await purchases.pay({ header: await alice.header(v1) });
    expect(later.body).not.toEqual(first.body);
    expect((await signIn(purchases, await message())).body).toEqual(later.body);
    const bob = await signIn(purchases, await message({}, {}, 'bob'));
    expectRefused(bob, /^siwx_not_paid: /);
    const other = await message({ uri: BASE + OTHER });
    expectRefused(await signIn(purchases, other, OTHER), /^siwx_not_paid: /);
    expectRefused(await signIn(purchases, await message(), OTHER), /siwx_uri_mismatch/);
  });

  it('I1: gives nothing for a payment that did not settle', async () => {
    for (const verdict of [
      { verdict: 'none', detail: 'timeout' },
      { verdict: 'refused', reason: 'insufficient_funds' },
    ] as const) {
      const purchases = bench();
      purchases.script.settle = async () => verdict;
      await purchases.pay({ header: await alice.header(v1) });
      const reply = await signIn(purchases, await message());
      expectRefused(reply, /^siwx_not_paid: .*if you sent one, send the same payment again/);
    }
  });

  it.each<[string, object, object, RegExp]>([
    ['another service', { domain: 'evil.example' }, {}, /siwx_domain_mismatch/],
    ['a URL of another service', { uri: `https://evil.example${TARGET}` }, {}, /siwx_uri_mismatch/],
    ['a chain that is not offered', { chainId: 'eip155:1' }, {}, /siwx_unsupported_chain/],
    ['an old message', { issuedAt: at(-300_001) }, {}, /siwx_issued_at_too_old/],
    ['a message of the future', { issuedAt: at(6000) }, {}, /siwx_issued_at_in_future/],
    ['one that is over', { expirationTime: at(-1) }, {}, /siwx_expired/],
    ['one that is not yet valid', { notBefore: at(1000) }, {}, /siwx_not_yet_valid/],
    [
      'a line that a wallet did not show',
      { statement: 'a\nURI: b' },
      {},
      /siwx_payload.*statement/,
    ],
    ['a short nonce', { nonce: 'abc' }, {}, /siwx_payload.*nonce/],
    ['a changed message', {}, { nonce: 'changed0' }, /siwx_signature/],
    ['a foreign address', {}, { address: `0x${'cd'.repeat(20)}` }, /siwx_signature/],
    ['a longer signature', {}, { signature: `0x${'ab'.repeat(66)}` }, /siwx_signature/],
    ['another kind of signature', {}, { type: 'ed25519' }, /siwx_payload.*type/],
  ])('I1: refuses %s by name', async (...[, changes, after, reason]) => {
    const { purchases } = await soldFor();
    expectRefused(await signIn(purchases, await message(changes, after)), reason);
    expect(purchases.calls.settle).toHaveLength(1);
  });

  it.each(['', 'no base64!', 'e30=', 'AAAA', `${'QQ=='}, ${'QQ=='}`, 'A'.repeat(9000)])(
    'I1: refuses %j',
    async (text) => {
      const { purchases } = await soldFor();
      expectRefused(await signIn(purchases, text), /siwx_payload/);
    },
  );

  it('I1: a message fetches once, and the message of the next 402 again', async () => {
    const { purchases, first } = await soldFor();
    const text = await message();
    const replies = await Promise.all([signIn(purchases, text), signIn(purchases, text)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 402]);
    expectRefused(await signIn(purchases, text), /siwx_nonce/);
    expect((await signIn(purchases, await message())).body).toEqual(first.body);
  });

  it('I59: a message that fetched something works no more after a restart', async () => {
    const { purchases } = await soldFor();
    const text = await message();
    expect((await signIn(purchases, text)).status).toBe(200);
    purchases.restart();
    expectRefused(await signIn(purchases, text), /siwx_nonce/);
  });

  it('I9: what is no longer stored is named, and nothing is soldFor in its place', async () => {
    const { purchases } = await soldFor();
    purchases.script.now += 40 * DAY;
    await purchases.pay({ header: await alice.header(v1, window(40 * DAY)), target: OTHER });
    const issuedAt = at(40 * DAY);
    await expect
      .poll(async () => json(await signIn(purchases, await message({ issuedAt }))).error)
      .toMatch(/paid_answer_no_longer_kept/);
  });
});

function window(ms: number) {
  const nowS = (NOW_MS + ms) / 1000;
  return { validAfter: String(nowS - 60), validBefore: String(nowS + 300) };
}
