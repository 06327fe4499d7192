/**
 * What the shop owes, and paying it back. An answer can no longer be delivered where its payment was settled while nobody
 * waited for it and its bytes are gone since, or where the payment was refused and the money moved all the same.
 *
 * A refund is itself an EIP-3009 authorization, of the relayer's account to the payer, whose nonce follows from the key of
 * the payment. The token takes each nonce once, so no refund can be paid twice by that account, whatever crashes in between.
 * The row names the account before anything is signed; another account takes over only once the chain shows that the
 * authorization of the first one is dead and unused.
 */

import { type Hex, keccak256, type LocalAccount, toHex } from 'viem';
import type { Books, OwedRow } from '../../heart/journal/ledger.ts';
import type { ChainEvidence } from '../../settle/evidence.ts';
import type { Facilitator, FacilitatorRequest } from '../../settle/facilitator.ts';
import { DEAD_AFTER_S } from '../../settle/journal.ts';
import { type Network, symbolOf } from '../../settle/networks.ts';
import type { Authorization } from '../../settle/payment.ts';
import { transferDigest } from '../../settle/signature.ts';
import { type Audit, type AuditedNode, isThere, tokenOf } from './audit.ts';

/** How long an authorization of ours is valid; before it, in seconds, for clocks that differ. */
const REFUND_VALID_S = 3600;
const REFUND_EARLY_S = 600;

export interface Refund {
  readonly state: 'owed' | 'held' | 'sending' | 'sent';
  readonly key: string;
  readonly payer: string;
  readonly network: string;
  /** What people call the token; its address where the settings do not name it. */
  readonly token: string;
  /** Atomic units. */
  readonly value: string;
  readonly resource: string;
  readonly reason: string;
  /** That paid, and that paid back; '' for none. */
  readonly transaction: string;
  readonly refund_transaction: string;
}

export interface Payback {
  readonly network: Network;
  readonly account: LocalAccount;
  readonly settler: Pick<Facilitator, 'settle'>;
  readonly evidence: Pick<ChainEvidence, 'find'>;
}

function refundOf(row: OwedRow, networks: readonly Network[]): Refund {
  const { key, value, resource, tx, refund_from, refund_tx } = row;
  const [network = '', asset = '', payer = ''] = key.split('|');
  const token = networks.find((one) => one.name === network && one.asset.toLowerCase() === asset);
  const begun = refund_from == null ? 'owed' : 'sending';
  return {
    state: refund_tx == null ? begun : 'sent',
    key,
    payer,
    network,
    token: token === undefined ? asset : symbolOf(token),
    value,
    resource,
    reason:
      row.state === 'settled'
        ? 'its answer is no longer kept'
        : `it was paid after it was refused as ${row.detail ?? ''}`,
    transaction: tx ?? '',
    refund_transaction: refund_tx ?? '',
  };
}

/** What came of one attempt: the transaction, or why there is none. */
type Paidback = { readonly refund_transaction: string } | { readonly why: string };

/** Pays one debt back, or finds that it was paid back already. */
export async function payBack(
  row: OwedRow,
  by: Payback,
  books: Books,
  nowMs: number,
): Promise<Paidback> {
  const paid = await attempt(row, by, books, nowMs);
  if ('refund_transaction' in paid) await books.endRefund(row.key, paid.refund_transaction, nowMs);
  return paid;
}

async function attempt(row: OwedRow, by: Payback, books: Books, nowMs: number): Promise<Paidback> {
  const { network, account, settler } = by;
  const own = account.address.toLowerCase();
  const earlier = row.refund_from == null ? null : await earlierOf(row, by, nowMs);
  if (earlier !== null) return earlier;
  if (!(await books.beginRefund(row, own, nowMs))) return { why: 'it changed meanwhile' };
  const authorization = authorizationFor(row, own, nowMs);
  const signature = await account.sign?.({ hash: toHex(transferDigest(network, authorization)) });
  if (signature === undefined) return { why: 'the account cannot sign' };
  const outcome = await settler.settle(requestFor(network, authorization, signature), true);
  if (outcome.verdict === 'settled') return { refund_transaction: outcome.transaction };
  if (outcome.verdict === 'none')
    return { why: `${outcome.detail}; run it again: it is paid back once` };
  if (outcome.reason !== 'insufficient_funds') return { why: outcome.reason };
  return { why: `${own} holds too little; send it ${symbolOf(network)} on ${network.name}` };
}

