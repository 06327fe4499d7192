import {
  encodeAbiParameters,
  encodeEventTopics,
  getAbiItem,
  type Log,
  numberToHex,
  toFunctionSelector,
} from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  chainNode,
  TOKEN_ABI,
  type TransactionReceipt,
} from '../../../../gatekeeper/settle/chain/chain-node.ts';
import { directSettlement } from '../../../../gatekeeper/settle/chain/direct-settlement.ts';
import type { Relayed, Relayer } from '../../../../gatekeeper/settle/chain/relayer.ts';
import type { ChainFinding } from '../../../../gatekeeper/settle/evidence.ts';
import {
  authorizationOf,
  type FacilitatorRequest,
} from '../../../../gatekeeper/settle/facilitator.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import { type RpcStub, rpcStub } from '../../chain-reader.ts';
import { paymentRequest } from '../../payer.ts';

const network = NETWORKS.base;
const TX = `0x${'12'.repeat(32)}` as const;
const RECEIPT: TransactionReceipt = {
  transactionHash: TX,
  blockNumber: 1n,
  succeeded: true,
  logs: [],
};
/** Long enough for any step on a busy machine. */
const PATIENT_MS = 15_000;
/** For what never ends. */
const PATIENCE_MS = 60;
const never = new Promise<never>(() => {});

let stub: RpcStub;
beforeAll(async () => {
  const answers: Readonly<Record<string, string>> = {
    eth_chainId: numberToHex(network.chainId),
    eth_estimateGas: numberToHex(60_000),
  };
  stub = await rpcStub((method) => answers[method] ?? '0x60');
});
afterAll(() => stub.close());

const HEAD = numberToHex(16);
/** What a node shows of its newest block to who asks about that block by its number. */
interface AtHead {
  readonly takes?: boolean;
  readonly isUsed?: boolean;
  readonly balance?: number;
  readonly code?: string;
  /** The question goes to a machine that does not know the block. */
  readonly isMissing?: boolean;
  /** Whether the token takes the transfer where no block is named. */
  readonly takesNow?: boolean;
}

/** A node of several machines, of which not all are at the same block. */
function nodeWith(head: AtHead): RpcStub['answer'] {
  const { takes = false, takesNow = false, isUsed = false, balance = 1_000_000 } = head;
  const state = toFunctionSelector(getAbiItem({ abi: TOKEN_ABI, name: 'authorizationState' }));
  const read = ({ data = '' }: { readonly data?: string }): number =>
    data.startsWith(state) ? Number(isUsed) : balance;
  const answers: Readonly<Record<string, (of: unknown, block: unknown) => unknown>> = {
    eth_chainId: () => numberToHex(network.chainId),
    eth_getBlockByNumber: () => ({ number: HEAD, timestamp: '0x1' }),
    eth_getCode: (of) => (of === network.asset ? '0x60' : (head.code ?? '0x')),
    eth_call: (of) => numberToHex(read(of as { data?: string }), { size: 32 }),
    eth_estimateGas(_, block) {
      if (block === HEAD ? takes : takesNow) return numberToHex(60_000);
      throw new Error('execution reverted');
    },
  };
  return (method, [of, block]) => {
    if (head.isMissing && block === HEAD) throw new Error('header not found');
    return answers[method]?.(of, block);
  };
}

/** A receipt that holds the transfer of a request. */
function transferOf(request: FacilitatorRequest): TransactionReceipt {
  const { from, to, value, nonce } = authorizationOf(request);
  const logOf = (eventName: string, args: object, data = '0x') =>
    ({
      address: network.asset,
      topics: encodeEventTopics({ abi: TOKEN_ABI, eventName, args } as never),
      data,
      logIndex: eventName === 'Transfer' ? 8 : 7,
    }) as unknown as Log;
  const amount = encodeAbiParameters([{ type: 'uint256' }], [BigInt(value)]);
  const logs = [
    logOf('AuthorizationUsed', { authorizer: from, nonce }),
    logOf('Transfer', { from, to }, amount),
  ];
  return { ...RECEIPT, logs };
}

