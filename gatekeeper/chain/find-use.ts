import { encodeEventTopics, type Hex, type Log, parseEventLogs, TimeoutError } from 'viem';
import type { Authorization } from '../money/payment.ts';
import { type Block, type ChainNode, TOKEN_ABI } from './chain-node.ts';
import { isOf } from './transfer-proof.ts';

/** Blocks of one question, from the most welcome size to what the stingiest services allow. */
export const LOG_BLOCKS: readonly bigint[] = [2000n, 500n, 100n, 10n];
/** Questions of one search; the first already reaches back an hour where a block takes two seconds. */
const LOG_CALLS_MAX = 32;

/** The event that spent an authorization. */
interface Use {
  readonly event: 'AuthorizationUsed' | 'AuthorizationCanceled';
  readonly transaction: Hex;
}

/**
 * Searches the logs backwards from the last block in which the token could take the authorization to the
 * first; null when nothing is found within the limits, which says nothing about the chain.
 */
export async function findUse(
  node: ChainNode,
  authorization: Authorization,
  head: Block,
): Promise<Use | null> {
  const topics = topicsOf(authorization);
  let to = await lastBlock(node, authorization, head);
  const sizes = [...LOG_BLOCKS];
  let size = sizes.shift();
  for (let call = 0; size !== undefined && call < LOG_CALLS_MAX && to >= 0n; call++) {
    const from = max(0n, to - size + 1n);
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

function topicsOf({ from, nonce }: Authorization): (Hex | Hex[])[] {
  const events = ['AuthorizationUsed', 'AuthorizationCanceled'] as const;
  const [args, names] = [{ authorizer: from as Hex, nonce: nonce as Hex }, [] as Hex[]];
  let rest: Hex[] = [];
  for (const eventName of events) {
    const [name, ...indexed] = encodeEventTopics({ abi: TOKEN_ABI, eventName, args }) as Hex[];
    if (name !== undefined) names.push(name);
    rest = indexed;
  }
  return [names, ...rest];
}

/** The token makes no transfer from `validBefore` on; a cancellation after it is not looked for. */
async function lastBlock(
  node: ChainNode,
  { validBefore }: Authorization,
  head: Block,
): Promise<bigint> {
  return (await firstBlockFrom(node, BigInt(validBefore), head)) ?? head.number;
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

interface LogPage {
  readonly logs: readonly Log[];
  readonly first: Block;
}

/** Null when the node refuses the range, as many do beyond a size of their own. */
async function pageOf(
  node: ChainNode,
  query: Parameters<ChainNode['tokenLogs']>[0],
): Promise<LogPage | null> {
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

function max(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}