/** What became of an attempt that was begun; null where the chain shows that it paid nothing and never will twice. */
async function earlierOf(
  row: OwedRow,
  { account, evidence }: Payback,
  nowMs: number,
): Promise<Paidback | null> {
  const own = account.address.toLowerCase();
  const from = row.refund_from ?? own;
  // One whose time is missing counts as begun now: it may still pay.
  const authorization = authorizationFor(row, from, row.refund_at ?? nowMs);
  const found = await evidence.find(authorization);
  if (found.state === 'paid') return { refund_transaction: found.transaction };
  if (found.state !== 'unused')
    return { why: 'the chain does not show what became of it; run it again' };
  const isDead = nowMs / 1000 > Number(authorization.validBefore) + DEAD_AFTER_S;
  return from === own || isDead
    ? null
    : { why: `${from} may still pay it back; run it again later` };
}

/** The same payment back, by a nonce that follows from it. */
function authorizationFor({ key, value }: OwedRow, from: string, atMs: number): Authorization {
  const [, , payer = ''] = key.split('|');
  const atS = Math.floor(atMs / 1000);
  return {
    from,
    to: payer,
    value,
    validAfter: String(atS - REFUND_EARLY_S),
    validBefore: String(atS + REFUND_VALID_S),
    nonce: keccak256(toHex(`signalpress refund\n${key}`)),
  };
}

function requestFor(
  { name, asset, extra }: Network,
  authorization: Authorization,
  signature: Hex,
): FacilitatorRequest {
  const accepted = {
    scheme: 'exact',
    network: name,
    payTo: authorization.to,
    asset,
    maxTimeoutSeconds: REFUND_VALID_S,
    extra,
    amount: authorization.value,
  } as const;
  const payload = { signature, authorization };
  return {
    x402Version: 2,
    paymentPayload: { x402Version: 2, accepted, payload },
    paymentRequirements: accepted,
  };
}

/** Held back is a refused payment beside unknown ones to the same payee: another shop of it may have sold something. */
export async function debtsOf(
  books: Books,
  { findings, gaps }: Audit,
  nodes: readonly AuditedNode[],
): Promise<{ debts: { row: OwedRow; refund: Refund }[]; gaps: string[] }> {
  const lost = await lostOf(books, nodes);
  const isShared = findings.some(({ kind }) => kind === 'foreign');
  // Refused, and paid afterwards.
  const late: OwedRow[] = [];
  for (const { key, transaction } of findings.filter(({ kind }) => kind === 'undelivered')) {
    const row = await books.row(key);
    if (row?.state === 'refused') late.push({ ...row, tx: transaction });
  }
  const all = [
    ...(await books.refunds()).map((row) => ({ row, isHeld: false })),
    ...lost.rows.map((row) => ({ row, isHeld: false })),
    ...late.map((row) => ({ row, isHeld: isShared })),
  ];
  // What was begun stands for its payment.
  const unique = new Map(all.toReversed().map((one) => [one.row.key, one]));
  const networks = nodes.map(({ network }) => network);
  const debts = [...unique.values()].toReversed().map(({ row, isHeld }) => {
    const refund = refundOf(row, networks);
    const isKept = isHeld && refund.state === 'owed';
    return { row, refund: isKept ? ({ ...refund, state: 'held' } as const) : refund };
  });
  return { debts, gaps: [...gaps, ...lost.gaps] };
}

/** Settled, never delivered, and no longer kept; as far as the chain shows the transfer. */
async function lostOf(books: Books, nodes: readonly AuditedNode[]) {
  const [rows, gaps]: [OwedRow[], string[]] = [[], []];
  for (const row of await books.undeliverable()) {
    const node = nodes.find((one) => row.key.startsWith(tokenOf(one)));
    const isPaid = node === undefined ? null : await isThere(row, node).catch(() => null);
    if (isPaid === null) gaps.push(`payment ${row.key}: no node tells of its transfer`);
    else if (isPaid) rows.push(row);
  }
  return { rows, gaps };
}