interface Slow {
  readonly request?: FacilitatorRequest;
  readonly find?: () => Promise<ChainFinding>;
  readonly send?: Relayer['send'];
  readonly confirm?: () => Promise<ChainFinding>;
  readonly check?: () => Promise<void>;
  /** Milliseconds; PATIENT_MS where it is not given. */
  readonly patienceMs?: number;
  /** Of a clock that stands still until the transaction is sent, where none is given. */
  readonly now?: () => number;
}
const sentWith = (receipt: Promise<TransactionReceipt | null>) => async (): Promise<Relayed> => ({
  state: 'sent',
  receipt,
});
const paid = async (): Promise<ChainFinding> => ({
  state: 'paid',
  transaction: TX,
  block: 1n,
});
const later = <T>(ms: number, value: T): Promise<T> =>
  new Promise((resolve) => setTimeout(resolve, ms, value));

/** Settles over a node that takes everything. */
async function settled(slow: Slow) {
  const { send = sentWith(Promise.resolve(RECEIPT)), confirm = paid } = slow;
  // How long the trial takes on a busy machine decides nothing.
  let sentAt: number | null = null;
  const sinceSent = (): number => (sentAt === null ? 0 : performance.now() - sentAt);
  const { find = async () => ({ state: 'unknown' }) } = slow;
  const address = `0x${'ab'.repeat(20)}` as const;
  const node = chainNode({ url: stub.url, network });
  const facilitator = directSettlement({
    node: { ...node, check: slow.check ?? node.check },
    evidence: { confirm, find },
    relayer: {
      address,
      send: (...call) => {
        sentAt ??= performance.now();
        return send(...call);
      },
      close: () => {},
    },
    report: () => {},
    now: slow.now ?? sinceSent,
    minedTimeoutMs: slow.patienceMs ?? PATIENT_MS,
    depthPollMs: 5,
  });
  const { request = await paymentRequest() } = slow;
  const outcome = await facilitator.settle(request);
  return { outcome, again: () => facilitator.settle(request) };
}

