import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ChainVerdict } from '../../../../gatekeeper/settle/evidence.ts';
import { localFacilitator } from '../../../../gatekeeper/settle/facilitator/local-facilitator.ts';
import {
  type Facilitator,
  isAwaited,
  type SettleOutcome,
} from '../../../../gatekeeper/settle/facilitator.ts';
import { DEAD_AFTER_S } from '../../../../gatekeeper/settle/journal.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../../../gatekeeper/settle/payment.ts';
import type { Reply } from '../../../../gatekeeper/wire/reply.ts';
import { CLAIMED, paidIn, saying } from '../../chain-reader.ts';
import { NOW_MS, payer } from '../../payer.ts';
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
} from '../../payment-bench.ts';
import { type TinyGate, tinyGate } from '../../tiny-gate.ts';
import { TINY_NOW } from '../../tiny-release.ts';

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
    purchases.script.settle = async () => ({ verdict: 'refused', reason: 'transaction_failed' });
    expectUnknown(await purchases.pay({ header: value }));
    purchases.wait();
    purchases.script.settle = async () => ({ verdict: 'refused', reason: 'insufficient_funds' });
    expectUnknown(await purchases.pay({ header: value }));
    purchases.wait();
    purchases.script.settle = settled;
    expect((await purchases.pay({ header: value })).status).toBe(200);
  });

  it('I61: a transfer that is not later than the claim sells nothing, whoever names it', async () => {
    const cases: [SettleOutcome, ChainVerdict][] = [
      [{ verdict: 'settled', transaction: '0xab', block: 100n }, { state: 'older' }],
      [{ verdict: 'settled', transaction: '0xab', block: 7n }, { state: 'older' }],
      [{ verdict: 'refused', reason: 'nonce_already_used' }, { state: 'older' }],
      [{ verdict: 'none', detail: 'timeout' }, { state: 'older' }],
    ];
    for (const [settle, finding] of cases) {
      const asked: (string | undefined)[] = [];
      const evidence = saying(async (_, after) => {
        asked.push(after);
        return finding;
      });
      const purchases = bench({ evidence });
      purchases.script.settle = async () => settle;
      const value = await alice.header(v1);
      const reply = await purchases.pay({ header: value });
      expectRefused(reply, /^authorization_already_used: .*used before it came here/);
      expect(reply.body.toString()).not.toContain('"body"');
      expect(asked).toEqual([CLAIMED]);
      const row = { state: 'refused', detail: 'authorization_already_used', claimBlock: CLAIMED };
      expect(await purchases.journal().find(keyOf(value))).toMatchObject(row);
    }
  });

  it('I61: the next block after the claim sells, also where a reorganisation moved it to the same number', async () => {
    for (const block of [101n, 100n]) {
      const purchases = bench({ evidence: saying(async () => paidIn('0xab', block)) });
      purchases.script.settle = async () => ({ verdict: 'settled', transaction: '0xab', block });
      const value = await alice.header(v1);
      expect(receipt(await purchases.pay({ header: value })).transaction).toBe('0xab');
    }
  });

  it('I61: a doubt, a restart and the background hold a use to the block of the claim', async () => {
    let state: ChainVerdict = { state: 'unknown' };
    const asked = new Set<string | undefined>();
    const evidence = saying(async (_, after) => {
      asked.add(after);
      return state;
    });
    const purchases = bench({ evidence });
    purchases.script.settle = none;
    const [bought, watched] = [await alice.header(v1), await alice.header(v1)];
    for (const header of [bought, watched]) expectUnknown(await purchases.pay({ header }));
    purchases.restart();
    state = { state: 'older' };
    expectRefused(await purchases.pay({ header: bought }), /^authorization_already_used/);
    expect(await purchases.service().look(keyOf(watched))).toBe(true);
    expect(await purchases.journal().find(keyOf(watched))).toMatchObject({ state: 'refused' });
    expect([...asked]).toEqual([CLAIMED]);
  });

  it('I61: a node that is out of reach before the claim sells nothing and leaves no row', async () => {
    let isSilent = true;
    const node = saying(async () => ({ state: 'unknown' }));
    const evidence = { ...node, head: async () => (isSilent ? null : CLAIMED) };
    const purchases = bench({ evidence, verifyFirst: false });
    purchases.script.settle = async () => ({
      verdict: 'settled',
      transaction: '0xab',
      block: 101n,
    });
    const value = await alice.header(v1);
    const reply = await purchases.pay({ header: value });
    expect([reply.status, json(reply).retryable]).toEqual([503, true]);
    expect(json(reply).error).toMatch(
      /^Not charged\. The chain cannot be asked .*same payment again/,
    );
    expect(header(reply, 'retry-after')).toMatch(/^[0-9]+$/);
    expect(purchases.calls.settle).toEqual([]);
    expect(await purchases.journal().find(keyOf(value))).toBeNull();
    isSilent = false;
    expect((await purchases.pay({ header: value })).status).toBe(200);
  });

  it('I61: a node that is lost in between leaves a doubt, which sends nothing and ends with the node', async () => {
    let state: ChainVerdict = { state: 'unknown' };
    const purchases = bench({ evidence: saying(async () => state), verifyFirst: false });
    purchases.script.settle = none;
    const value = await alice.header(v1);
    for (let at = 0; at < 3; at++) {
      expectUnknown(await purchases.pay({ header: value }));
      purchases.wait();
    }
    expect(purchases.calls.settle).toHaveLength(1);
    state = { state: 'unused' };
    expectUnknown(await purchases.pay({ header: value }));
    purchases.wait();
    expect(purchases.calls.settle).toHaveLength(2);
    state = paidIn('0xab');
    expect(receipt(await purchases.pay({ header: value })).transaction).toBe('0xab');
    expect(purchases.calls.settle).toHaveLength(2);
  });

  it('I61: without a node a first call that names a used authorization is never made good by a later success', async () => {
    const purchases = bench();
    const value = await alice.header(v1);
    const words = 'invalid_exact_evm_nonce_already_used';
    purchases.script.settle = async () => ({ verdict: 'refused', reason: words });
    expectUnknown(await purchases.pay({ header: value }));
    purchases.script.settle = settled;
    for (let at = 0; at < 2; at++) {
      purchases.wait();
      expectUnknown(await purchases.pay({ header: value }));
      purchases.restart();
    }
    expect(purchases.calls.settle).toHaveLength(1);
    purchases.script.now = NOW_MS + (310 + DEAD_AFTER_S) * 1000;
    expectRefused(await purchases.pay({ header: value }), /authorization_expired.*your wallet/);
    // What speaks of the account of the facilitator says nothing of the payer's.
    const other = await alice.header(v1);
    purchases.script.now = NOW_MS;
    purchases.script.settle = async () => ({ verdict: 'refused', reason: 'nonce too low' });
    expectUnknown(await purchases.pay({ header: other }));
    purchases.wait();
    purchases.script.settle = settled;
    expect((await purchases.pay({ header: other })).status).toBe(200);
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
    const purchases = bench({ evidence: saying(async () => ({ state: 'unused' })) });
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
    const purchases = bench({ evidence: saying(async () => state) });
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
    state = paidIn('0xaa');
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
      { ...paidIn('0xaa'), status: 200 },
      { state: 'cancelled', status: 402 },
      { state: 'unused', status: 503 },
      { state: 'unknown', status: 503 },
    ] as const;
    for (const { status, ...evidence } of cases) {
      const purchases = bench({ evidence: saying(async () => evidence) });
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
    const purchases = bench({ evidence: saying(async () => shown) });
    purchases.script.settle = async () => ({ verdict: 'settled', transaction: '0xab' });
    expect((await purchases.pay({ header: await alice.header(v1) })).status).toBe(200);
    const second = await alice.header(v1);
    expectUnknown(await purchases.pay({ header: second }));
    purchases.wait();
    shown = paidIn('0xab');
    expect(receipt(await purchases.pay({ header: second })).transaction).toBe('0xab');
  });

  it('I11: settle() takes one transaction for two payments where the chain shows both in it', async () => {
    const purchases = bench();
    purchases.script.settle = async () => ({
      verdict: 'settled',
      transaction: '0xab',
      block: 101n,
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

/** A request whose client may go away. */
function client() {
  const one = { isThere: true };
  const trace = { id: 'a', sentId: 'a', isAwaited: () => one.isThere };
  return Object.assign(one, { trace });
}

describe('I51: a buyer who goes away', () => {
  it('is not charged when that was before the claim, and the same payment buys afterwards', async () => {
    const purchases = bench();
    const { verify } = purchases.script;
    const buyer = client();
    purchases.script.verify = async (request) => {
      buyer.isThere = false;
      return verify(request);
    };
    const value = await alice.header(v1);
    const reply = await purchases.pay({ header: value, trace: buyer.trace });
    expect([reply.status, json(reply).error]).toEqual([503, expect.stringMatching(/^Not charged/)]);
    expect([purchases.calls.settle, await purchases.journal().find(keyOf(value))]).toEqual([
      [],
      null,
    ]);
    expect((await purchases.pay({ header: value, trace: client().trace })).status).toBe(200);
  });

  it('is not charged when that was before the settlement: the claim is let go', async () => {
    const buyer = client();
    const purchases = bench();
    const journal = purchases.journal();
    const claim = journal.claim.bind(journal);
    Object.assign(journal, {
      claim: async (...args: Parameters<typeof claim>) => {
        buyer.isThere = false;
        return claim(...args);
      },
    });
    const value = await alice.header(v1);
    expect((await purchases.pay({ header: value, trace: buyer.trace })).status).toBe(503);
    expect(purchases.calls.settle).toEqual([]);
    expect(await journal.find(keyOf(value))).toMatchObject({ state: 'refused' });
    const other = '/gauge?entity=us-boise&signal_id=airquality.aqi';
    expect((await purchases.pay({ header: value, target: other })).status).toBe(200);
  });

  it('is not charged for a doubt that it left, which stays one', async () => {
    const purchases = bench();
    purchases.script.settle = async () => ({ verdict: 'none', detail: 'timeout' });
    const value = await alice.header(v1);
    await purchases.pay({ header: value });
    purchases.wait();
    const gone = client();
    gone.isThere = false;
    const reply = await purchases.pay({ header: value, trace: gone.trace });
    expect([reply.status, purchases.calls.settle.length]).toEqual([503, 1]);
    expectRefused(await purchases.pay({ header: value, target: '/gauge' }), /already_used/);
  });

  it('is charged as long as a copy of its request waits', async () => {
    const purchases = bench();
    const { verify } = purchases.script;
    purchases.script.verify = async (request) => {
      await tick(50);
      return verify(request);
    };
    const value = await alice.header(v1);
    const [first, copy] = [client(), client()];
    const replies = [first, copy].map(({ trace }) => purchases.pay({ header: value, trace }));
    first.isThere = false;
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 200]);
    expect(purchases.calls.settle).toHaveLength(1);
  });
});

const PAID = '/gauge?signal_id=airquality.aqi&entity=us-chicago';
/** Longest wait of the facilitator for a buyer to be gone. */
const VERIFY_MS = 600;
const local = localFacilitator({ clock: () => TINY_NOW });
const settles: string[] = [];
/** Nonces of those who asked for the first time: only they are waited for. */
const first = new Set<string>();
const slow: Facilitator = {
  verify: async (request) => {
    const { nonce } = request.paymentPayload.payload.authorization;
    const waitMs = first.has(nonce) ? 0 : VERIFY_MS;
    first.add(nonce);
    const started = performance.now();
    while (isAwaited(request) && performance.now() - started < waitMs) await pause(10);
    return local.verify(request);
  },
  settle: (request) => {
    settles.push(request.paymentPayload.payload.authorization.nonce);
    return local.settle(request);
  },
  supported: () => local.supported(),
};
/** How a client, or the balancer between, ends its connection. */
const LEAVES = ['destroy', 'resetAndDestroy', 'end'] as const;
type Leave = (typeof LEAVES)[number];

describe('I51: a buyer whose connection ends', () => {
  let gate: TinyGate;
  beforeAll(async () => {
    gate = await tinyGate({ facilitator: slow, config: { verifyFirst: true } });
  });
  afterAll(() => gate.close());

  const refusals = (): number => gate.logged.filter(({ status }) => status === 503).length;

  const signed = async (): Promise<{ header: string; nonce: string }> => {
    const challenge = await fetch(gate.url + PAID);
    const { accepts } = (await challenge.json()) as { accepts: readonly [RequirementsV1] };
    const header = await payer(NETWORKS['base-sepolia']).header(accepts[0]);
    const { payload } = JSON.parse(Buffer.from(header, 'base64').toString());
    return { header, nonce: payload.authorization.nonce };
  };

  /** Sends a purchase and ends the connection a moment later; what came back, if it reads on. */
  const leaving = (header: string, leave: Leave): Promise<string> =>
    new Promise((resolve) => {
      let text = '';
      const socket = connect({ port: gate.port, host: '127.0.0.1', allowHalfOpen: true }, () => {
        socket.write(`GET ${PAID} HTTP/1.1\r\nHost: gate\r\nX-PAYMENT: ${header}\r\n\r\n`);
        setTimeout(() => socket[leave](), 100);
      });
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('end', () => socket.destroy());
      socket.on('error', () => {});
      socket.on('close', () => resolve(text));
    });

  it.each(LEAVES.slice(0, 2))(
    'by %s is not charged, and buys with the same payment when it is back',
    async (leave) => {
      const { header, nonce } = await signed();
      const before = refusals();
      await leaving(header, leave);
      await vi.waitFor(() => expect(refusals()).toBe(before + 1), 60_000);
      expect(settles).not.toContain(nonce);
      const answer = await fetch(gate.url + PAID, { headers: { 'x-payment': header } });
      expect([answer.status, settles.includes(nonce)]).toEqual([200, true]);
    },
  );

  it('on its own side alone gets what it pays for, behind interim answers', async () => {
    const { header, nonce } = await signed();
    const text = await leaving(header, 'end');
    expect(text).toMatch(/^(HTTP\/1\.1 102 Processing\r\n\r\n)+HTTP\/1\.1 200 OK\r\n/);
    expect(settles).toContain(nonce);
  });
});
