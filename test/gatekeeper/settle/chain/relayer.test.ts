import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keccak256, numberToHex, parseTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { relayerKey } from '../../../../gatekeeper/settle/address.ts';
import { chainNode } from '../../../../gatekeeper/settle/chain/chain-node.ts';
import {
  accountNonces,
  type Broadcast,
  broadcaster,
  type Relayer,
  relayer,
} from '../../../../gatekeeper/settle/chain/relayer.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import { HANG, type RpcAnswer, type RpcStub, rpcStub } from '../../chain-reader.ts';

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

function nonces(max = 16) {
  const chain = { next: 7, asked: 0 };
  const onChain = async (): Promise<number> => {
    chain.asked += 1;
    return chain.next;
  };
  return { chain, ...accountNonces({ max, onChain }) };
}

describe('accountNonces()', () => {
  it('accountNonces() hands out each nonce once, from where the chain stands', async () => {
    const { take, chain } = nonces();
    expect(await Promise.all([take(), take(), take()])).toEqual([7, 8, 9]);
    expect(chain.asked).toBe(1);
  });

  it('accountNonces() asks the chain again when nothing is on its way', async () => {
    const { take, done, chain } = nonces();
    await take();
    done(7);
    chain.next = 20;
    expect(await take()).toBe(20);
  });

  it('accountNonces() hands out what came back before anything new', async () => {
    const { take, giveBack } = nonces();
    await Promise.all([take(), take(), take()]);
    giveBack(7);
    expect([await take(), await take()]).toEqual([7, 10]);
    giveBack(10);
    expect(await take()).toBe(10);
  });

  it('accountNonces() lists the gaps that later transactions wait for, once', async () => {
    const { take, giveBack, takeGaps } = nonces();
    await Promise.all([take(), take(), take(), take()]);
    giveBack(7);
    giveBack(8);
    expect(takeGaps({ used: 8, below: 10 })).toEqual([8]);
    expect(takeGaps({ used: 8, below: 10 })).toEqual([]);
    giveBack(10);
    expect(takeGaps({ used: 8, below: 9 })).toEqual([]);
  });

  it('accountNonces() goes on behind a nonce that somebody else used', async () => {
    const { take, skip, chain } = nonces();
    await Promise.all([take(), take()]);
    skip(7);
    expect(await take()).toBe(9);
    chain.next = 30;
    skip(9);
    expect(await take()).toBe(30);
  });

  it('accountNonces() lets only so many out, and survives a chain that does not answer', async () => {
    const { take, done } = nonces(2);
    const first = [await take(), await take()];
    let third = -1;
    const waiting = take().then((nonce) => {
      third = nonce;
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect([...first, third]).toEqual([7, 8, -1]);
    done(7);
    await waiting;
    expect(third).toBe(9);

    let down = true;
    const onChain = async (): Promise<number> => {
      if (down) throw new Error('down');
      return 3;
    };
    const shaky = accountNonces({ max: 2, onChain });
    await expect(shaky.take()).rejects.toThrow('down');
    down = false;
    expect(await shaky.take()).toBe(3);
  });
});

const CALL = { to: account.address, data: '0x', gas: 21_000n } as const;
const FEES = { maxFeePerGas: 100n, maxPriorityFeePerGas: 10n };

let stub: RpcStub;
beforeEach(async () => {
  stub = await rpcStub(() => null);
});
afterEach(() => stub.close());

function wire(maxFeePerGas = 1000n, timeoutMs = 2000): Broadcast {
  const node = chainNode({ url: stub.url, network, timeoutMs });
  return broadcaster({ node, account, maxFeePerGas });
}
/** A chain whose base fee and tip are these. */
const asking =
  (base: number, tip: number): RpcAnswer =>
  (method) =>
    method === 'eth_getBlockByNumber'
      ? { number: '0x1', timestamp: '0x1', baseFeePerGas: `0x${base.toString(16)}` }
      : `0x${tip.toString(16)}`;
const failing =
  (message: string): RpcAnswer =>
  () => {
    throw new Error(message);
  };

describe('broadcaster()', () => {
  it('broadcaster() signs for the chain, the nonce and the fees that it is given', async () => {
    const { raw, hash } = await wire().sign(CALL, { nonce: 7, fees: FEES });
    expect(hash).toMatch(/^0x[0-9a-f]{64}$/);
    expect(parseTransaction(raw)).toMatchObject({ chainId: 8453, nonce: 7, ...FEES, gas: 21_000n });
  });

  it('broadcaster() never pays more than the cap', async () => {
    stub.answer = asking(100, 10);
    expect(await wire(130n).fees()).toEqual({ maxFeePerGas: 130n, maxPriorityFeePerGas: 10n });
    expect(await wire(129n).fees()).toBeNull();
    stub.answer = asking(500, 10);
    expect(await wire(609n).better(FEES)).toBeNull();
    expect(await wire(610n).better(FEES)).toEqual({
      maxFeePerGas: 610n,
      maxPriorityFeePerGas: 12n,
    });
    stub.answer = asking(50, 10);
    expect(await wire().better(FEES)).toBeNull();
  });

  it('I9: broadcaster() takes what is no clear answer for a transaction that may be out', async () => {
    const form = await wire().sign(CALL, { nonce: 7, fees: FEES });
    const unclear: [string, RpcAnswer][] = [
      ['hash', () => form.hash],
      ['known', failing('already known')],
      ['imported', failing('Transaction already imported')],
      ['internal', failing('internal error')],
      ['hung', () => HANG],
    ];
    for (const [name, answer] of unclear) {
      stub.answer = answer;
      expect(await wire(1n, 200).submit(form), name).toEqual({ state: 'taken' });
    }
    stub.raw = { status: 502, body: 'bad gateway' };
    expect(await wire().submit(form)).toEqual({ state: 'taken' });
  });

  it('broadcaster() knows what a node certainly did not take, and passes none of its words on', async () => {
    const form = await wire().sign(CALL, { nonce: 7, fees: FEES });
    for (const words of [
      'insufficient funds for gas * price + value: address 0xab have 1',
      'max fee per gas less than block base fee',
      'transaction underpriced',
      'intrinsic gas too low',
    ]) {
      stub.answer = failing(words);
      const answer = await wire().submit(form);
      expect(answer.state, words).toBe('rejected');
      expect('detail' in answer ? answer.detail : '').not.toContain('0xab');
    }
    for (const words of ['nonce too low', 'replacement transaction underpriced']) {
      stub.answer = failing(words);
      expect((await wire().submit(form)).state, words).toBe('stale');
    }
  });
});

const folder = mkdtempSync(join(tmpdir(), 'signalpress-relayer-'));
const HEX = 'Ab'.repeat(32);

function keyFile(name: string, text: string, mode = 0o600): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

describe('relayerKey()', () => {
  it('relayerKey() takes 64 hex digits, or a file of its owner with them', () => {
    const key = `0x${HEX.toLowerCase()}`;
    expect(relayerKey(HEX)).toBe(key);
    expect(relayerKey(`0x${HEX}`)).toBe(key);
    expect(relayerKey(keyFile('good', `0x${HEX}\n`))).toBe(key);
  });

  it('relayerKey() refuses everything else and repeats none of it', () => {
    const refused: [string, RegExp][] = [
      [HEX.slice(1), /neither an existing file nor 64 hex digits/],
      [join(folder, 'absent'), /neither an existing file nor 64 hex digits/],
      [keyFile('shared', HEX, 0o640), /others may read it/],
      [keyFile('wrong', `${HEX}00`), /not 64 hex digits/],
    ];
    for (const [setting, why] of refused) {
      expect(() => relayerKey(setting)).toThrow(why);
      expect(() => relayerKey(setting)).not.toThrow(new RegExp(HEX.slice(1, 20)));
    }
  });
});
