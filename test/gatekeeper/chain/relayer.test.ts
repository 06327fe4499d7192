import { keccak256, numberToHex, parseTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chainNode } from '../../../gatekeeper/chain/chain-node.ts';
import { type Relayer, relayer } from '../../../gatekeeper/chain/relayer.ts';
import { NETWORKS } from '../../../gatekeeper/money/networks.ts';
import { type RpcStub, rpcStub } from '../rpc-stub.ts';

const RECEIPT_GRACE_MS = 30_000;

const network = NETWORKS.base;
const account = privateKeyToAccount(`0x${'11'.repeat(32)}`);
const call = (gas: bigint) => ({ to: account.address, data: '0x', gas }) as const;

/** A node with one account: what is sent waits until the test mines it. */
interface Pool {
  readonly stub: RpcStub;
  /** Raw transactions by nonce, the last one sent. */
  readonly sent: Map<number, `0x${string}`>;
  readonly mined: Set<string>;
  count: number;
  /** Whether it answers questions about fees. */
  knowsFees: boolean;
  /** Says what is wrong with a transaction; null to take it. */
  refuse: (nonce: number, gas: bigint) => string | null;
  /** Mines everything up to a gap. */
  mine(): void;
}

let pool: Pool;
let one: Relayer;
let now = 0;
let reports = 0;
beforeEach(async () => {
  const stub = await rpcStub((method, params) => answers[method]?.(params));
  pool = {
    stub,
    sent: new Map(),
    mined: new Set(),
    count: 7,
    knowsFees: true,
    refuse: () => null,
    mine() {
      for (let raw = pool.sent.get(pool.count); raw !== undefined; ) {
        pool.mined.add(keccak256(raw));
        pool.count += 1;
        raw = pool.sent.get(pool.count);
      }
    },
  };
  const node = chainNode({ url: stub.url, network });
  const clock = (): number => now;
  const times = { pollMs: 10, resendAfterMs: 1 };
  one = relayer({
    node,
    account,
    maxFeePerGas: 10n ** 9n,
    clock,
    report: () => reports++,
    ...times,
  });
});
afterEach(async () => {
  one.close();
  await pool.stub.close();
});

const answers: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
  eth_chainId: () => numberToHex(network.chainId),
  eth_getCode: () => '0x60',
  eth_getBlockByNumber() {
    if (!pool.knowsFees) throw new Error('busy');
    return { number: '0x1', timestamp: '0x1', baseFeePerGas: '0x64' };
  },
  eth_maxPriorityFeePerGas: () => '0xa',
  eth_getTransactionCount: () => numberToHex(pool.count),
  eth_sendRawTransaction([raw]) {
    const { nonce = 0, gas = 0n } = parseTransaction(raw as `0x02${string}`);
    const reason = pool.refuse(nonce, gas);
    if (reason !== null) throw new Error(reason);
    pool.sent.set(nonce, raw as `0x${string}`);
    return keccak256(raw as `0x${string}`);
  },
  eth_getTransactionReceipt([hash]) {
    if (!pool.mined.has(String(hash))) return null;
    return { transactionHash: hash, blockNumber: '0x1', status: '0x1', logs: [] };
  },
};

async function until(is: () => boolean): Promise<void> {
  for (let wait = 0; wait < 200 && !is(); wait++) await new Promise((r) => setTimeout(r, 10));
  expect(is()).toBe(true);
}

