import { encodeEventTopics, type Hex, isHash, parseEventLogs, TimeoutError } from 'viem';
import { messageOf } from '../../../compiler/format/errors.ts';
import type { BookRow, Books } from '../../heart/journal/ledger.ts';
import {
  firstBlockFrom,
  insist,
  LOG_BLOCKS,
  nodeFailure,
  provesTransfer,
} from '../../settle/chain/chain-evidence.ts';
import { type ChainNode, TOKEN_ABI } from '../../settle/chain/chain-node.ts';
import { blockNumberOf } from '../../settle/evidence.ts';
import { parseSignedText } from '../../settle/payment.ts';
import { StartError } from '../../wire/start-error.ts';

/**
 * Holds the payment journal to the chain over a span of time, read-only:
 *
 *  - `missing`: a settled row whose transfer the chain does not show.
 *  - `foreign`: a payment to our payee that no row knows, or that was made before its row was claimed. It bought nothing here:
 *    another shop has the same payee, or the journal was lost.
 *  - `reorganised`: a row whose transfer vanished after its answer was delivered, and did not come back.
 *  - `undelivered`: a payment of a row that is not settled. Its buyer paid and got nothing, unless it is still in doubt.
 */

/** Longest time from a claim to its transfer, and what clocks may differ by. */
const SLACK_MS = 7_200_000;
/** Rows of one audit: they are held in memory. */
const ROWS_MAX = 1_000_000;
const QUESTIONS_MAX = 20_000;
/** Before a question is asked again that a busy node refused. */
const ATTEMPT_PAUSE_MS = 500;

export const FINDINGS = ['missing', 'foreign', 'reorganised', 'undelivered'] as const;

export interface Finding {
  readonly kind: (typeof FINDINGS)[number];
  readonly network: string;
  readonly asset: string;
  readonly payer: string;
  /** Atomic units. */
  readonly value: string;
  /** What the chain or the journal names; '' for none. */
  readonly transaction: string;
  /** Of the row; '' where no row knows the payment. */
  readonly key: string;
  /** Method and target that were paid for; '' where no row says. */
  readonly resource: string;
  readonly reason: string;
}

export type Audit = Awaited<ReturnType<typeof audit>>;

interface AuditTerms extends TimeSpan {
  readonly payTo: string;
  readonly nodes: readonly AuditedNode[];
  readonly attemptPauseMs?: number;
}

export async function audit(books: Books, terms: AuditTerms) {
  const { fromMs, untilMs, nodes } = terms;
  const rows = new Map<string, BookRow>();
  for await (const row of books.claimed(fromMs - SLACK_MS, untilMs)) {
    if (rows.size === ROWS_MAX)
      throw new StartError(`Cannot audit: more than ${ROWS_MAX} payments; name a shorter span`);
    rows.set(row.key, row);
  }
  const questions = { left: QUESTIONS_MAX };
  const found: Finding[] = [];
  // Settled rows and transfers that were compared, and why something could not be.
  const tally = { sales: 0, transfers: 0, gaps: [] as string[] };
  // Payments that no node can tell of; receipts of a processor are none on a chain.
  const known = ['receipt|', ...nodes.map(tokenOf)];
  const others = [...rows.keys()].filter((key) => !known.some((token) => key.startsWith(token)));
  if (others.length > 0)
    tally.gaps.push(`payments in tokens that the settings do not name: ${others.length}`);
  for (const node of nodes) {
    const token = tokenOf(node);
    const own = [...rows.values()].filter(({ key }) => key.startsWith(token));
    const sale = new TokenAudit(books, bounded(node, questions, terms), { ...terms, rows, own });
    try {
      found.push(...(await sale.findings()));
    } catch (error) {
      const why = error instanceof TooMuch ? error.message : messageOf(nodeFailure(error));
      tally.gaps.push(`${node.network.name}: ${why}`);
    }
    tally.sales += sale.sales;
    tally.transfers += sale.transfers;
  }
  const order = (finding: Finding): number => FINDINGS.indexOf(finding.kind);
  return { ...tally, findings: found.sort((left, right) => order(left) - order(right)) };
}

class TooMuch extends Error {
  override readonly message = `more than ${QUESTIONS_MAX} questions; name a shorter span`;
}

/** What stands before the payer in the keys of a token. */
export function tokenOf({ network: { name, asset } }: Pick<AuditedNode, 'network'>): string {
  return `${name}|${asset}|`.toLowerCase();
}

/** A node that is asked again where it refused, and no more than is allowed in all. */
function bounded(
  node: AuditedNode,
  questions: { left: number },
  { attemptPauseMs = ATTEMPT_PAUSE_MS }: AuditTerms,
): AuditedNode {
  const counted =
    <In extends readonly unknown[], Out>(ask: (...args: In) => Promise<Out>) =>
    (...args: In): Promise<Out> =>
      insist(async () => {
        questions.left -= 1;
        if (questions.left < 0) throw new TooMuch();
        return ask(...args);
      }, attemptPauseMs);
  const { network, block, receipt, tokenLogs } = node;
  return {
    network,
    block: counted(block),
    receipt: counted(receipt),
    tokenLogs: counted(tokenLogs),
  };
}

