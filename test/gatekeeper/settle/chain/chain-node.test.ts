import { decodeFunctionData, numberToHex, pad } from 'viem';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeFault } from '../../../../gatekeeper/settle/chain/chain-evidence.ts';
import { chainNode, TOKEN_ABI } from '../../../../gatekeeper/settle/chain/chain-node.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import { HANG, type RpcStub, rpcStub } from '../../rpc-stub.ts';

type Hex = `0x${string}`;
const network = NETWORKS.base;
const PAYER = { from: `0x${'a1'.repeat(20)}`, nonce: `0x${'d4'.repeat(32)}` };
const BALANCE = 12_345n;
/** What an account that runs the code of another one has (EIP-7702). */
const DELEGATED = `0xef0100${'5c'.repeat(20)}`;

describe('standing()', () => {
  /** Code of the payer, and whether its authorization is used. */
  let account = { code: '0x', isUsed: false, hangs: false };
  let node: RpcStub;
  beforeEach(async () => {
    account = { code: '0x', isUsed: false, hangs: false };
    node = await rpcStub((method, params) => {
      if (method === 'eth_chainId') return numberToHex(network.chainId);
      if (method === 'eth_getCode') return params[0] === PAYER.from ? account.code : '0x60';
      if (account.hangs) return HANG;
      const { data } = params[0] as { data: Hex };
      const { functionName } = decodeFunctionData({ abi: TOKEN_ABI, data });
      const value = functionName === 'balanceOf' ? BALANCE : BigInt(account.isUsed);
      return pad(numberToHex(value));
    });
  });
  afterEach(() => node.close());

  /** A node that was asked before which chain it serves. */
  async function checked(timeoutMs = 2000) {
    const made = chainNode({ url: node.url, network, timeoutMs });
    await made.check();
    node.requests = 0;
    return made;
  }

  it('I60: is one request, with and without the question for code', async () => {
    const { standing } = await checked();
    const known = { balance: BALANCE, isUsed: false };
    expect(await standing(PAYER, false)).toEqual({ ...known, hasCode: null });
    expect(node.requests).toBe(1);
    expect(await standing(PAYER, true)).toEqual({ ...known, hasCode: false });
    expect(node.requests).toBe(2);
  });

  it.each(['0x6080', DELEGATED])('sees a used authorization, and the code %s', async (code) => {
    const { standing } = await checked();
    account = { ...account, code, isUsed: true };
    expect(await standing(PAYER, true)).toEqual({ balance: BALANCE, isUsed: true, hasCode: true });
  });

  it('asks one by one where the node takes no batches, and tries none again', async () => {
    const { standing } = await checked();
    node.takesBatches = false;
    expect(await standing(PAYER, false)).toMatchObject({ balance: BALANCE });
    expect(node.requests).toBe(3);
    expect(await standing(PAYER, false)).toMatchObject({ balance: BALANCE });
    expect(node.requests).toBe(5);
  });

  it('throws where the node does not answer, and does not ask a second time', async () => {
    const { standing } = await checked(100);
    account.hangs = true;
    await expect(standing(PAYER, false)).rejects.toThrow();
    expect(node.requests).toBe(1);
  });
});

const NOW_S = 1_800_000_000;
const HEAD_AGE_S_MAX = 120;

describe('nodeFault()', () => {
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

  const fault = () =>
    nodeFault(
      chainNode({ url: node.url, network: NETWORKS.base, timeoutMs: 300 }),
      () => NOW_S * 1000,
    );

  afterEach(() => node.close());

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