describe('relayer()', () => {
  it('relayer() sends at once and tells of the receipt', async () => {
    const relayed = await Promise.all([1, 2, 3].map((gas) => one.send(call(BigInt(gas)))));
    expect([...pool.sent.keys()].sort()).toEqual([7, 8, 9]);
    pool.mine();
    for (const each of relayed) {
      if (each.state !== 'sent') throw new Error(each.detail);
      expect(await each.receipt).toMatchObject({ succeeded: true });
    }
  });

  it('relayer() fills the nonce of a refused transaction that later ones wait for', async () => {
    pool.refuse = (nonce) => (nonce === 7 ? 'intrinsic gas too low' : null);
    const both = await Promise.all([one.send(call(1n)), one.send(call(2n))]);
    expect(both.map(({ state }) => state).sort()).toEqual(['sent', 'unsent']);
    const later = both.find(({ state }) => state === 'sent');
    pool.refuse = () => null;
    await until(() => pool.sent.has(7));
    const { gas, value = 0n } = parseTransaction(pool.sent.get(7) ?? '0x');
    expect([gas, value]).toEqual([21_000n, 0n]);
    pool.mine();
    if (later?.state !== 'sent') throw new Error('not sent');
    expect(await later.receipt).toMatchObject({ succeeded: true });
  });

  it('relayer() fills a nonce later when the node could not say what it costs', async () => {
    pool.refuse = (nonce) => {
      if (nonce !== 7) return null;
      pool.knowsFees = false;
      return 'intrinsic gas too low';
    };
    const both = await Promise.all([one.send(call(1n)), one.send(call(2n))]);
    expect(both.map(({ state }) => state).sort()).toEqual(['sent', 'unsent']);
    const before = reports;
    await until(() => reports > before + 1);
    expect(pool.sent.has(7)).toBe(false);
    pool.refuse = () => null;
    pool.knowsFees = true;
    await until(() => pool.sent.has(7));
  });

  it('relayer() goes on behind a nonce that the node knows to be used', async () => {
    pool.refuse = (nonce) => (nonce === 7 ? 'nonce too low' : null);
    const send = one.send(call(1n));
    pool.count = 8;
    expect((await send).state).toBe('sent');
    expect([...pool.sent.keys()]).toEqual([8]);
    pool.refuse = () => 'nonce too low';
    expect(await one.send(call(1n))).toMatchObject({ state: 'unsent' });
  });

  it('relayer() sends again what the node forgot, and knows when another transaction took its place', async () => {
    const relayed = await one.send(call(1n));
    if (relayed.state !== 'sent') throw new Error(relayed.detail);
    const first = pool.sent.get(7);
    pool.sent.clear();
    now += 10;
    await until(() => pool.sent.has(7));
    expect(pool.sent.get(7)).toBe(first);
    pool.count = 8;
    let ended: unknown = 'waiting';
    const noted = relayed.receipt.then((receipt) => {
      ended = receipt;
    });
    await until(() => {
      now += RECEIPT_GRACE_MS;
      return ended !== 'waiting';
    });
    await noted;
    expect(ended).toBeNull();
  });

  it('I51: relayer() does not send what nobody waits for any more', async () => {
    const relayed = await one.send(call(1n), () => false);
    expect(relayed).toEqual({ state: 'unsent', detail: 'nobody waits for it any more' });
    expect(pool.sent.size).toBe(0);
    expect((await one.send(call(1n), () => true)).state).toBe('sent');
    expect([...pool.sent.keys()]).toEqual([7]);
  });

  it('I51: relayer() puts nothing in the place of what it sent when nobody waits for it any more', async () => {
    const real = { ...call(50_000n), data: '0x1234' } as const;
    let isWanted = true;
    const relayed = await one.send(real, () => isWanted);
    if (relayed.state !== 'sent') throw new Error(relayed.detail);
    const first = parseTransaction(pool.sent.get(7) ?? '0x');
    pool.sent.clear();
    now += 10;
    await until(() => pool.sent.has(7));
    expect(parseTransaction(pool.sent.get(7) ?? '0x').data, 'wanted: sent again').toBe('0x1234');
    isWanted = false;
    pool.sent.clear();
    now += 10;
    await until(() => pool.sent.has(7));
    const {
      data = '0x',
      value = 0n,
      maxFeePerGas = 0n,
    } = parseTransaction(pool.sent.get(7) ?? '0x');
    expect([data, value]).toEqual(['0x', 0n]);
    expect(maxFeePerGas).toBeGreaterThan(first.maxFeePerGas ?? 0n);
    isWanted = true;
    pool.sent.clear();
    now += 10;
    await until(() => pool.sent.has(7));
    expect(parseTransaction(pool.sent.get(7) ?? '0x').data ?? '0x').toBe('0x');
    pool.mine();
    expect(await relayed.receipt).toMatchObject({ succeeded: true });
  });

  it('relayer() leaves nobody waiting when it closes', async () => {
    const relayed = await one.send(call(1n));
    one.close();
    if (relayed.state !== 'sent') throw new Error(relayed.detail);
    expect(await relayed.receipt).toBeNull();
  });
});
