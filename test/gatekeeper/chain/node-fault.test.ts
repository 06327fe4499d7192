import { numberToHex } from 'viem';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeFault } from '../../../gatekeeper/chain/chain-evidence.ts';
import { chainNode } from '../../../gatekeeper/chain/chain-node.ts';
import { NETWORKS } from '../../../gatekeeper/money/networks.ts';
import { type RpcStub, rpcStub } from '../rpc-stub.ts';

const NOW_S = 1_800_000_000;
const HEAD_AGE_S_MAX = 120;

let node: RpcStub;
let blockS: number;
let served: number;
beforeEach(async () => {
  [blockS, served] = [NOW_S, NETWORKS.base.chainId];
  node = await rpcStub((method) => {
    if (method === 'eth_chainId') return numberToHex(served);
    return method === 'eth_getCode' ? '0x60' : { number: '0x1', timestamp: numberToHex(blockS) };
  });
});
afterEach(() => node.close());

const fault = () =>
  nodeFault(
    chainNode({ url: node.url, network: NETWORKS.base, timeoutMs: 300 }),
    () => NOW_S * 1000,
  );

describe('nodeFault()', () => {
  it('is null for a node that follows its chain, if late', async () => {
    blockS -= HEAD_AGE_S_MAX;
    expect(await fault()).toBeNull();
  });

  it.each([
    ['is down', () => node.close(), /^Cannot ask the chain node: .*check SIGNALPRESS_RPC_URL$/],
    ['refuses us', () => Object.assign(node, { raw: { status: 429, body: '' } }), /^Cannot ask/],
    ['serves another chain', () => (served = 1), /serves chain 1, but "base" is chain 8453/],
    ['stands still', () => (blockS -= HEAD_AGE_S_MAX + 1), /does not follow its chain/],
  ])('tells of a node that %s, without its address', async (_, fail, words) => {
    await fail();
    const told = await fault();
    expect(told).toMatch(words);
    expect(told).not.toContain(node.url);
  });
});
