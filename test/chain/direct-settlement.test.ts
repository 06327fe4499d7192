import { parseGwei } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { challenger } from '../../gatekeeper/heart/offer/challenge.ts';
import { decodePayment } from '../../gatekeeper/heart/payment/payment-header.ts';
import { chainEvidence } from '../../gatekeeper/settle/chain/chain-evidence.ts';
import { chainNode } from '../../gatekeeper/settle/chain/chain-node.ts';
import { directSettlement } from '../../gatekeeper/settle/chain/direct-settlement.ts';
import { type Relayer, relayer } from '../../gatekeeper/settle/chain/relayer.ts';
import {
  type FacilitatorRequest,
  facilitatorRequest,
} from '../../gatekeeper/settle/facilitator.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import { type Authorization, isRefusal } from '../../gatekeeper/settle/payment.ts';
import { builtinOperation } from '../builtin-rows.ts';
import { headerOf, payer } from '../gatekeeper/payer.ts';
import { buyer, send } from './buyer.ts';
import { accountOf, type Chain, startChain } from './chain.ts';
import { openStall, type Stall } from './stall.ts';

const network = NETWORKS['base-sepolia'];
const PAYEE = `0x${'ab'.repeat(20)}`;
const shop = challenger({
  baseUrl: 'https://api.example.com',
  payTo: PAYEE,
  network,
  serviceName: 'Example',
});
const terms = shop.terms(builtinOperation('/gauge'), '/gauge', 1)[0];
const PRICE = BigInt('maxAmountRequired' in terms ? terms.maxAmountRequired : 0);
const alice = payer(network, 'alice');
const now = (): number => Math.floor(Date.now() / 1000);

let chain: Chain;
let key: `0x${string}`;
const relayers: Relayer[] = [];
const reported: unknown[] = [];
beforeAll(async () => {
  chain = await startChain({ network });
  ({ key } = await chain.relayer());
  await chain.mint(alice.address, PRICE * 1000n);
});
afterAll(async () => {
  for (const one of relayers) one.close();
  await chain.close();
});

/** A settler as after a start: it remembers nothing. */
function settler({
  maxFeePerGas = parseGwei('50'),
  minedTimeoutMs = 20_000,
  url = chain.url,
} = {}) {
  const node = chainNode({ url, network });
  const clock = (): number => Date.now();
  const report = (error: unknown): void => void reported.push(error);
  const account = privateKeyToAccount(key);
  const evidence = chainEvidence({ node, confirmations: 1, clock, report });
  const times = { pollMs: 20, resendAfterMs: 200 };
  const one = relayer({ node, account, maxFeePerGas, clock, report, ...times });
  relayers.push(one);
  const patience = { minedTimeoutMs, depthPollMs: 20 };
  return {
    relayer: one,
    ...directSettlement({ node, evidence, relayer: one, report, ...patience }),
  };
}

async function request(over: Partial<Authorization> = {}): Promise<FacilitatorRequest> {
  const window = { validAfter: '0', validBefore: String(now() + 300) };
  const signed = await alice.sign(PAYEE, String(PRICE), { ...window, ...over });
  const payment = decodePayment(headerOf(terms, signed), 1);
  if (isRefusal(payment)) throw new Error(payment.error);
  return facilitatorRequest(payment, terms);
}
const signedOf = ({ paymentPayload }: FacilitatorRequest) => {
  const { authorization, signature } = paymentPayload.payload;
  return { authorization, signature: signature as `0x${string}` };
};
const gained = async (work: () => Promise<unknown>): Promise<bigint> => {
  const before = await chain.balanceOf(PAYEE);
  await work();
  return ((await chain.balanceOf(PAYEE)) - before) / PRICE;
};

