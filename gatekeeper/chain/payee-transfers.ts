import { encodeEventTopics, type Hex, parseEventLogs, TimeoutError } from 'viem';
import { type ChainNode, TOKEN_ABI } from './chain-node.ts';
import { firstBlockFrom, LOG_BLOCKS } from './find-use.ts';

/** What the token moved to a payee. */
export interface PayeeTransfer {
  /** Lower case, as the transaction. */
  readonly payer: string;
  readonly value: bigint;
  readonly transaction: string;
  readonly logIndex: number;
  readonly block: bigint;
}

/** Milliseconds since the epoch, from the first to before the second. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The part of a node that an audit asks. */
export type AuditedNode = Pick<ChainNode, 'network' | 'block' | 'tokenLogs' | 'receipt'>;

/** All that the token moved to a payee within a span, oldest first. */
export async function payeeTransfers(
  node: AuditedNode,
  payTo: string,
  { fromMs, untilMs }: TimeSpan,
): Promise<readonly PayeeTransfer[]> {
  const head = await node.block('latest');
  const first = await firstBlockFrom(node, seconds(fromMs), head);
  if (first === null) return [];
  const end = (await firstBlockFrom(node, seconds(untilMs), head)) ?? head.number + 1n;
  const topics = encodeEventTopics({
    abi: TOKEN_ABI,
    eventName: 'Transfer',
    args: { to: payTo as Hex },
  }).map((topic) => topic as unknown as Hex);
  const found: PayeeTransfer[] = [];
  const sizes = [...LOG_BLOCKS];
  let size = sizes.shift() ?? 1n;
  for (let from = first; from < end; ) {
    const to = from + size < end ? from + size - 1n : end - 1n;
    const page = await pageOf(node, { topics, from, to }, sizes.length === 0);
    if (page === null) {
      size = sizes.shift() ?? 1n;
      continue;
    }
    found.push(...page);
    from = to + 1n;
  }
  return found;
}

function seconds(ms: number): bigint {
  return BigInt(Math.ceil(ms / 1000));
}

/** Null where the node refuses the range and a smaller one may do. */
async function pageOf(
  node: AuditedNode,
  query: Parameters<ChainNode['tokenLogs']>[0],
  isLast: boolean,
): Promise<readonly PayeeTransfer[] | null> {
  try {
    const logs = await node.tokenLogs(query);
    const events = parseEventLogs({ abi: TOKEN_ABI, eventName: 'Transfer', logs: [...logs] });
    return events.map(({ args, transactionHash, logIndex, blockNumber }) => ({
      payer: args.from.toLowerCase(),
      value: args.value,
      transaction: String(transactionHash).toLowerCase(),
      logIndex: Number(logIndex),
      block: BigInt(blockNumber ?? 0n),
    }));
  } catch (error) {
    if (isLast || error instanceof TimeoutError) throw error;
    return null;
  }
}

/** Nonce of the authorization that made a transfer; null where none did, so that it is no payment. */
export async function nonceOf(
  node: AuditedNode,
  { transaction, logIndex, payer }: PayeeTransfer,
): Promise<string | null> {
  const receipt = await node.receipt(transaction as Hex);
  const ours = (receipt?.logs ?? []).filter(
    ({ address }) => address.toLowerCase() === node.network.asset.toLowerCase(),
  );
  const used = parseEventLogs({ abi: TOKEN_ABI, eventName: 'AuthorizationUsed', logs: [...ours] });
  const mark = used.find(
    ({ args, logIndex: at }) =>
      Number(at) === logIndex - 1 && args.authorizer.toLowerCase() === payer,
  );
  return mark === undefined ? null : mark.args.nonce.toLowerCase();
}
