import { describe, expect, it } from 'vitest';
import {
  type AskStanding,
  PayerAdmission,
  SmartAccounts,
} from '../../../../gatekeeper/heart/payment/payer-admission.ts';
import type { AccountStanding } from '../../../../gatekeeper/settle/evidence.ts';
import type { Reply } from '../../../../gatekeeper/wire/reply.ts';
import { headerOf, NOW_MS, NOW_S, payer, type SignedPayment } from '../../payer.ts';
import {
  alice,
  type Bench,
  bench,
  expectRefused,
  header,
  json,
  keyOf,
  network,
  PAY_TO,
  settled,
  tick,
  v1,
} from '../../payment-bench.ts';

const PRICE = 10_000n;
const [DISTRUST_MS, BALANCE_MS, PLAIN_MS] = [60_000, 2000, 5000];
/** What strangers of one address may cause at once, of a node and of a facilitator. */
const [NODE_BURST, VERIFY_BURST] = [20, 20];

/** What a node says of accounts; nothing of one that is not named. */
interface Node {
  readonly balances: Record<string, bigint>;
  readonly used: Set<string>;
  readonly code: Set<string>;
  isSilent: boolean;
  asked: number;
}

interface Shop {
  readonly purchases: Bench;
  readonly node: Node;
  readonly accounts: SmartAccounts;
  /** Milliseconds until the facilitator takes calls again. */
  busyMs: number;
  /** Pays from an address, by itself always the same one. */
  pay(header: string, client?: string): Promise<Reply>;
  rows(...headers: readonly string[]): Promise<number>;
}

/** A shop with an admission, and with a node or without one. */
function shopWith(hasNode: boolean): Shop {
  const node: Node = {
    balances: {},
    used: new Set(),
    code: new Set(),
    isSilent: false,
    asked: 0,
  };
  const standing: AskStanding = async (_, { from, nonce }, asksCode) => {
    node.asked += 1;
    await tick(1);
    if (node.isSilent) return null;
    const account = from.toLowerCase();
    const found: AccountStanding = {
      balance: node.balances[account] ?? 0n,
      isUsed: node.used.has(nonce),
      hasCode: asksCode ? node.code.has(account) : null,
    };
    return found;
  };
  const clock = (): number => purchases.script.now;
  const accounts = new SmartAccounts(clock);
  const admission = new PayerAdmission({
    journal: { hasSettled: (account) => purchases.journal().hasSettled(account) },
    clock,
    busyMs: () => shop.busyMs,
    ...(hasNode ? { standing } : {}),
  });
  const purchases = bench({ verifyFirst: false, accounts, admission });
  let requests = 0;
  const shop: Shop = {
    purchases,
    node,
    accounts,
    busyMs: 0,
    pay(value, client = '192.0.2.1') {
      requests += 1;
      const trace = { id: `r${requests}`, sentId: `r${requests}`, client };
      return purchases.pay({ header: value, trace });
    },
    async rows(...headers) {
      const found = await Promise.all(headers.map((one) => purchases.journal().find(keyOf(one))));
      return found.filter((entry) => entry !== null).length;
    },
  };
  return shop;
}

/** Moves the money of each settlement, as a chain does. */
function moves({ purchases, node }: Shop): void {
  purchases.script.settle = async ({ paymentPayload }) => {
    const { from, value, nonce } = paymentPayload.payload.authorization;
    await tick(5);
    const left = (node.balances[from.toLowerCase()] ?? 0n) - BigInt(value);
    if (left < 0n) return { verdict: 'refused', reason: 'insufficient_funds' };
    node.balances[from.toLowerCase()] = left;
    node.used.add(nonce);
    return { verdict: 'settled', transaction: nonce };
  };
}

const headers = (count: number, by = alice): Promise<readonly string[]> =>
  Promise.all(Array.from({ length: count }, () => by.header(v1)));
const strangers = (count: number): Promise<readonly string[]> =>
  Promise.all(
    Array.from({ length: count }, (_, at) => payer(network, `stranger ${at}`).header(v1)),
  );
