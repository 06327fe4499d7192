import { parseTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chainNode } from '../../../gatekeeper/chain/chain-node.ts';
import { type Broadcast, broadcaster } from '../../../gatekeeper/chain/relayer.ts';
import { NETWORKS } from '../../../gatekeeper/money/networks.ts';
import { HANG, type RpcAnswer, type RpcStub, rpcStub } from '../rpc-stub.ts';

const network = NETWORKS.base;
const account = privateKeyToAccount(`0x${'11'.repeat(32)}`);
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
