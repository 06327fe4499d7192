import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UNKNOWN_RETRY_S } from '../../gatekeeper/heart/purchase/purchase-reply.ts';
import { chainEvidence } from '../../gatekeeper/settle/chain/chain-evidence.ts';
import { chainNode } from '../../gatekeeper/settle/chain/chain-node.ts';
import { provenFacilitator } from '../../gatekeeper/settle/facilitator/proven-facilitator.ts';
import { remoteFacilitator } from '../../gatekeeper/settle/facilitator/remote-facilitator.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { startGate } from '../gate.ts';
import { BEHIND_PROXY } from '../gatekeeper/tiny-gate.ts';
import { writeTinyRelease } from '../gatekeeper/tiny-release.ts';
import { type Answer, buyer, type Purchase, send } from './buyer.ts';
import { accountOf, type Chain, startChain } from './chain.ts';
import { type ChainFacilitator, chainFacilitator } from './chain-facilitator.ts';
import { openStall, PAYEE, type Stall, type StallOptions } from './stall.ts';

describe('a purchase on a chain', () => {
  /**
   * The built gatekeeper as a process, the published facilitator packages and a chain: what was paid is
   * read off the chain, not off anybody's word.
   */
  const network = NETWORKS['base-sepolia'];
  const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
  const OTHER_RECORD = '/gauge?signal_id=airquality.aqi&entity=us-chicago';
  const alice = buyer(network, 'alice');
  const START = 1_000_000_000n;

  let chain: Chain;
  let facilitator: ChainFacilitator;
  let stall: Stall;
  beforeAll(async () => {
    chain = await startChain({ network });
    await chain.mint(alice.address, START);
    facilitator = await chainFacilitator(chain);
    stall = await openStall({ chain, facilitatorUrl: facilitator.url });
  });
  afterAll(async () => {
    await stall?.close();
    await facilitator?.close();
    await chain?.close();
  });
  beforeEach(() => {
    facilitator.fault = () => null;
  });

  const sign = (over: Parameters<typeof alice.sign>[2] = {}): Promise<Purchase> =>
    alice.sign(stall.url, RECORD, over);

  /** Sends until there is an answer that is no outage, as a client does that is told to come again. */
  async function insist(purchase: Purchase): Promise<Answer> {
    for (let attempt = 0; attempt < 600; attempt++) {
      const answer = await send(stall.url, purchase);
      if (answer !== null && answer.status !== 503) return answer;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('no end of this purchase');
  }

  async function paidFor(work: () => Promise<unknown>): Promise<bigint> {
    const [payer, payee] = [await chain.balanceOf(alice.address), await chain.balanceOf(PAYEE)];
    await work();
    const paid = payer - (await chain.balanceOf(alice.address));
    expect((await chain.balanceOf(PAYEE)) - payee, 'what left the payer came to the payee').toBe(
      paid,
    );
    return paid;
  }

  it.each([1, 2] as const)(
    'I2: version %i is charged once, to the unit, and its receipt names the transaction',
    async (version) => {
      const purchase = await sign({ version });
      const paid = await paidFor(async () => {
        const answer = await send(stall.url, purchase);
        expect(answer?.status).toBe(200);
        const hash = String(answer?.receipt?.transaction) as `0x${string}`;
        const receipt = await chain.client.getTransactionReceipt({ hash });
        expect(receipt.status).toBe('success');
        expect(answer?.receipt).toMatchObject({ success: true, payer: alice.address });
      });
      expect(paid).toBe(purchase.price);
    },
  );

  it('I2: a replay is answered with the same body and receipt, and charges nobody', async () => {
    const purchase = await sign();
    const first = await send(stall.url, purchase);
    expect(first?.status).toBe(200);
    const paid = await paidFor(async () => {
      expect(await send(stall.url, purchase)).toEqual(first);
      await stall.kill();
      await stall.start();
      expect(await send(stall.url, purchase)).toEqual(first);
    });
    expect(paid).toBe(0n);
  });

  it('I3: 50 uses at once are one transfer and 50 equal bodies', async () => {
    const purchase = await sign();
    const paid = await paidFor(async () => {
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => send(stall.url, purchase)),
      );
      expect(new Set(answers.map((answer) => answer?.status))).toEqual(new Set([200]));
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    });
    expect(paid).toBe(purchase.price);
  });

  it('I5: a payment opens no second resource', async () => {
    const purchase = await sign();
    await send(stall.url, purchase);
    const paid = await paidFor(async () => {
      const answer = await send(stall.url, { ...purchase, target: OTHER_RECORD });
      expect(answer).toMatchObject({ status: 402, receipt: null });
      expect(answer?.body).toContain('payment_already_used');
    });
    expect(paid).toBe(0n);
  });

  it('I9: what somebody else submitted before the facilitator is paid, and delivered', async () => {
    facilitator.fault = (name) => (name === 'settle' ? 'slow' : null);
    const purchase = await sign();
    const paid = await paidFor(async () => {
      const { nonce } = purchase.payment.authorization;
      const answer = insist(purchase);
      while (!facilitator.settlements.has(nonce)) await new Promise((r) => setTimeout(r, 5));
      const transaction = await chain.submit(purchase.payment);
      expect(await answer).toMatchObject({ status: 200, receipt: { transaction } });
    });
    expect(paid).toBe(purchase.price);
  });

  it('I8: what was cancelled before it settled is refused, charged to nobody', async () => {
    const purchase = await sign();
    const paid = await paidFor(async () => {
      await chain.cancel(purchase.payment, accountOf('alice'));
      const answer = await insist(purchase);
      expect(answer).toMatchObject({ status: 402, receipt: null });
    });
    expect(paid).toBe(0n);
  });

  it('I14: who has no money is refused, and may send the same payment when there is some', async () => {
    const bob = buyer(network, 'bob');
    const purchase = await bob.sign(stall.url, RECORD);
    expect(await send(stall.url, purchase)).toMatchObject({ status: 402, receipt: null });
    await chain.mint(bob.address, purchase.price);
    // A balance is believed for a moment.
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(await send(stall.url, purchase)).toMatchObject({ status: 200 });
    expect(await chain.balanceOf(bob.address)).toBe(0n);
  });

  it('I14: an account with code is told to pay from a plain one, and not charged', async () => {
    const smart = buyer(network, 'smart');
    await chain.mint(smart.address, START);
    await chain.client.setCode({ address: smart.address, bytecode: '0x00' });
    const answer = await send(stall.url, await smart.sign(stall.url, RECORD));
    expect(answer).toMatchObject({ status: 402, receipt: null });
    expect(answer?.body).toContain(
      'payer must be a plain externally-owned account without contract code',
    );
    expect(await chain.balanceOf(smart.address)).toBe(START);
  });

  it.each(['done-then-500', 'done-then-reset', 'lie-payer'] as const)(
    'I9: a settlement whose answer is lost (%s) is found on the chain',
    async (fault) => {
      facilitator.fault = (name) => (name === 'settle' ? fault : null);
      const purchase = await sign();
      const paid = await paidFor(async () => {
        const answer = await insist(purchase);
        expect(answer.status).toBe(200);
        expect(answer.receipt?.transaction).toMatch(/^0x[0-9a-f]{64}$/);
      });
      expect(paid).toBe(purchase.price);
    },
  );

  it('I11: a success without a transfer delivers nothing', async () => {
    facilitator.fault = (name) => (name === 'settle' ? 'lie-success' : null);
    const purchase = await sign();
    const gone = new AbortController();
    const lied = send(stall.url, purchase, gone.signal);
    await new Promise((resolve) => setTimeout(resolve, 700));
    gone.abort();
    expect(await lied).toBeNull();
    facilitator.fault = () => null;
    const paid = await paidFor(async () => {
      expect((await insist(purchase)).status).toBe(200);
    });
    expect(paid).toBe(purchase.price);
  });

  it('I11: the receipt names the transaction that moved the money, whatever the facilitator says', async () => {
    facilitator.fault = (name) => (name === 'settle' ? 'lie-transaction' : null);
    const answer = await insist(await sign());
    const hash = String(answer.receipt?.transaction) as `0x${string}`;
    expect((await chain.client.getTransactionReceipt({ hash })).status).toBe('success');
  });

  it('I2: a gatekeeper that dies between settlement and answer delivers after it came back', async () => {
    facilitator.fault = (name) => (name === 'settle' ? 'done-then-silent' : null);
    const purchase = await sign();
    const paid = await paidFor(async () => {
      const lost = send(stall.url, purchase);
      while (!(await chain.isUsed(purchase.payment))) await new Promise((r) => setTimeout(r, 10));
      await stall.kill();
      expect(await lost).toBeNull();
      facilitator.fault = () => null;
      await stall.start();
      const answer = await insist(purchase);
      expect(answer.status).toBe(200);
      expect(await send(stall.url, purchase)).toEqual(answer);
    });
    expect(paid).toBe(purchase.price);
  });

  it('I2: the journal says what the chain says, to the unit', async () => {
    const settled = (await stall.journal()).filter(({ state }) => state === 'settled');
    const revenue = settled.reduce((sum, { value }) => sum + BigInt(value), 0n);
    expect(settled.length).toBeGreaterThan(5);
    expect(revenue).toBe(await chain.balanceOf(PAYEE));
    expect(new Set(settled.map(({ tx }) => tx)).size).toBe(settled.length);
    expect(
      (await stall.journal()).filter(({ state }) => state === 'settling' || state === 'unknown'),
    ).toEqual([]);
  });
});

