import { decodeFunctionData, encodeAbiParameters, encodeEventTopics, numberToHex, pad } from 'viem';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { chainEvidence, nodeFault } from '../../../../gatekeeper/settle/chain/chain-evidence.ts';
import { chainNode, TOKEN_ABI } from '../../../../gatekeeper/settle/chain/chain-node.ts';
import type { ChainEvidence, ChainHead } from '../../../../gatekeeper/settle/evidence.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import type { Authorization } from '../../../../gatekeeper/settle/payment.ts';
import { HANG, type RpcAnswer, type RpcStub, rpcStub } from '../../chain-reader.ts';
import { NOW_MS, NOW_S } from '../../payer.ts';

describe('chainEvidence()', () => {
  const LOG_CALLS_MAX = 32;
  const LOG_BLOCKS: readonly bigint[] = [2000n, 500n, 100n, 10n];

  type Hex = `0x${string}`;
  const network = NETWORKS.base;
  const ALICE: Hex = `0x${'a1'.repeat(20)}`;
  const PAYEE: Hex = `0x${'b2'.repeat(20)}`;
  const OTHER: Hex = `0x${'c3'.repeat(20)}`;
  const NONCE: Hex = `0x${'d4'.repeat(32)}`;
  const TX: Hex = `0x${'e5'.repeat(32)}`;
  const HEAD = 1_000_000;
  const SECONDS_PER_BLOCK = 2;
  const authorization: Authorization = {
    from: ALICE,
    to: PAYEE,
    value: '5000',
    validAfter: String(NOW_S - 600),
    validBefore: String(NOW_S + 300),
    nonce: NONCE,
  };

  interface Event {
    readonly name: 'AuthorizationUsed' | 'AuthorizationCanceled' | 'Transfer';
    readonly block: number;
    readonly index: number;
    readonly address?: Hex;
    readonly nonce?: Hex;
    readonly to?: Hex;
    readonly value?: bigint;
  }

  function logOf({ name, block, index, address = network.asset as Hex, ...event }: Event) {
    const { nonce = NONCE, to = PAYEE, value = 5000n } = event;
    const args = name === 'Transfer' ? { from: ALICE, to } : { authorizer: ALICE, nonce };
    return {
      address,
      topics: encodeEventTopics({ abi: TOKEN_ABI, eventName: name, args } as never),
      data: name === 'Transfer' ? encodeAbiParameters([{ type: 'uint256' }], [value]) : '0x',
      blockNumber: numberToHex(block),
      logIndex: numberToHex(index),
      transactionHash: TX,
      transactionIndex: '0x0',
      blockHash: TX,
      removed: false,
    };
  }

  const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`;
  /** A transfer three blocks below the newest one. */
  const PAID = { state: 'paid', transaction: TX, block: BigInt(HEAD - 3) };

  /** A chain that has these events, all in one transaction, and used the nonce when there is one. */
  function chainOf(events: readonly Event[], status = '0x1'): RpcAnswer {
    const answers: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
      eth_chainId: () => numberToHex(network.chainId),
      eth_getCode: () => '0x60',
      eth_call: () => pad(numberToHex(events.length > 0 ? 1 : 0)),
      eth_getBlockByNumber: ([tag]) => blockOf(tag),
      eth_getLogs: ([query]) => logsIn(events, query),
      eth_getTransactionReceipt: () => receiptOf(events, status),
    };
    return (method, params) => answers[method]?.(params);
  }

  function receiptOf(events: readonly Event[], status: string): object | null {
    const block = events[0]?.block;
    if (block === undefined) return null;
    const logs = events.map(logOf);
    return { transactionHash: TX, blockNumber: numberToHex(block), status, logs };
  }

  function blockOf(tag: unknown): object {
    const number = tag === 'latest' ? HEAD : Number(tag);
    const timestamp = NOW_S - (HEAD - number) * SECONDS_PER_BLOCK;
    return { number: numberToHex(number), hash: hashOf(number), timestamp: numberToHex(timestamp) };
  }

  function logsIn(events: readonly Event[], query: unknown): object[] {
    const { fromBlock, toBlock } = query as { fromBlock: Hex; toBlock: Hex };
    const among = ({ name, block }: Event): boolean =>
      name !== 'Transfer' && block >= Number(fromBlock) && block <= Number(toBlock);
    return events.filter(among).map(logOf);
  }

  const used = (over: Partial<Event> = {}): Event => ({
    name: 'AuthorizationUsed',
    block: HEAD - 3,
    index: 7,
    ...over,
  });
  const moved = (over: Partial<Event> = {}): Event => ({
    ...used(),
    name: 'Transfer',
    index: 8,
    ...over,
  });

  let stub: RpcStub;
  let reported: string[];
  beforeEach(async () => {
    stub = await rpcStub(chainOf([]));
    reported = [];
  });
  afterEach(() => stub.close());

  /** A node gets long enough to answer on a busy machine; one that hangs is given up earlier. */
  interface Limits {
    readonly confirmations?: number;
    readonly timeoutMs?: number;
    readonly nodeTimeoutMs?: number;
  }

  function evidence({ nodeTimeoutMs = 5000, ...over }: Limits = {}): ChainEvidence {
    return chainEvidence({
      node: chainNode({ url: stub.url, network, timeoutMs: nodeTimeoutMs }),
      confirmations: 1,
      clock: () => NOW_MS,
      attemptPauseMs: 1,
      report: (error) => reported.push(error instanceof Error ? error.message : ''),
      ...over,
    });
  }
  const found = (answer: RpcAnswer, over = {}) => {
    stub.answer = answer;
    return evidence(over).find(authorization);
  };

  const complete = chainOf([used(), moved()]);
  function without(missing: string): RpcAnswer {
    return (method, params) => (method === missing ? null : complete(method, params));
  }
  const stale: RpcAnswer = (method, params) =>
    method === 'eth_getBlockByNumber'
      ? { number: '0x10', timestamp: numberToHex(NOW_S - 121) }
      : chainOf([])(method, params);
  const anotherChain: RpcAnswer = (method, params) =>
    method === 'eth_chainId' ? '0x1' : complete(method, params);
  it('I9: chainEvidence() finds a used authorization with its transfer, whoever submitted it', async () => {
    expect(await found(chainOf([used(), moved()]))).toEqual(PAID);
    expect(await found(chainOf([]))).toEqual({ state: 'unused' });
    const cancelled = [used({ name: 'AuthorizationCanceled' })];
    expect(await found(chainOf(cancelled))).toEqual({ state: 'cancelled' });
  });

  it('I11: chainEvidence() takes no other transfer for this one', async () => {
    const wrong: [string, Event[]][] = [
      ['no transfer', [used()]],
      ['another payee', [used(), moved({ to: OTHER })]],
      ['another value', [used(), moved({ value: 4999n })]],
      ['another token', [used(), moved({ address: OTHER })]],
      ['before the use', [moved({ index: 6 }), used()]],
      ['of the next authorization', [used(), moved({ index: 9 })]],
    ];
    for (const [name, events] of wrong) {
      expect(await found(chainOf(events)), name).toEqual({ state: 'cancelled' });
      expect(await evidence().confirm(authorization, TX), name).toEqual({ state: 'unused' });
    }
    const reverted = chainOf([used(), moved()], '0x0');
    expect(await found(reverted), 'reverted').toEqual({ state: 'unknown' });
    expect(await evidence().confirm(authorization, TX), 'reverted').toEqual({ state: 'unused' });
    const foreign = chainOf([used({ nonce: `0x${'99'.repeat(32)}` }), moved()]);
    expect(await found(foreign), 'another nonce').toEqual({ state: 'unknown' });
    const elsewhere = chainOf([used({ address: OTHER }), moved()]);
    expect((await found(elsewhere)).state, 'event of another token').not.toBe('paid');
  });

  it('chainEvidence() confirms the transaction that a facilitator named, and only that', async () => {
    stub.answer = chainOf([used(), moved()]);
    expect(await evidence().confirm(authorization, TX)).toEqual(PAID);
    expect(await evidence().confirm(authorization, 'tx-1')).toEqual({ state: 'unused' });
    stub.answer = (method, params) =>
      method === 'eth_getTransactionReceipt' ? null : chainOf([])(method, params);
    expect(await evidence().confirm(authorization, TX)).toEqual({ state: 'unused' });
  });

  it('I61: chainEvidence() counts a use after the block of a claim, and none in it or before', async () => {
    const head = (number: number, hash = hashOf(number)): ChainHead => `${BigInt(number)}:${hash}`;
    stub.answer = chainOf([used(), moved()]);
    const foundAfter = (mark: ChainHead) => evidence().find(authorization, mark);
    expect(await foundAfter(head(HEAD - 4))).toEqual(PAID);
    for (const number of [HEAD - 3, HEAD]) {
      expect(await foundAfter(head(number))).toEqual({ state: 'older' });
      // Where another block stands now, the chain was reorganised after the claim.
      expect(await foundAfter(head(number, hashOf(1)))).toEqual(PAID);
    }
    stub.answer = (method, params) =>
      method === 'eth_getBlockByNumber' && params[0] === numberToHex(HEAD - 3)
        ? null
        : chainOf([used(), moved()])(method, params);
    expect(await foundAfter(head(HEAD - 3))).toEqual({ state: 'unknown' });
  });

  it('I61: chainEvidence() asks the token about a use that lies further back than it searches', async () => {
    const long = { ...authorization, validAfter: '0' };
    const mark: ChainHead = `${BigInt(HEAD - 1)}:${hashOf(HEAD - 1)}`;
    stub.answer = chainOf([used({ block: 5 }), moved({ block: 5 })]);
    expect(await evidence().find(long, mark)).toEqual({ state: 'older' });
    const young = chainOf([used({ block: 5 }), moved({ block: 5 })]);
    stub.answer = (method, params) =>
      method === 'eth_call' && params[1] !== 'latest' ? pad('0x0') : young(method, params);
    expect(await evidence().find(long, mark)).toEqual({ state: 'unknown' });
  });

  it('I61: chainEvidence() names the newest block, and none of a node that is silent or behind', async () => {
    expect(await evidence().head()).toBe(`${HEAD}:${hashOf(HEAD)}`);
    stub.answer = stale;
    expect(await evidence().head()).toBeNull();
    stub.raw = { status: 500, body: 'no' };
    expect(await evidence().head()).toBeNull();
    expect(reported).toHaveLength(2);
  });

  it('I61: chainEvidence() reads the newest block after each question, once for all who ask meanwhile', async () => {
    let head = HEAD;
    stub.answer = (method, params) =>
      method === 'eth_getBlockByNumber' ? blockOf(head++) : chainOf([])(method, params);
    const one = evidence();
    const first = one.head();
    await vi.waitFor(() => expect(head).toBe(HEAD + 1));
    const others = await Promise.all(Array.from({ length: 50 }, () => one.head()));
    expect(new Set([await first, ...others])).toEqual(
      new Set([HEAD, HEAD + 1].map((number) => `${number}:${hashOf(number)}`)),
    );
    expect(others).not.toContain(await first);
  });

  it('I61: chainEvidence() tells whether a settled transfer is there for good', async () => {
    const depth = network.finalBlocks;
    const watched = (answer: RpcAnswer) => {
      stub.answer = answer;
      return evidence().watch(authorization, TX);
    };
    const at = (block: number) => chainOf([used({ block }), moved({ block })]);
    expect(await watched(at(HEAD - depth + 1))).toEqual({ state: 'final' });
    expect(await watched(at(HEAD - depth + 2))).toEqual({ state: 'open' });
    expect(await watched(chainOf([]))).toEqual({ state: 'gone' });
    expect(await watched(chainOf([used({ name: 'AuthorizationCanceled' })]))).toEqual({
      state: 'gone',
    });
    stub.answer = (method, [hash, ...rest]) =>
      method === 'eth_getTransactionReceipt' && hash !== TX
        ? null
        : at(HEAD - 3)(method, [hash, ...rest]);
    expect(await evidence().watch(authorization, `0x${'77'.repeat(32)}`)).toEqual({
      state: 'moved',
      transaction: TX,
    });
  });

  it('I61: chainEvidence() calls no transfer gone by the word of a node that is silent, behind or lacks a block', async () => {
    const watched = () => evidence().watch(authorization, TX);
    stub.answer = stale;
    expect(await watched()).toEqual({ state: 'open' });
    // Two machines behind one address: the one that is asked about the state lags.
    stub.answer = (method, params) => {
      if (method === 'eth_call' && params[1] !== 'latest') throw new Error('unknown block');
      return chainOf([])(method, params);
    };
    expect(await watched()).toEqual({ state: 'open' });
    stub.raw = { status: 500, body: '' };
    expect(await watched()).toEqual({ state: 'open' });
  });

  it('chainEvidence() waits for the depth that was asked for', async () => {
    const events = [used({ block: HEAD - 3 }), moved({ block: HEAD - 3 })];
    expect(await found(chainOf(events), { confirmations: 4 })).toMatchObject({ state: 'paid' });
    const shallow = await found(chainOf(events), { confirmations: 5 });
    expect(shallow).toEqual({ state: 'unconfirmed' });
  });

  it('I9: chainEvidence() finds what was mined while it asked', async () => {
    const block = HEAD + 1;
    const mined = chainOf([used({ block }), moved({ block })]);
    let isMined = false;
    stub.answer = (method, params) => {
      isMined ||= method === 'eth_call';
      const isHead = method === 'eth_getBlockByNumber' && params[0] === 'latest';
      return isMined && isHead ? blockOf(block) : mined(method, params);
    };
    expect(await evidence().find(authorization)).toEqual({ ...PAID, block: BigInt(block) });
  });

  it('I9: chainEvidence() asks again where the node refused, a few times and not where it hangs', async () => {
    const all = chainOf([used(), moved()]);
    const refusing = (times: number): RpcAnswer => {
      let left = times;
      return (method, params) => {
        if (method !== 'eth_call') return all(method, params);
        if (left === Number.POSITIVE_INFINITY) return HANG;
        left -= 1;
        if (left >= 0) throw new Error('too many requests');
        return all(method, params);
      };
    };
    const calls = () => stub.asked.filter((method) => method === 'eth_call').length;
    const wants = [
      [2, PAID, 3],
      [3, { state: 'unknown' }, 3],
      [Number.POSITIVE_INFINITY, { state: 'unknown' }, 1],
    ] as const;
    for (const [times, want, asked] of wants) {
      stub.asked.length = 0;
      const nodeTimeoutMs = times === Number.POSITIVE_INFINITY ? 200 : 5000;
      expect(await found(refusing(times), { nodeTimeoutMs })).toEqual(want);
      expect(calls()).toBe(asked);
    }
    expect(reported).toHaveLength(2);
  });

  it('I9: chainEvidence() knows nothing when the node gives no answer', async () => {
    const modes: [string, () => void][] = [
      ['hung', () => (stub.answer = () => HANG)],
      [
        'error',
        () =>
          (stub.answer = () => {
            throw new Error('limit exceeded');
          }),
      ],
      ['null', () => (stub.answer = () => null)],
      ['500', () => (stub.raw = { status: 500, body: 'no' })],
      ['HTML', () => (stub.raw = { status: 200, body: '<html>' })],
      ['redirect', () => (stub.raw = { status: 307, body: '', headers: { location: stub.url } })],
      ['no such block', () => (stub.answer = without('eth_getBlockByNumber'))],
      ['no logs', () => (stub.answer = without('eth_getLogs'))],
      ['no receipt', () => (stub.answer = without('eth_getTransactionReceipt'))],
      ['stale node', () => (stub.answer = stale)],
      ['another chain', () => (stub.answer = anotherChain)],
    ];
    for (const [name, set] of modes) {
      stub.raw = null;
      set();
      const nodeTimeoutMs = name === 'hung' ? 200 : 5000;
      const finding = await evidence({ nodeTimeoutMs }).find(authorization);
      expect(finding, name).toEqual({ state: 'unknown' });
    }
    expect(reported.length).toBeGreaterThan(5);
    expect(reported.join()).not.toContain(stub.url);
  });

  it('chainEvidence() gives up a search that takes too long', async () => {
    stub.answer = (method, params) =>
      method === 'eth_getLogs' ? HANG : chainOf([used(), moved()])(method, params);
    // Its node would be waited for longer than for any test.
    expect(await evidence({ timeoutMs: 50, nodeTimeoutMs: 600_000 }).find(authorization)).toEqual({
      state: 'unknown',
    });
  });

  it('chainEvidence() searches from the last possible block to the first, in bounded steps', async () => {
    const expired = { ...authorization, validAfter: '0', validBefore: String(NOW_S - 40_000) };
    const block = HEAD - 20_000 - 2500;
    stub.answer = chainOf([used({ block }), moved({ block })]);
    expect(await evidence().find(expired)).toEqual({ ...PAID, block: BigInt(block) });
    expect(stub.asked.filter((method) => method === 'eth_getLogs')).toHaveLength(2);

    stub.asked.length = 0;
    stub.answer = chainOf([used({ block: 5 }), moved({ block: 5 })]);
    const ancient = { ...authorization, validAfter: '0' };
    expect(await evidence().find(ancient)).toEqual({ state: 'unknown' });
    expect(stub.asked.filter((method) => method === 'eth_getLogs')).toHaveLength(LOG_CALLS_MAX);
  });

  it('chainEvidence() asks in smaller steps where a node refuses large ones', async () => {
    const all = chainOf([used(), moved()]);
    const limited =
      (blocks: bigint): RpcAnswer =>
      (method, params) => {
        const { fromBlock, toBlock } = (params[0] ?? {}) as { fromBlock: Hex; toBlock: Hex };
        const tooMany =
          method === 'eth_getLogs' && BigInt(toBlock) - BigInt(fromBlock) + 1n > blocks;
        if (tooMany) throw new Error('query exceeds range');
        return all(method, params);
      };
    for (const blocks of LOG_BLOCKS) {
      expect(await found(limited(blocks)), String(blocks)).toMatchObject({ state: 'paid' });
    }
    expect(await found(limited(9n))).toEqual({ state: 'unknown' });
  });
});

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

const CLOCK_S = 1_800_000_000;
const HEAD_AGE_S_MAX = 120;

describe('nodeFault()', () => {
  let node: RpcStub;
  let blockS: number;
  let served: number;
  beforeEach(async () => {
    [blockS, served] = [CLOCK_S, NETWORKS.base.chainId];
    node = await rpcStub((method) => {
      if (method === 'eth_chainId') return numberToHex(served);
      return method === 'eth_getCode' ? '0x60' : { number: '0x1', timestamp: numberToHex(blockS) };
    });
  });

  const fault = () =>
    nodeFault(
      chainNode({ url: node.url, network: NETWORKS.base, timeoutMs: 300 }),
      () => CLOCK_S * 1000,
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