const statuses = (replies: readonly Reply[]): readonly number[] =>
  replies.map(({ status }) => status);
const fund = ({ node }: Shop, payments: bigint, by = alice): void => {
  node.balances[by.address.toLowerCase()] = payments * PRICE;
};
/** A payment with a signature of 65 bytes that is not its payer's. */
async function misSigned(by = alice): Promise<string> {
  const { authorization } = await by.sign(PAY_TO, '10000');
  const { signature } = await payer(network, 'somebody else').sign(PAY_TO, '10000');
  return headerOf(v1, { authorization, signature });
}
const coded = (from: string): SignedPayment => ({
  authorization: {
    from,
    to: PAY_TO,
    value: '10000',
    validAfter: '0',
    validBefore: String(NOW_S + 300),
    nonce: `0x${Buffer.from(`${from}${Math.random()}`).toString('hex').padEnd(64, '0').slice(-64)}`,
  },
  signature: `0x${'77'.repeat(80)}`,
});

describe('PayerAdmission with a chain node', () => {
  it('I60: a key without money reaches neither the journal nor the facilitator', async () => {
    const shop = shopWith(true);
    const all = await strangers(NODE_BURST);
    for (const one of all) expectRefused(await shop.pay(one), /^insufficient_funds: /);
    expect(await shop.rows(...all)).toBe(0);
    expect([shop.purchases.calls.verify, shop.purchases.calls.settle]).toEqual([[], []]);
    expect(shop.node.asked).toBe(all.length);
  });

  it('I60: one address has a share of the questions, and nobody else waits for it', async () => {
    const shop = shopWith(true);
    for (const one of await strangers(3 * NODE_BURST)) await shop.pay(one, '198.51.100.7');
    expect(shop.node.asked).toBe(NODE_BURST);
    const newcomer = await payer(network, 'newcomer').header(v1);
    const held = await shop.pay(newcomer, '198.51.100.7');
    expect([held.status, header(held, 'retry-after')]).toEqual([503, '1']);
    expect(json(held).error).toMatch(/^Not charged\. New payers have to wait/);
    fund(shop, 1n);
    expect((await shop.pay(await alice.header(v1))).status).toBe(200);
  });

  it('asks about the account of a stranger once in a while, and again when its money may have come', async () => {
    const shop = shopWith(true);
    const [one = '', two = ''] = await headers(2);
    expectRefused(await shop.pay(one), /^insufficient_funds: /);
    expectRefused(await shop.pay(two), /^insufficient_funds: /);
    expect(shop.node.asked).toBe(1);
    fund(shop, 1n);
    shop.purchases.script.now += BALANCE_MS;
    expect((await shop.pay(one)).status, 'the same payment').toBe(200);
  });

  it('I60: an authorization that was used before buys nothing and is written down nowhere', async () => {
    const shop = shopWith(true);
    fund(shop, 5n);
    const { authorization, signature } = await alice.sign(PAY_TO, '10000');
    shop.node.used.add(authorization.nonce);
    const value = headerOf(v1, { authorization, signature });
    expectRefused(await shop.pay(value), /^authorization_already_used: /);
    expect(await shop.rows(value)).toBe(0);
    expect(shop.purchases.calls.settle).toEqual([]);
  });

  it('I9: while the node gives no answer the same payment may come again, and nothing is written down', async () => {
    const shop = shopWith(true);
    fund(shop, 1n);
    shop.node.isSilent = true;
    const value = await alice.header(v1);
    const held = await shop.pay(value);
    expect([held.status, json(held).error]).toEqual([
      503,
      'Not charged. The chain cannot be asked at this moment. Send the same payment again.',
    ]);
    expect(header(held, 'retry-after')).toBe('2');
    expect(await shop.rows(value)).toBe(0);
    shop.node.isSilent = false;
    expect((await shop.pay(value)).status).toBe(200);
  });

  it('a known payer costs no question, and is known by the journal', async () => {
    const shop = shopWith(true);
    fund(shop, 9n);
    expect((await shop.pay(await alice.header(v1))).status).toBe(200);
    for (const one of await headers(3)) expect((await shop.pay(one)).status).toBe(200);
    expect(shop.node.asked).toBe(1);
    const journal = { hasSettled: shop.purchases.journal().hasSettled };
    const restarted = new PayerAdmission({ journal, clock: () => NOW_MS });
    expect(await restarted.hasPaid(keyOf(await alice.header(v1)))).toBe(true);
    expect(await restarted.hasPaid(keyOf(await payer(network, 'bob').header(v1)))).toBe(false);
  });

  it.each([
    ['a stranger', false],
    ['a known payer', true],
  ])('I60: %s with money for one of twelve payments causes one settlement', async (_, isKnown) => {
    const shop = shopWith(true);
    moves(shop);
    fund(shop, isKnown ? 2n : 1n);
    if (isKnown) expect((await shop.pay(await alice.header(v1))).status).toBe(200);
    const before = shop.purchases.calls.settle.length;
    const all = await headers(12);
    const replies = await Promise.all(all.map((one) => shop.pay(one)));
    expect(statuses(replies).filter((status) => status === 200)).toHaveLength(1);
    expect(new Set(statuses(replies))).toEqual(new Set([200, 402]));
    expect(shop.purchases.calls.settle.length - before).toBe(1);
    expect(await shop.rows(...all)).toBe(1);
    for (const one of await headers(3)) await shop.pay(one);
    expect(shop.purchases.calls.settle.length - before).toBeLessThanOrEqual(2);
  });

  it('I60: whoever has money for all of them buys all of them at once', async () => {
    const shop = shopWith(true);
    moves(shop);
    fund(shop, 40n);
    const first = await Promise.all((await headers(10)).map((one) => shop.pay(one)));
    expect(statuses(first)).toEqual(new Array(10).fill(200));
    const more = await Promise.all((await headers(30)).map((one) => shop.pay(one)));
    expect(statuses(more)).toEqual(new Array(30).fill(200));
    expect(shop.node.balances[alice.address.toLowerCase()]).toBe(0n);
  });

  it('I60: a payment that has moved does not count twice while its end is waited for', async () => {
    const shop = shopWith(true);
    moves(shop);
    fund(shop, 2n);
    const move = shop.purchases.script.settle;
    let end = (): void => {};
    const deep = new Promise<void>((resolve) => {
      end = resolve;
    });
    shop.purchases.script.settle = async (request) => {
      const outcome = await move(request);
      await deep;
      return outcome;
    };
    const first = shop.pay(await alice.header(v1));
    await tick(30);
    const second = shop.pay(await alice.header(v1));
    await tick(30);
    expectRefused(await shop.pay(await alice.header(v1)), /^insufficient_funds: /);
    end();
    expect(statuses(await Promise.all([first, second]))).toEqual([200, 200]);
  });

  it('I60: a known payer whose settlement is refused is a stranger for a while', async () => {
    const shop = shopWith(true);
    moves(shop);
    fund(shop, 1n);
    expect((await shop.pay(await alice.header(v1))).status).toBe(200);
    const [first = '', ...others] = await headers(20);
    expectRefused(await shop.pay(first), /^insufficient_funds: /);
    const settles = shop.purchases.calls.settle.length;
    for (const one of others) expectRefused(await shop.pay(one), /^insufficient_funds: /);
    expect(shop.purchases.calls.settle).toHaveLength(settles);
    expect(await shop.rows(...others)).toBe(0);
    fund(shop, 2n);
    shop.purchases.script.now += BALANCE_MS;
    expect((await shop.pay(await alice.header(v1))).status, 'it has money again').toBe(200);
    const asked = shop.node.asked;
    expect((await shop.pay(await alice.header(v1))).status).toBe(200);
    expect(shop.node.asked, 'and is known again').toBe(asked);
    expectRefused(await shop.pay(await alice.header(v1)), /^insufficient_funds: /);
    shop.purchases.script.now += DISTRUST_MS;
    await shop.pay(await alice.header(v1));
    expect(shop.purchases.calls.settle).toHaveLength(settles + 4);
  });

  it('I60: what is in doubt counts until it ends', async () => {
    const shop = shopWith(true);
    fund(shop, 1n);
    shop.purchases.script.settle = async () => ({ verdict: 'none', detail: 'lost' });
    const doubt = await alice.header(v1);
    expect((await shop.pay(doubt)).status).toBe(503);
    expectRefused(await shop.pay(await alice.header(v1)), /^insufficient_funds: /);
    shop.purchases.script.settle = settled;
    shop.purchases.wait();
    expect((await shop.pay(doubt)).status).toBe(200);
    shop.purchases.script.now += BALANCE_MS;
    expect((await shop.pay(await alice.header(v1))).status).toBe(200);
  });

  it('I60: a wrong signature of a plain account is a 402 at once, however often, and takes nothing from smart accounts', async () => {
    const shop = shopWith(true);
    fund(shop, 5n);
    for (let i = 0; i < 50; i++) {
      expectRefused(await shop.pay(await misSigned()), /^invalid_exact_evm_payload_signature: /);
    }
    expect(shop.purchases.calls.verify).toEqual([]);
    expect(shop.node.asked, 'one cheap question').toBe(1);
    const wallet = `0x${'5c'.repeat(20)}`;
    shop.node.balances[wallet] = 10n * PRICE;
    shop.node.code.add(wallet);
    expect((await shop.pay(headerOf(v1, coded(wallet)))).status).toBe(200);
    expect(shop.purchases.calls.verify).toHaveLength(1);
  });

  it('I60: an account that gets code later is asked whether it signed (EIP-7702)', async () => {
    const shop = shopWith(true);
    fund(shop, 5n);
    const value = await misSigned();
    expectRefused(await shop.pay(value), /^invalid_exact_evm_payload_signature: /);
    shop.node.code.add(alice.address.toLowerCase());
    shop.purchases.script.now += PLAIN_MS;
    expect((await shop.pay(value)).status).toBe(200);
    expect(shop.purchases.calls.verify).toHaveLength(1);
  });

  it('an account that is not deployed yet is asked about where its signature deploys it (ERC-6492)', async () => {
    const shop = shopWith(true);
    const wallet = `0x${'5d'.repeat(20)}`;
    shop.node.balances[wallet] = PRICE;
    const payment = coded(wallet);
    const signature = `${payment.signature}${'6492'.repeat(16)}` as const;
    expect((await shop.pay(headerOf(v1, { ...payment, signature }))).status).toBe(200);
    expectRefused(
      await shop.pay(headerOf(v1, coded(wallet))),
      /^invalid_exact_evm_payload_signature: /,
    );
  });

  it('I60: made-up payments in the name of an account never count against its balance', async () => {
    const shop = shopWith(true);
    fund(shop, 1n);
    shop.node.code.add(alice.address.toLowerCase());
    let answer = (): void => {};
    const hung = new Promise<void>((resolve) => {
      answer = resolve;
    });
    shop.purchases.script.verify = async () => {
      await hung;
      return { verdict: 'invalid', reason: 'invalid_exact_evm_signature' };
    };
    const madeUp = shop.pay(await misSigned(), '198.51.100.7');
    await tick(20);
    expect((await shop.pay(await alice.header(v1))).status).toBe(200);
    answer();
    expect((await madeUp).status).toBe(402);
  });
});

