import { setTimeout as pause } from 'node:timers/promises';
import { isHash } from 'viem';
import { networkFault } from '../../compiler/contract/network-fault.ts';
import {
  blockNumberOf,
  type ChainEvidence,
  type ChainFinding,
  type ChainHead,
  type WatchedTransfer,
} from '../money/evidence.ts';
import type { Authorization } from '../money/payment.ts';
import { inTime } from '../system/in-time.ts';
import { messageOf } from '../system/message-of.ts';
import {
  type Block,
  ChainMismatch,
  type ChainNode,
  isTimeout,
  type TransactionReceipt,
} from './chain-node.ts';
import { findUse } from './find-use.ts';
import { provesTransfer } from './transfer-proof.ts';

/** Longest search for one authorization, however many questions it takes. */
const EVIDENCE_TIMEOUT_MS = 15_000;
/** How often a node that refuses a question is asked in all; busy nodes refuse for a moment. */
const ATTEMPTS_MAX = 3;
const ATTEMPT_PAUSE_MS = 250;
/** A node whose newest block is older does not follow its chain: it cannot say that something did not happen. */
const HEAD_AGE_S_MAX = 120;

interface ChainEvidenceOptions {
  readonly node: ChainNode;
  /** Blocks that must hold a transfer, its own included; 1 as soon as it is mined. */
  readonly confirmations: number;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Told about answers that the node did not give; must not throw. */
  readonly report: (error: unknown) => void;
  /** Told the time of each newest block, in milliseconds since the epoch; must not throw. */
  readonly noteTime?: (ms: number) => void;
  readonly timeoutMs?: number;
  /** Milliseconds before a refused question is asked again. */
  readonly attemptPauseMs?: number;
}

export function chainEvidence(options: ChainEvidenceOptions): ChainEvidence {
  const { report } = options;
  const { timeoutMs = EVIDENCE_TIMEOUT_MS, attemptPauseMs = ATTEMPT_PAUSE_MS } = options;
  const answered = async <T>(ask: () => Promise<T>): Promise<T | null> => {
    try {
      const answer = await inTime(insist(ask, attemptPauseMs), timeoutMs);
      if (answer === null) throw new Error(`no answer within ${timeoutMs} ms`);
      return answer;
    } catch (error) {
      report(nodeFailure(error));
      return null;
    }
  };
  const readHead = sharedReading(() => answered(() => headOf(options)));
  return {
    find: async (authorization, after) =>
      (await answered(() => find(options, authorization, after))) ?? UNKNOWN,
    confirm: async (authorization, transaction) =>
      (await answered(() => confirm(options, authorization, transaction))) ?? UNKNOWN,
    watch: async (authorization, transaction) =>
      (await answered(() => watch(options, authorization, transaction))) ?? { state: 'open' },
    head: readHead,
  };
}

const UNKNOWN: ChainFinding = { state: 'unknown' };

/** Each gets a reading that began after its question; those who ask during one share the next. */
function sharedReading<T>(read: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | null = null;
  return () => {
    next ??= last.then(() => {
      const reading = read();
      last = reading;
      next = null;
      return reading;
    });
    return next;
  };
}

/** Throws for a node that does not follow its chain: what it does not know yet would count as later. */
async function headOf(options: ChainEvidenceOptions): Promise<ChainHead> {
  const { clock } = options;
  const { number, hash, timestamp } = await newest(options);
  if (isBehind(timestamp, clock())) throw new StaleHead(`block ${number} is the newest`);
  return `${number}:${hash}`;
}

async function newest({ node, noteTime }: ChainEvidenceOptions): Promise<Block> {
  const block = await node.block('latest');
  noteTime?.(Number(block.timestamp) * 1000);
  return block;
}

class StaleHead extends Error {
  override readonly name = 'StaleHead';
}

function isBehind(timestamp: bigint, nowMs: number): boolean {
  return nowMs / 1000 - Number(timestamp) > HEAD_AGE_S_MAX;
}

/** One refused question must not decide about money; a node that hangs was waited for long enough. */
export async function insist<T>(ask: () => Promise<T>, pauseMs: number): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || isFinal(error)) throw error;
    }
    await pause(pauseMs);
  }
}

/** A node that hangs or lags was given its time. */
function isFinal(error: unknown): boolean {
  return error instanceof StaleHead || isTimeout(error);
}