describe('directSettlement()', () => {
  it('settles what is sent, mined and deep enough', async () => {
    const { outcome } = await settled({
      send: () => later(20, { state: 'sent', receipt: later(20, RECEIPT) }),
    });
    expect(outcome).toEqual({ verdict: 'settled', transaction: TX, block: 1n });
  });

  it.each<[string, Slow, string]>([
    ['no place to be sent', { send: () => never }, 'not sent in time'],
    ['no block', { send: sentWith(never) }, 'not mined in time'],
    ['a node that went silent', { confirm: () => never }, 'not confirmed in time'],
    ['a slow node', { confirm: () => later(60, { state: 'unknown' }) }, 'not confirmed in time'],
    [
      'not enough depth',
      { confirm: async () => ({ state: 'unconfirmed' }) },
      'not confirmed in time',
    ],
  ])('I9: gives no verdict for %s, in time', async (_, slow, detail) => {
    const { outcome } = await settled({ ...slow, patienceMs: PATIENCE_MS });
    expect(outcome).toEqual({ verdict: 'none', detail });
  });

  describe('when the token does not take it, and nobody used it', () => {
    const find = async (): Promise<ChainFinding> => ({ state: 'unused' });
    const settledOver = async (head: AtHead, slow: Slow = {}) => {
      const usual = stub.answer;
      stub.answer = nodeWith(head);
      const { outcome } = await settled({ find, ...slow }).finally(() => {
        stub.answer = usual;
      });
      return outcome;
    };

    it.each<[string, AtHead]>([
      ['insufficient_funds', { balance: 9999 }],
      ['execution_reverted', {}],
      ['payer_is_smart_account', { code: '0x00' }],
    ])('I14: refuses what one block explains: %s', async (reason, head) => {
      const refused = { verdict: 'refused', reason, isProven: true };
      expect(await settledOver(head)).toEqual(refused);
    });

    it.each<[string, AtHead]>([
      ['was used in it', { isUsed: true, balance: 0 }],
      ['is still taken in it', { takes: true }],
      ['is still taken in it, although the money is gone since', { takes: true, balance: 0 }],
      ['is asked about where the block is not known', { isMissing: true }],
    ])('I9: refuses nothing that %s', async (_, head) => {
      expect(await settledOver(head)).toMatchObject({ verdict: 'none' });
    });

    it.each([
      [16n, 'refused'],
      [17n, 'none'],
    ])('I9: judges what failed in block %s by block 16: %s', async (blockNumber, verdict) => {
      const receipt = { ...RECEIPT, blockNumber, succeeded: false };
      const send = sentWith(Promise.resolve(receipt));
      const outcome = await settledOver({ takesNow: true }, { send, confirm: find });
      expect(outcome.verdict).toBe(verdict);
    });
  });

  it('I9: counts the time of its trial run as time in which the buyer waits', async () => {
    // Whoever waited for it once more would do so for an hour.
    const patienceMs = 3_600_000;
    let time = 0;
    const check = async (): Promise<void> => {
      time += patienceMs;
    };
    const { outcome } = await settled({ check, send: () => never, patienceMs, now: () => time });
    expect(outcome).toEqual({ verdict: 'none', detail: 'not sent in time' });
  });

  describe('when the node knows nothing of the transaction that it just told of', () => {
    const unused = async (): Promise<ChainFinding> => ({ state: 'unused' });
    const sentOf = (receipt: TransactionReceipt) => sentWith(Promise.resolve(receipt));

    it('I9: refuses nothing that the receipt shows to be charged', async () => {
      const request = await paymentRequest();
      const send = sentOf(transferOf(request));
      const patienceMs = PATIENCE_MS;
      const { outcome } = await settled({
        request,
        send,
        confirm: unused,
        find: unused,
        patienceMs,
      });
      expect(outcome).toEqual({ verdict: 'none', detail: 'not confirmed in time' });
      let asked = 0;
      const confirm = async (): Promise<ChainFinding> => (asked++ < 3 ? unused() : paid());
      const late = await settled({ request, send, confirm, find: unused });
      expect(late.outcome).toMatchObject({ verdict: 'settled', transaction: TX });
    });

    it('I51: refuses nothing in whose place an empty transaction went', async () => {
      const { outcome } = await settled({ confirm: unused, find: unused });
      expect(outcome).toEqual({ verdict: 'none', detail: 'given up before it was mined' });
    });

    it('I9: refuses what the token did not take', async () => {
      const send = sentOf({ ...RECEIPT, succeeded: false });
      const { outcome } = await settled({
        send,
        confirm: unused,
        find: async () => ({ state: 'cancelled' }),
      });
      expect(outcome).toMatchObject({ verdict: 'refused', reason: 'authorization_cancelled' });
    });
  });

  it('I51: tells the relayer that nobody waits for it any more, and when somebody does again', async () => {
    let isWanted = (): boolean => false;
    const { again } = await settled({
      patienceMs: PATIENCE_MS,
      send(_, wanted = isWanted) {
        isWanted = wanted;
        return never;
      },
    });
    expect(isWanted()).toBe(false);
    const waiting = again();
    expect(isWanted()).toBe(true);
    await waiting;
    expect(isWanted()).toBe(false);
  });

  it.each(['gas costs more than the cap allows', 'insufficient funds'])(
    'I51: says of what the relayer did not send that nothing was sent: %s',
    async (detail) => {
      const unsent = { state: 'unsent', detail, declined: true } as const;
      const { outcome } = await settled({ send: async () => unsent });
      expect(outcome).toEqual({ verdict: 'none', detail, declined: true, unsent: true });
    },
  );

  it('I51: says of a node that failed before anything was sent that nothing was sent, and of no later failure', async () => {
    const { outcome } = await settled({ send: () => Promise.reject(new Error('down')) });
    expect(outcome).toMatchObject({ verdict: 'none', unsent: true });
    const down = directSettlement({
      node: chainNode({ url: 'http://127.0.0.1:9', network }),
      evidence: { confirm: paid, find: paid },
      relayer: { address: `0x${'ab'.repeat(20)}`, send: () => never, close: () => {} },
      report: () => {},
    });
    expect(await down.settle(await paymentRequest())).toMatchObject({
      verdict: 'none',
      unsent: true,
    });
    for (const slow of [
      { send: sentWith(never) },
      { send: () => never },
      { confirm: () => never },
    ]) {
      expect((await settled({ ...slow, patienceMs: PATIENCE_MS })).outcome).not.toHaveProperty(
        'unsent',
      );
    }
  });

  it('I3: sends once what still waits for its turn when it is asked for again', async () => {
    let sent = 0;
    let finish: (relayed: Relayed) => void = () => {};
    const send = (): Promise<Relayed> => {
      sent += 1;
      return new Promise((done) => {
        finish = done;
      });
    };
    // A clock that stands still: a buyer waits this long each time.
    const still = { patienceMs: PATIENCE_MS, now: () => 0 };
    const { outcome, again } = await settled({ send, ...still });
    expect(outcome).toMatchObject({ verdict: 'none' });
    const repeated = again();
    finish({ state: 'sent', receipt: Promise.resolve(RECEIPT) });
    expect(await repeated).toMatchObject({ verdict: 'settled', transaction: TX });
    expect(sent).toBe(1);
  });
});