interface TokenTerms extends AuditTerms {
  readonly rows: ReadonlyMap<string, BookRow>;
  readonly own: readonly BookRow[];
}

class TokenAudit {
  sales = 0;
  transfers = 0;
  readonly #books: Books;
  readonly #node: AuditedNode;
  readonly #terms: TokenTerms;

  constructor(books: Books, node: AuditedNode, terms: TokenTerms) {
    this.#books = books;
    this.#node = node;
    this.#terms = terms;
  }

  async findings(): Promise<readonly Finding[]> {
    const { payTo, fromMs, untilMs, own } = this.#terms;
    const span = { fromMs: fromMs - SLACK_MS, untilMs: untilMs + SLACK_MS };
    const all = await payeeTransfers(this.#node, payTo, span);
    const left = new Set(all);
    const named = new Map<string, PayeeTransfer[]>();
    for (const one of all) {
      const same = named.get(one.transaction) ?? [];
      same.push(one);
      named.set(one.transaction, same);
    }
    const found: Finding[] = [];
    for (const row of own) {
      const [, , payer] = row.key.split('|');
      // One transaction may settle several payments.
      const same = row.state === 'settled' ? named.get(row.tx?.toLowerCase() ?? '') : undefined;
      const match = same?.find(
        (one) => one.payer === payer && `${one.value}` === row.value && left.has(one),
      );
      if (match !== undefined) left.delete(match);
      if (row.created_at >= fromMs) found.push(...(await this.#ofRow(row, match !== undefined)));
    }
    this.transfers = all.length;
    for (const transfer of left) found.push(...(await this.#strange(transfer)));
    return found;
  }

  async #ofRow(row: BookRow, isMatched: boolean): Promise<readonly Finding[]> {
    const { state, reorganised_at } = row;
    if (state !== 'settled') {
      if (reorganised_at == null) return [];
      const at = new Date(reorganised_at).toISOString();
      return [findingOf('reorganised', row, `its transfer vanished, seen at ${at}`)];
    }
    this.sales += 1;
    if (isMatched || (await isThere(row, this.#node))) return [];
    return [findingOf('missing', row, 'the chain does not show its transfer')];
  }

  /** What no settled row is proven by. */
  async #strange(transfer: PayeeTransfer): Promise<readonly Finding[]> {
    const { fromMs, untilMs, rows } = this.#terms;
    const atMs = Number((await this.#node.block(transfer.block)).timestamp) * 1000;
    if (atMs < fromMs || atMs >= untilMs) return [];
    const nonce = await nonceOf(this.#node, transfer);
    // A plain transfer is no payment for a request.
    if (nonce === null) return [];
    const key = `${tokenOf(this.#node)}${transfer.payer}|${nonce}`;
    const row = rows.get(key) ?? (await this.#books.row(key));
    if (row === null) return [this.#foreign(transfer, 'no row knows it')];
    if (row.state === 'settled' || row.refund_tx != null) return [];
    const { claim_block: claimed, created_at } = row;
    const isLater = claimed == null ? atMs >= created_at : transfer.block > blockNumberOf(claimed);
    if (!isLater) return [this.#foreign(transfer, USED_BEFORE, row)];
    const reason =
      row.state === 'refused' ? `refused as ${row.detail ?? ''}` : `in doubt: ${row.detail ?? ''}`;
    return [{ ...findingOf('undelivered', row, reason), ...paidBy(transfer) }];
  }

  #foreign(transfer: PayeeTransfer, reason: string, row?: BookRow): Finding {
    const { name: network, asset } = this.#node.network;
    const { key = '', resource = '' } = row ?? {};
    return { kind: 'foreign', network, asset, ...paidBy(transfer), key, resource, reason };
  }
}

function findingOf(kind: Finding['kind'], row: BookRow, reason: string): Finding {
  const { key, resource, value, tx } = row;
  const [network = '', asset = '', payer = ''] = key.split('|');
  return { kind, network, asset, payer, value, transaction: tx ?? '', key, resource, reason };
}

/** Whether the chain shows the transfer that a row names: it may be of a payee of before, or noted long after it was made. */
export async function isThere({ tx, signed }: BookRow, node: AuditedNode): Promise<boolean> {
  if (tx === null || !isHash(tx)) return false;
  const receipt = await node.receipt(tx);
  const { authorization } = parseSignedText(signed);
  return receipt !== null && provesTransfer(receipt, authorization, node.network);
}

const USED_BEFORE = 'used before its row was claimed';

function paidBy({ payer, value, transaction }: PayeeTransfer) {
  return { payer, value: `${value}`, transaction };
}

interface PayeeTransfer {
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

export type AuditedNode = Pick<ChainNode, 'network' | 'block' | 'tokenLogs' | 'receipt'>;

/** All that the token moved to a payee within a span, oldest first. */
async function payeeTransfers(
  node: AuditedNode,
  payTo: string,
  { fromMs, untilMs }: TimeSpan,
): Promise<readonly PayeeTransfer[]> {
  const head = await node.block('latest');
  const seconds = (ms: number): bigint => BigInt(Math.ceil(ms / 1000));
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