describe('directSettlement()', () => {
  it('directSettlement() moves the signed value and names the transaction that did', async () => {
    const one = await request();
    const { verify, settle } = settler();
    expect(await verify(one)).toEqual({ verdict: 'valid' });
    const moved = await gained(async () => {
      const outcome = await settle(one);
      expect(outcome).toMatchObject({ verdict: 'settled', block: expect.any(BigInt) });
      const hash = (outcome.verdict === 'settled' ? outcome.transaction : '0x') as `0x${string}`;
      const receipt = await chain.client.getTransactionReceipt({ hash });
      expect(receipt.status).toBe('success');
    });
    expect(moved).toBe(1n);
  });

  it('I3: directSettlement() settles one authorization once, however often it is asked', async () => {
    const [one, { settle }] = [await request(), settler()];
    const moved = await gained(async () => {
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => settle(one)));
      for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0]);
      expect(await settle(one)).toEqual(outcomes[0]);
      expect(await settler().settle(one), 'after a restart').toEqual(outcomes[0]);
    });
    expect(moved).toBe(1n);
  });

  it('I4: directSettlement() settles many payments at once', async () => {
    const { settle } = settler();
    const moved = await gained(async () => {
      const all = await Promise.all(Array.from({ length: 50 }, () => request()));
      const outcomes = await Promise.all(all.map((each) => settle(each)));
      expect(outcomes.map(({ verdict }) => verdict)).toEqual(all.map(() => 'settled'));
    });
    expect(moved).toBe(50n);
  });

  it('I9: directSettlement() takes a payment that somebody else submitted', async () => {
    const [one, { verify, settle }] = [await request(), settler()];
    const transaction = await chain.submit(signedOf(one));
    expect(await verify(one)).toMatchObject({ verdict: 'valid' });
    expect(await settle(one)).toMatchObject({ verdict: 'settled', transaction });
  });

  it('I14: directSettlement() refuses what the token does not take, and spends no gas on it', async () => {
    const { verify, settle, relayer: account } = settler();
    const cancelled = await request();
    await chain.cancel(signedOf(cancelled), accountOf('alice'));
    const poor = payer(network, 'poor');
    const window = { validAfter: '0', validBefore: String(now() + 300) };
    const signed = await poor.sign(PAYEE, String(PRICE), window);
    const empty = decodePayment(headerOf(terms, signed), 1);
    if (isRefusal(empty)) throw new Error(empty.error);
    const cases: [FacilitatorRequest, string][] = [
      [cancelled, 'authorization_cancelled'],
      [facilitatorRequest(empty, terms), 'insufficient_funds'],
      [await request({ validAfter: String(now() + 100) }), 'execution_reverted'],
      [await request({ validBefore: String(now() - 1) }), 'execution_reverted'],
      [await request({ value: '1' }), 'invalid_exact_evm_payload_authorization_value'],
      [await request({ to: poor.address }), 'invalid_exact_evm_payload_recipient_mismatch'],
    ];
    const smart = payer(network, 'smart');
    await chain.mint(smart.address, PRICE);
    await chain.client.setCode({ address: smart.address, bytecode: '0x00' });
    const delegated = decodePayment(
      headerOf(terms, await smart.sign(PAYEE, String(PRICE), window)),
      1,
    );
    if (isRefusal(delegated)) throw new Error(delegated.error);
    cases.push([facilitatorRequest(delegated, terms), 'payer_is_smart_account']);
    const nonce = await chain.client.getTransactionCount({ address: account.address });
    for (const [one, reason] of cases) {
      expect(await verify(one)).toEqual({ verdict: 'invalid', reason });
      expect(await settle(one)).toMatchObject({ verdict: 'refused', reason });
    }
    expect(await chain.client.getTransactionCount({ address: account.address })).toBe(nonce);
  });

  it('I9: directSettlement() has no verdict while a transaction is not mined, and finds it afterwards', async () => {
    const { settle } = settler({ minedTimeoutMs: 500 });
    const one = await request();
    await chain.client.setAutomine(false);
    try {
      expect(await settle(one)).toMatchObject({ verdict: 'none' });
      expect(await settle(one)).toMatchObject({ verdict: 'none' });
      const { pending } = await chain.client.getTxpoolStatus();
      expect(pending, 'sent once').toBe(1);
      expect(await gained(() => chain.client.mine({ blocks: 1 }))).toBe(1n);
    } finally {
      await chain.client.setAutomine(true);
    }
    expect(await settle(one)).toMatchObject({ verdict: 'settled' });
    expect(await settler().settle(one)).toMatchObject({ verdict: 'settled' });
  });

  it('I51: directSettlement() moves nothing once nobody waits for it, and settles when it is asked again', async () => {
    const { settle } = settler({ minedTimeoutMs: 500 });
    const one = await request();
    await chain.client.setAutomine(false);
    try {
      const late = await gained(async () => {
        expect(await settle(one)).toMatchObject({ verdict: 'none' });
        await new Promise((resolve) => setTimeout(resolve, 1000));
        const { pending } = await chain.client.getTxpoolStatus();
        expect(pending, 'replaced by nothing').toBe(1);
        await chain.client.mine({ blocks: 1 });
      });
      expect([late, await chain.isUsed(signedOf(one))]).toEqual([0n, false]);
    } finally {
      await chain.client.setAutomine(true);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    const { settle: patiently } = settler();
    expect(await gained(() => patiently(one))).toBe(1n);
  });

  it('directSettlement() sends again what the node lost, and replaces what pays too little', async () => {
    const { settle, relayer: account } = settler({ minedTimeoutMs: 8000 });
    await chain.client.setAutomine(false);
    try {
      const [one, two] = [await request(), await request()];
      const outcomes = Promise.all([settle(one), settle(two)]);
      await pooled(2);
      await chain.client.request({ method: 'anvil_dropAllTransactions' } as never);
      await pooled(2);
      await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('3') });
      const before = await chain.balanceOf(PAYEE);
      const moved = await gained(async () => {
        await chain.client.mine({ blocks: 1 });
        expect(await chain.balanceOf(PAYEE), 'too cheap to be mined').toBe(before);
        for (let block = 0; block < 12; block++) {
          await new Promise((resolve) => setTimeout(resolve, 100));
          await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('3') });
          await chain.client.mine({ blocks: 1 });
        }
        expect((await outcomes).map(({ verdict }) => verdict)).toEqual(['settled', 'settled']);
      });
      expect(moved).toBe(2n);
      const { address } = account;
      const counts = await Promise.all(
        (['latest', 'pending'] as const).map((blockTag) =>
          chain.client.getTransactionCount({ address, blockTag }),
        ),
      );
      expect(counts[0]).toBe(counts[1]);
    } finally {
      await chain.client.setAutomine(true);
    }
  });

  it('directSettlement() sends nothing above the cap on gas', async () => {
    const capped = settler({ maxFeePerGas: 1n });
    const one = await request();
    expect(await capped.settle(one)).toMatchObject({
      verdict: 'none',
      unsent: true,
      declined: true,
    });
    expect(await chain.isUsed(signedOf(one))).toBe(false);
  });

  it('I9: directSettlement() has no verdict when the node gives no answer', async () => {
    const { verify, settle, supported } = settler({ url: 'http://127.0.0.1:9' });
    const one = await request();
    expect(await verify(one)).toMatchObject({ verdict: 'none' });
    expect(await settle(one)).toMatchObject({ verdict: 'none' });
    expect(await supported()).toMatchObject({ verdict: 'none' });
    expect(await settler().supported()).toMatchObject({ verdict: 'supported' });
  });
});