/** A chain at the pace of the real one, and a seller who wants six blocks on top of each other. */
const network = NETWORKS['base-sepolia'];
const DEPTH = 6;
const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const alice = buyer(network, 'alice');

describe('SIGNALPRESS_CONFIRMATIONS=6', () => {
  let chain: Chain;
  let facilitator: ChainFacilitator;
  let key: `0x${string}`;
  beforeAll(async () => {
    chain = await startChain({ network });
    await chain.mint(alice.address, 1_000_000n);
    ({ key } = await chain.relayer());
    facilitator = await chainFacilitator(chain);
    await chain.client.setAutomine(false);
    await chain.client.setIntervalMining({ interval: network.blockMs / 1000 });
  });
  afterAll(async () => {
    await facilitator?.close();
    await chain?.close();
  });

  /** Buys once and says how deep the transfer was when the answer came. */
  async function depthBought(
    settler: Pick<StallOptions, 'facilitatorUrl' | 'env'>,
  ): Promise<number> {
    const depth = { SIGNALPRESS_CONFIRMATIONS: String(DEPTH) };
    const stall = await openStall({ chain, ...settler, env: { ...settler.env, ...depth } });
    try {
      const before = await chain.balanceOf(PAYEE);
      const purchase = await alice.sign(stall.url, RECORD);
      const answer = await send(stall.url, purchase);
      expect([answer?.status, answer?.body]).toEqual([200, expect.any(String)]);
      expect((await chain.balanceOf(PAYEE)) - before).toBe(purchase.price);
      const hash = String(answer?.receipt?.transaction) as `0x${string}`;
      const { blockNumber } = await chain.client.getTransactionReceipt({ hash });
      return Number((await chain.client.getBlockNumber()) - blockNumber) + 1;
    } finally {
      await stall.close();
    }
  }

  it('I9: is a sale with the first request, through a facilitator', async () => {
    expect(await depthBought({ facilitatorUrl: facilitator.url })).toBeGreaterThanOrEqual(DEPTH);
  });

  it('I9: is a sale with the first request, by a relayer', async () => {
    const env = { SIGNALPRESS_RELAYER_KEY: key };
    expect(await depthBought({ env })).toBeGreaterThanOrEqual(DEPTH);
  });
});

