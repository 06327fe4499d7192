import { setTimeout as pause } from 'node:timers/promises';
import { BaseError, isHash, TimeoutError } from 'viem';
import type { ChainEvidence, ChainFinding } from '../money/evidence.ts';
import type { Authorization } from '../money/payment.ts';
import { inTime } from '../system/in-time.ts';
import type { ChainNode, TransactionReceipt } from './chain-node.ts';
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
  readonly timeoutMs?: number;
  /** Milliseconds before a refused question is asked again. */
  readonly attemptPauseMs?: number;
}

export function chainEvidence(options: ChainEvidenceOptions): ChainEvidence {
  const { report, timeoutMs = EVIDENCE_TIMEOUT_MS, attemptPauseMs = ATTEMPT_PAUSE_MS } = options;
  const answered = async (ask: () => Promise<ChainFinding>): Promise<ChainFinding> => {
    try {
      const finding = await inTime(insist(ask, attemptPauseMs), timeoutMs);
      if (finding === null) throw new Error(`no answer within ${timeoutMs} ms`);
      return finding;
    } catch (error) {
      report(nodeFailure(error));
      return { state: 'unknown' };
    }
  };
  return {
    find: (authorization) => answered(() => find(options, authorization)),
    confirm: (authorization, transaction) =>
      answered(() => confirm(options, authorization, transaction)),
  };
}

/** One refused question must not decide about money; a node that hangs was waited for long enough. */
async function insist(ask: () => Promise<ChainFinding>, pauseMs: number): Promise<ChainFinding> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || isTimeout(error)) throw error;
    }
    await pause(pauseMs);
  }
}

function isTimeout(error: unknown): boolean {
  const within = (cause: unknown): boolean => cause instanceof TimeoutError;
  return error instanceof BaseError && error.walk(within) !== null;
}

/** An error without the node's address, which may contain the operator's key. */
export function nodeFailure(error: unknown): Error {
  const name = error instanceof Error ? error.name : 'Error';
  return new Error(`Cannot ask the chain node: ${name}; check SIGNALPRESS_RPC_URL`, {
    cause: error,
  });
}

async function find(
  options: ChainEvidenceOptions,
  authorization: Authorization,
): Promise<ChainFinding> {
  const { node, clock } = options;
  const used = await node.isUsed(authorization);
  // Only asked for afterwards does it lead to a block that holds the use.
  const head = await node.block('latest');
  if (!used) {
    const behindS = clock() / 1000 - Number(head.timestamp);
    return { state: behindS > HEAD_AGE_S_MAX ? 'unknown' : 'unused' };
  }
  const use = await findUse(node, authorization, head);
  if (use === null) return { state: 'unknown' };
  if (use.event === 'AuthorizationCanceled') return { state: 'cancelled' };
  const receipt = await node.receipt(use.transaction);
  if (receipt === null || !receipt.succeeded) return { state: 'unknown' };
  // Used for another payee or value: the payer signed the same nonce twice.
  if (!provesTransfer(receipt, authorization, node.network)) return { state: 'cancelled' };
  return paid(options, receipt);
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

async function paid(
  { node, confirmations }: ChainEvidenceOptions,
  receipt: TransactionReceipt,
): Promise<ChainFinding> {
  const transaction = receipt.transactionHash;
  if (confirmations <= 1) return { state: 'paid', transaction };
  const { number } = await node.block('latest');
  const depth = number - receipt.blockNumber + 1n;
  return depth >= BigInt(confirmations) ? { state: 'paid', transaction } : { state: 'unconfirmed' };
}
