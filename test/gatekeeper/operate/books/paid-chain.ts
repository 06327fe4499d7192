import { encodeAbiParameters, encodeEventTopics, formatLog, type Log, numberToHex } from 'viem';
import type { AuditedNode } from '../../../../gatekeeper/operate/books/audit.ts';
import { TOKEN_ABI } from '../../../../gatekeeper/settle/chain/chain-node.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import { signedText } from '../../../../gatekeeper/settle/payment.ts';
import { claimOf } from '../../heart/journal/journal-suite.ts';
import { NOW_MS, NOW_S } from '../../payer.ts';

type Hex = `0x${string}`;
export const network = NETWORKS.base;
export const PAYEE: Hex = `0x${'b2'.repeat(20)}`;
export const HEAD = 100_000;
const SECONDS_PER_BLOCK = 2;

/** A payment by its number: payer, nonce and transaction follow from it. */
export interface Paid {
  readonly at: number;
  readonly block: number;
  readonly value?: number;
  /** Not made by an authorization. */
  readonly isPlain?: true;
  /** Made by the transaction of another one. */
  readonly inTransactionOf?: number;
  readonly to?: Hex;
}

const word = (at: number, bytes: number): Hex => `0x${at.toString(16).padStart(2 * bytes, '0')}`;
export const payerOf = (at: number): Hex => word(0xa000 + at, 20);
const nonceOf = (at: number): Hex => word(0xd000 + at, 32);
export const transactionOf = (at: number): Hex => word(0xe000 + at, 32);
export const keyOf = (at: number): string =>
  `${network.name}|${network.asset}|${payerOf(at)}|${nonceOf(at)}`.toLowerCase();
export const blockTimeMs = (block: number): number =>
  NOW_MS - (HEAD - block) * SECONDS_PER_BLOCK * 1000;

/** What such a payment is claimed with. */
export const claimed = (at: number, over: Parameters<typeof claimOf>[1] = {}) => {
  const authorization = {
    from: payerOf(at),
    to: PAYEE,
    value: '10000',
    validAfter: '0',
    validBefore: String(NOW_S),
    nonce: nonceOf(at),
  };
  const signed = signedText({ authorization, signature: `0x${'1'.repeat(130)}` });
  return claimOf(keyOf(at), { signed, body: Buffer.from(`{"body":${at}}`), ...over });
};

function logsOf({ at, block, value = 10_000, isPlain, inTransactionOf, to = PAYEE }: Paid): Log[] {
  const transactionHash = transactionOf(inTransactionOf ?? at);
  const log = (eventName: 'AuthorizationUsed' | 'Transfer', logIndex: number): Log => {
    const args =
      eventName === 'Transfer'
        ? { from: payerOf(at), to }
        : { authorizer: payerOf(at), nonce: nonceOf(at) };
    return formatLog({
      address: network.asset as Hex,
      topics: encodeEventTopics({ abi: TOKEN_ABI, eventName, args } as never) as never,
      data:
        eventName === 'Transfer'
          ? encodeAbiParameters([{ type: 'uint256' }], [BigInt(value)])
          : '0x',
      blockNumber: numberToHex(block),
      logIndex: numberToHex(logIndex),
      transactionHash,
    });
  };
  const transfer = log('Transfer', 2 * at + 1);
  return isPlain === true ? [transfer] : [log('AuthorizationUsed', 2 * at), transfer];
}

/** A chain with these payments, and how often it was asked. */
export function paidChain(paid: readonly Paid[], logBlocksMax = 2000n) {
  const asked = { logs: 0, all: 0 };
  const logs = paid.flatMap(logsOf);
  const node: AuditedNode = {
    network,
    async block(number) {
      asked.all += 1;
      const at = number === 'latest' ? HEAD : Number(number);
      const timestamp = BigInt(Math.floor(blockTimeMs(at) / 1000));
      return { number: BigInt(at), hash: word(at, 32), timestamp };
    },
    async tokenLogs({ from, to, topics }) {
      asked.logs += 1;
      if (to - from + 1n > logBlocksMax) throw new Error('range too large');
      const payee = String(topics.at(-1)).toLowerCase();
      return logs.filter(
        ({ blockNumber, topics: own }) =>
          BigInt(blockNumber ?? 0) >= from &&
          BigInt(blockNumber ?? 0) <= to &&
          own.length === 3 &&
          String(own.at(-1)).toLowerCase() === payee,
      );
    },
    async receipt(transactionHash) {
      asked.all += 1;
      const own = logs.filter((log) => log.transactionHash === transactionHash);
      const blockNumber = BigInt(own[0]?.blockNumber ?? 0);
      return own.length === 0 ? null : { transactionHash, blockNumber, succeeded: true, logs: own };
    },
  };
  return { node, asked };
}