describe('a settlement that nobody hears of in time', () => {
  const PATIENCE_MS = 300;
  const folder = mkdtempSync(join(tmpdir(), 'signalpress-timeout-'));
  let aheadMs = 0;
  const clock = (): number => Date.now() + aheadMs;

  let chain: Chain;
  let facilitator: ChainFacilitator;
  let gate: Gatekeeper;
  beforeAll(async () => {
    chain = await startChain({ network });
    await chain.mint(alice.address, 1_000_000n);
    facilitator = await chainFacilitator(chain);
    writeTinyRelease(join(folder, 'data'));
    const own = {
      // The facilitator is given, not set.
      test_payments: '1',
      trusted_proxy: BEHIND_PROXY.trustedProxy,
      data: join(folder, 'data'),
      state: join(folder, 'state'),
      pay_to: PAYEE,
    };
    const node = chainNode({ url: chain.url, network });
    const evidence = chainEvidence({ node, confirmations: 1, clock, report: () => {} });
    const remote = remoteFacilitator({ url: facilitator.url, settleTimeoutMs: PATIENCE_MS });
    const proven = provenFacilitator({ facilitator: remote, evidence, waitMs: 6000 });
    gate = await startGate(own, { clock, facilitator: proven });
  });
  afterAll(async () => {
    await gate?.close();
    await facilitator?.close();
    await chain?.close();
    rmSync(folder, { recursive: true });
  });

  it('I9: is a doubt, answered 503 with the advice to send the same payment, and then delivered', async () => {
    facilitator.fault = (name) => (name === 'settle' ? 'done-then-silent' : null);
    const purchase = await alice.sign(gate.url, RECORD);
    const doubt = await send(gate.url, purchase);
    expect(doubt).toMatchObject({ status: 503, receipt: null });
    expect(doubt?.body).toContain('Send the same X-PAYMENT again');
    expect(await chain.isUsed(purchase.payment)).toBe(true);
    facilitator.fault = () => null;
    expect(await send(gate.url, purchase)).toMatchObject({ status: 503, receipt: null });
    aheadMs = UNKNOWN_RETRY_S * 1000;
    const answer = await send(gate.url, purchase);
    expect(answer).toMatchObject({ status: 200, receipt: { success: true } });
    expect(await chain.balanceOf(PAYEE)).toBe(purchase.price);
    expect(await send(gate.url, purchase)).toEqual(answer);
    expect(await chain.balanceOf(PAYEE)).toBe(purchase.price);
  });
});