async function pooled(count: number): Promise<void> {
  for (let wait = 0; wait < 100; wait++) {
    const { pending, queued } = await chain.client.getTxpoolStatus();
    if (pending + queued >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('nothing was sent');
}

describe('an account with money for one payment, at a relayer', () => {
  const RECORD = '/gauge?signal_id=airquality.aqi&entity=us-denver';
  const ATTEMPTS = 12;

  let chain: Chain;
  let stall: Stall;
  let relayer: `0x${string}`;
  beforeAll(async () => {
    chain = await startChain({ network });
    const { address, key } = await chain.relayer();
    relayer = address;
    stall = await openStall({
      chain,
      env: { SIGNALPRESS_RELAYER_KEY: key, SIGNALPRESS_MAX_FEE_GWEI: '50' },
    });
  });
  afterAll(async () => {
    await stall?.close();
    await chain?.close();
  });

  const transactions = (): Promise<number> =>
    chain.client.getTransactionCount({ address: relayer, blockTag: 'pending' });

  it.each([
    ['that never paid here', 0],
    ['that paid here before', 1],
  ])('I60: %s causes one transaction, however many payments it signs', async (name, before) => {
    const payer = buyer(network, name);
    const { price } = await payer.sign(stall.url, RECORD);
    await chain.mint(payer.address, price * BigInt(before + 1));
    for (let at = 0; at < before; at++) {
      const known = await payer.sign(stall.url, RECORD);
      expect(await send(stall.url, known)).toMatchObject({ status: 200 });
    }
    const [sent, rows] = [await transactions(), (await stall.journal()).length];
    const all = await Promise.all(
      Array.from({ length: ATTEMPTS }, () => payer.sign(stall.url, RECORD)),
    );
    const answers = await Promise.all(all.map((one) => send(stall.url, one)));
    const statuses = answers.map((answer) => answer?.status).sort();
    expect(statuses).toEqual([200, ...new Array(ATTEMPTS - 1).fill(402)]);
    expect((await transactions()) - sent).toBe(1);
    expect((await stall.journal()).length - rows, 'the others are written down nowhere').toBe(1);
    expect(await chain.balanceOf(payer.address)).toBe(0n);
  });
});