/** Why nothing can be proved by a node at this moment, on a question that no stranger chose; null when it can. */
export async function nodeFault(node: ChainNode, clock: () => number): Promise<string | null> {
  try {
    const { timestamp } = await node.block('latest');
    const isBehind = clock() / 1000 - Number(timestamp) > HEAD_AGE_S_MAX;
    return isBehind ? BEHIND : null;
  } catch (error) {
    return messageOf(error instanceof ChainMismatch ? error : nodeFailure(error));
  }
}

const BEHIND =
  'Cannot ask the chain node: it does not follow its chain; wait until it has caught up, or set SIGNALPRESS_RPC_URL to another one';

/** An error without the node's address, which may contain the operator's key. */
export function nodeFailure(error: unknown): Error {
  const name = error instanceof Error ? error.name : 'Error';
  return new Error(
    `Cannot ask the chain node: ${networkFault(error)?.words ?? name}; check SIGNALPRESS_RPC_URL`,
    {
      cause: error,
    },
  );
}

async function find(
  options: ChainEvidenceOptions,
  authorization: Authorization,
  after?: ChainHead,
): Promise<ChainFinding> {
  const { node, clock } = options;
  const used = await node.isUsed(authorization);
  // Only asked for afterwards does it lead to a block that holds the use.
  const head = await newest(options);
  if (!used) return { state: isBehind(head.timestamp, clock()) ? 'unknown' : 'unused' };
  const use = await findUse(node, authorization, head);
  if (use === null) return notFound(node, authorization, after);
  if (use.event === 'AuthorizationCanceled') return { state: 'cancelled' };
  const receipt = await node.receipt(use.transaction);
  if (receipt === null || !receipt.succeeded) return { state: 'unknown' };
  // Used for another payee or value: the payer signed the same nonce twice.
  if (!provesTransfer(receipt, authorization, node.network)) return { state: 'cancelled' };
  if (after !== undefined && (await isUpTo(node, receipt.blockNumber, after)))
    return { state: 'older' };
  return paid(options, receipt);
}

/** A use that the search did not reach: the state of the token may still say that it is older. */
async function notFound(
  node: ChainNode,
  authorization: Authorization,
  after?: ChainHead,
): Promise<ChainFinding> {
  if (after === undefined) return UNKNOWN;
  const isOlder = await node.isUsed(authorization, blockNumberOf(after)).catch(() => false);
  return isOlder ? { state: 'older' } : UNKNOWN;
}

/** Where the chain was reorganised since, the number of a block says nothing: what was mined anew counts as later. */
async function isUpTo(node: ChainNode, block: bigint, after: ChainHead): Promise<boolean> {
  const number = blockNumberOf(after);
  if (block > number) return false;
  const { hash } = await node.block(number);
  return after === `${number}:${hash}`;
}

async function confirm(
  options: ChainEvidenceOptions,
  authorization: Authorization,
  transaction: string,
): Promise<ChainFinding> {
  const { node } = options;
  if (!isHash(transaction)) return { state: 'unused' };
  const receipt = await node.receipt(transaction);
  if (receipt === null || !provesTransfer(receipt, authorization, node.network)) {
    return { state: 'unused' };
  }
  return paid(options, receipt);
}

/** All as of one block: of two machines behind one address the one that lags knows neither the transfer nor that block. */
async function watch(
  options: ChainEvidenceOptions,
  authorization: Authorization,
  transaction: string,
): Promise<WatchedTransfer> {
  const { node } = options;
  const head = blockNumberOf(await headOf(options));
  const named = await confirm(options, authorization, transaction);
  if (named.state === 'paid') {
    const depth = head - named.block + 1n;
    return { state: depth >= BigInt(node.network.finalBlocks) ? 'final' : 'open' };
  }
  if (named.state !== 'unused') return { state: 'open' };
  if (!(await node.isUsed(authorization, head))) return { state: 'gone' };
  const found = await find(options, authorization);
  if (found.state === 'cancelled') return { state: 'gone' };
  return found.state === 'paid'
    ? { state: 'moved', transaction: found.transaction }
    : { state: 'open' };
}

async function paid(
  { node, confirmations }: ChainEvidenceOptions,
  receipt: TransactionReceipt,
): Promise<ChainFinding> {
  const { transactionHash: transaction, blockNumber: block } = receipt;
  const found: ChainFinding = { state: 'paid', transaction, block };
  if (confirmations <= 1) return found;
  const { number } = await node.block('latest');
  const depth = number - block + 1n;
  return depth >= BigInt(confirmations) ? found : { state: 'unconfirmed' };
}