describe('PayerAdmission without a node', () => {
  it('I60: the facilitator is asked about a stranger before anything is written down, and not about who paid before', async () => {
    const shop = shopWith(false);
    const { calls } = shop.purchases;
    expect((await shop.pay(await alice.header(v1))).status).toBe(200);
    expect([calls.verify.length, calls.settle.length]).toEqual([1, 1]);
    for (const one of await headers(5)) expect((await shop.pay(one)).status).toBe(200);
    expect([calls.verify.length, calls.settle.length]).toEqual([1, 6]);
  });

  it('I60: strangers have a share by address and cause no row; who paid before is not held up', async () => {
    const shop = shopWith(false);
    const { calls, script } = shop.purchases;
    expect((await shop.pay(await alice.header(v1))).status).toBe(200);
    script.verify = async () => ({ verdict: 'invalid', reason: 'insufficient_funds' });
    const all = await strangers(4 * VERIFY_BURST);
    const replies: Reply[] = [];
    for (const one of all) replies.push(await shop.pay(one, '198.51.100.7'));
    expect(calls.verify).toHaveLength(1 + VERIFY_BURST);
    expect(statuses(replies).slice(0, VERIFY_BURST)).toEqual(new Array(VERIFY_BURST).fill(402));
    expect(new Set(statuses(replies).slice(VERIFY_BURST))).toEqual(new Set([503]));
    expect(await shop.rows(...all)).toBe(0);
    expect(calls.settle).toHaveLength(1);
    expect((await shop.pay(await alice.header(v1), '198.51.100.7')).status).toBe(200);
    script.verify = async () => ({ verdict: 'valid' });
    const bob = payer(network, 'bob');
    expect((await shop.pay(await bob.header(v1), '203.0.113.9')).status).toBe(200);
  });

  it('I60: the first purchases of a new payer at once are all made, and one is asked about', async () => {
    const shop = shopWith(false);
    shop.purchases.script.settle = async () => {
      await tick(20);
      return settled();
    };
    const replies = await Promise.all((await headers(20)).map((one) => shop.pay(one)));
    expect(statuses(replies)).toEqual(new Array(20).fill(200));
    expect(shop.purchases.calls.verify).toHaveLength(1);
  });

  it('I60: of a stranger whose payments are refused one is asked about at a time', async () => {
    const shop = shopWith(false);
    let [running, most] = [0, 0];
    shop.purchases.script.verify = async () => {
      running += 1;
      most = Math.max(most, running);
      await tick(5);
      running -= 1;
      return { verdict: 'invalid', reason: 'insufficient_funds' };
    };
    const all = await headers(5);
    const replies = await Promise.all(all.map((one) => shop.pay(one)));
    expect([most, statuses(replies)]).toEqual([1, new Array(5).fill(402)]);
    expect(await shop.rows(...all)).toBe(0);
  });

  it('a stranger with a payment in doubt waits for its end', async () => {
    const shop = shopWith(false);
    shop.purchases.script.settle = async () => ({ verdict: 'none', detail: 'lost' });
    const doubt = await alice.header(v1);
    expect((await shop.pay(doubt)).status).toBe(503);
    const next = await alice.header(v1);
    const held = await shop.pay(next);
    expect([held.status, header(held, 'retry-after')]).toEqual([503, '5']);
    expect(await shop.rows(next)).toBe(0);
    shop.purchases.script.settle = settled;
    shop.purchases.wait();
    expect((await shop.pay(doubt)).status).toBe(200);
    expect((await shop.pay(next)).status).toBe(200);
  });

  it('I60: while the facilitator gets too many calls, strangers are told when to come again', async () => {
    const shop = shopWith(false);
    expect((await shop.pay(await alice.header(v1))).status).toBe(200);
    shop.busyMs = 3500;
    const bob = await payer(network, 'bob').header(v1);
    const held = await shop.pay(bob);
    expect([held.status, header(held, 'retry-after')]).toEqual([503, '4']);
    expect(shop.purchases.calls.verify).toHaveLength(1);
    expect((await shop.pay(await alice.header(v1))).status).toBe(200);
    shop.busyMs = 0;
    expect((await shop.pay(bob)).status).toBe(200);
  });

  it('I9: where the facilitator does not say whether a stranger can pay, nothing is written down', async () => {
    const shop = shopWith(false);
    shop.purchases.script.verify = async () => ({ verdict: 'none', detail: 'down' });
    const value = await alice.header(v1);
    expect((await shop.pay(value)).status).toBe(503);
    expect(await shop.rows(value)).toBe(0);
    expect(shop.purchases.calls.settle).toEqual([]);
    shop.purchases.script.verify = async () => ({ verdict: 'valid' });
    expect((await shop.pay(value)).status).toBe(200);
  });
});