describe.each(['facilitator', 'relayer'] as const)('a header that paid before (%s)', (by) => {
  let chain: Chain;
  let facilitator: ChainFacilitator;
  let key: `0x${string}`;
  const stalls: Stall[] = [];
  beforeAll(async () => {
    chain = await startChain({ network });
    await chain.mint(alice.address, 1_000_000_000n);
    facilitator = await chainFacilitator(chain);
    ({ key } = await chain.relayer());
  });
  afterAll(async () => {
    for (const stall of stalls) await stall.close();
    await facilitator?.close();
    await chain?.close();
  });

  /** A shop with a journal of its own, and the payee that all have. */
  async function shop(by: 'facilitator' | 'relayer'): Promise<Stall> {
    const settler =
      by === 'facilitator'
        ? { facilitatorUrl: facilitator.url }
        : { env: { SIGNALPRESS_RELAYER_KEY: key, SIGNALPRESS_MAX_FEE_GWEI: '50' } };
    const stall = await openStall({ chain, ...settler });
    stalls.push(stall);
    return stall;
  }

  /** Until it is no outage. */
  async function insist(stall: Stall, purchase: Purchase): Promise<Answer> {
    for (let attempt = 0; attempt < 60; attempt++) {
      const answer = await send(stall.url, purchase);
      if (answer !== null && answer.status !== 503) return answer;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('no end of this purchase');
  }

  it('I61: buys nothing at another shop of the same payee, in the very block of its settlement or later', async () => {
    const [first, second] = [await shop(by), await shop(by)];
    for (const version of [1, 2] as const) {
      const purchase = await alice.sign(first.url, RECORD, { version });
      const sold = await insist(first, purchase);
      expect(sold.status).toBe(200);
      for (const blocks of [0, 3]) {
        if (blocks > 0) await chain.client.mine({ blocks });
        const answer = await insist(second, purchase);
        expect(answer).toMatchObject({ status: 402, receipt: null });
        expect(answer.body).toContain('authorization_already_used');
        expect(answer.body).not.toContain(sold.body);
      }
    }
    // Of a payer who never paid there, not even a row is written.
    expect(await second.journal()).toEqual([]);
    // The shop that sold still delivers, and the other one still sells.
    expect((await insist(second, await alice.sign(second.url, RECORD))).status).toBe(200);
  });

  it('I61: buys nothing from a shop that lost its journal', async () => {
    const stall = await shop(by);
    const purchase = await alice.sign(stall.url, RECORD);
    expect((await insist(stall, purchase)).status).toBe(200);
    const emptied = await shop(by);
    const answer = await insist(emptied, purchase);
    expect(answer).toMatchObject({ status: 402, receipt: null });
    expect(answer.body).toContain('authorization_already_used');
  });
});
