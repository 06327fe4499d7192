import { setTimeout as pause } from 'node:timers/promises';
import {
  encodeEventTopics,
  type Hex,
  isAddressEqual,
  isHash,
  type Log,
  parseEventLogs,
  TimeoutError,
} from 'viem';
import { messageOf } from '../../../compiler/format/errors.ts';
import { networkFault } from '../../../compiler/format/network-fault.ts';
import { inTime } from '../../wire/slots.ts';
import {
  blockNumberOf,
  type ChainEvidence,
  type ChainFinding,
  type ChainHead,
  type WatchedTransfer,
} from '../evidence.ts';
import type { Network } from '../networks.ts';
import type { Authorization } from '../payment.ts';
import {
  type Block,
  ChainMismatch,
  type ChainNode,
  isTimeout,
  TOKEN_ABI,
  type TransactionReceipt,
} from './chain-node.ts';

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
  readonly clock: () => number;
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
      // A node that hangs or lags was given its time.
      const isFinal = error instanceof StaleHead || isTimeout(error);
      if (attempt === ATTEMPTS_MAX || isFinal) throw error;
    }
    await pause(pauseMs);
  }
}

/** Why nothing can be proved by a node at this moment, on a question that no stranger chose; null when it can. */
export async function nodeFault(node: ChainNode, clock: () => number): Promise<string | null> {
  try {
    const { timestamp } = await node.block('latest');
    return isBehind(timestamp, clock()) ? BEHIND : null;
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
  if (after !== undefined && receipt.blockNumber <= blockNumberOf(after)) {
    const number = blockNumberOf(after);
    const { hash } = await node.block(number);
    // Where the chain was reorganised since, the number of a block says nothing: what was mined anew counts as later.
    if (after === `${number}:${hash}`) return { state: 'older' };
  }
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

/** Blocks of one question, from the most welcome size to what the stingiest services allow. */
export const LOG_BLOCKS: readonly bigint[] = [2000n, 500n, 100n, 10n];
/** Questions of one search; the first already reaches back an hour where a block takes two seconds. */
const LOG_CALLS_MAX = 32;

interface Use {
  readonly event: 'AuthorizationUsed' | 'AuthorizationCanceled';
  readonly transaction: Hex;
}

/** Searches the logs backwards through the time of the authorization; null within the limits says nothing about the chain. */
async function findUse(
  node: ChainNode,
  authorization: Authorization,
  head: Block,
): Promise<Use | null> {
  const topics = topicsOf(authorization);
  // The token makes no transfer from `validBefore` on; a cancellation after it is not looked for.
  let to = (await firstBlockFrom(node, BigInt(authorization.validBefore), head)) ?? head.number;
  const sizes = [...LOG_BLOCKS];
  let size = sizes.shift();
  for (let call = 0; size !== undefined && call < LOG_CALLS_MAX && to >= 0n; call++) {
    const from = to - size + 1n < 0n ? 0n : to - size + 1n;
    const page = await pageOf(node, { topics, from, to });
    if (page === null) {
      size = sizes.shift();
      continue;
    }
    const use = useOf(page.logs, authorization);
    if (use !== null || page.first.timestamp <= BigInt(authorization.validAfter)) return use;
    to = from - 1n;
  }
  return null;
}

/** Of both events, whose arguments are the same. */
function topicsOf({ from, nonce }: Authorization): (Hex | Hex[])[] {
  const args = { authorizer: from as Hex, nonce: nonce as Hex };
  const events = ['AuthorizationUsed', 'AuthorizationCanceled'] as const;
  const topics = events.map(
    (eventName) => encodeEventTopics({ abi: TOKEN_ABI, eventName, args }) as Hex[],
  );
  return [topics.flatMap(([name = '0x']) => name), ...(topics[0]?.slice(1) ?? [])];
}

/** Number of the first block that is not before a time in unix seconds; null where none is yet. */
export async function firstBlockFrom(
  node: Pick<ChainNode, 'block'>,
  timestamp: bigint,
  head: Block,
): Promise<bigint | null> {
  if (head.timestamp < timestamp) return null;
  let [low, high] = [0n, head.number];
  while (low < high) {
    const middle = (low + high) / 2n;
    if ((await node.block(middle)).timestamp < timestamp) low = middle + 1n;
    else high = middle;
  }
  return low;
}

/** Null when the node refuses the range, as many do beyond a size of their own. */
async function pageOf(
  node: ChainNode,
  query: Parameters<ChainNode['tokenLogs']>[0],
): Promise<{ logs: readonly Log[]; first: Block } | null> {
  const first = node.block(query.from);
  const logs = node.tokenLogs(query).catch((error: unknown) => {
    if (error instanceof TimeoutError) throw error;
    return null;
  });
  const [block, found] = await Promise.all([first, logs]);
  return found === null ? null : { logs: found, first: block };
}

/** A node may answer more than it was asked for. */
function useOf(logs: readonly Log[], authorization: Authorization): Use | null {
  const events = parseEventLogs({ abi: TOKEN_ABI, logs: [...logs] });
  for (const event of events) {
    if (event.eventName === 'Transfer' || !isOf(authorization, event.args)) continue;
    if (event.removed || event.transactionHash === null) continue;
    return { event: event.eventName, transaction: event.transactionHash };
  }
  return null;
}

/**
 * Whether a mined transaction used exactly this authorization and moved its value to its payee. The token
 * logs `AuthorizationUsed` and, directly after it, the `Transfer`: a transfer further on belongs to another
 * authorization of the same transaction and must not pay for two.
 */
export function provesTransfer(
  receipt: TransactionReceipt,
  authorization: Authorization,
  { asset }: Network,
): boolean {
  if (!receipt.succeeded) return false;
  const ours = receipt.logs.filter(({ address }) =>
    isAddressEqual(address, asset as `0x${string}`),
  );
  const used = parseEventLogs({ abi: TOKEN_ABI, eventName: 'AuthorizationUsed', logs: [...ours] });
  const mark = used.find(({ args }) => isOf(authorization, args));
  const next = ours.find(({ logIndex }) => mark !== undefined && logIndex === mark.logIndex + 1);
  const [transfer] =
    next === undefined
      ? []
      : parseEventLogs({ abi: TOKEN_ABI, eventName: 'Transfer', logs: [next] });
  if (transfer === undefined) return false;
  const { from, to, value } = transfer.args;
  return (
    isSame(from, authorization.from) &&
    isSame(to, authorization.to) &&
    value === BigInt(authorization.value)
  );
}

function isOf(
  { from, nonce }: Authorization,
  { authorizer, nonce: logged }: { readonly authorizer: string; readonly nonce: string },
): boolean {
  return isSame(authorizer, from) && isSame(logged, nonce);
}

function isSame(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}
