import { parseAbiItem } from 'viem';
import type { Purchase } from '../../chain/buyer.ts';
import type { Chain } from '../../chain/chain.ts';
import type { SettleCall } from '../../chain/chain-facilitator.ts';
import { PAYEE, type Row } from '../../chain/stall.ts';
import { isForestalled, type Left, type Story } from './client.ts';

/** The figures that a campaign must show; all of them but the first four are to be 0. */
export interface Audit {
  readonly delivered: number;
  readonly refused: number;
  readonly transfers: number;
  /** Buyers who went away from an answer and bought again. */
  readonly left: number;
  readonly unfinished: number;
  readonly chargedWithoutData: number;
  readonly dataWithoutCharge: number;
  readonly chargedTwice: number;
  /** Payments that were charged after their buyer had gone away and bought again. */
  readonly lateCharges: number;
  readonly secondResources: number;
  readonly differentBodies: number;
  readonly wrongReceipts: number;
  /** Rows of the journal that the chain does not bear out, and transfers that no row knows. */
  readonly journalDifferences: number;
  /** Payments whose end the journal does not know, but for those that nobody charged and nobody came back for. */
  readonly journalOpen: number;
  /** Units between the payee's balance and the journal's revenue. */
  readonly balanceDifference: bigint;
}

const USED = parseAbiItem(
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
);
const TRANSFER = parseAbiItem(
  'event Transfer(address indexed from, address indexed to, uint256 value)',
);

/** Holds what clients saw and what the journal says to the logs and balances of the chain. */
export async function audit(
  chain: Chain,
  stories: readonly Story[],
  journal: readonly Row[],
): Promise<Audit> {
  const paid = await paidAuthorizations(chain);
  const isCharged = ({ payment }: Purchase): boolean => paid.transactions.has(keyOf(payment));
  const isPaid = ({ purchase }: Story): boolean => isCharged(purchase);
  const forsaken = new Set(
    stories.flatMap(({ left }) => (left === null ? [] : [keyOf(left.purchase.payment)])),
  );
  const gotData = ({ delivered }: Story): boolean => delivered.length > 0;
  const older = journal.filter(
    (row) => isOlder(row) && paid.transactions.has(authorizationOf(row)),
  );
  const rows = new Set(journal.map(authorizationOf));
  // Of a payer who never paid here, not even a row is written.
  const unwritten = stories.filter(
    (story) =>
      isForestalled(story.manner, story) &&
      !rows.has(keyOf(story.purchase.payment)) &&
      isPaid(story),
  );
  const usedBefore = new Set([
    ...older.map(authorizationOf),
    ...unwritten.map(({ purchase }) => keyOf(purchase.payment)),
  ]);
  const isNamed = ({ manner, purchase }: Story): boolean =>
    manner === 'front-run' && usedBefore.has(keyOf(purchase.payment));
  const count = (is: (story: Story) => boolean): number => stories.filter(is).length;
  const settled = journal.filter(({ state }) => state === 'settled');
  const written = [...settled, ...older].map(({ value }) => value);
  const others = unwritten.map(({ purchase }) => purchase.payment.authorization.value);
  const revenue = [...written, ...others].reduce((sum, value) => sum + BigInt(value), 0n);
  return {
    delivered: count(gotData),
    refused: count((story) => story.finished && !gotData(story)),
    transfers: paid.transfers,
    left: count(({ left }) => left !== null),
    unfinished: count(({ finished }) => !finished),
    chargedWithoutData: count((story) => isPaid(story) && !gotData(story) && !isNamed(story)),
    dataWithoutCharge: count((story) => gotData(story) && !isPaid(story)),
    chargedTwice: paid.transfers - paid.transactions.size,
    lateCharges: count(({ left }) => left !== null && !left.isPaid && isCharged(left.purchase)),
    secondResources: count(({ openedAnother }) => openedAnother),
    differentBodies: count(({ delivered }) => new Set(delivered.map(bytesOf)).size > 1),
    wrongReceipts: count((story) => !isReceiptTrue(story, paid.transactions)),
    journalDifferences: differences(settled, paid.transactions, usedBefore),
    journalOpen: journal.filter((row) => {
      const key = authorizationOf(row);
      return isOpen(row) && (paid.transactions.has(key) || !forsaken.has(key));
    }).length,
    balanceDifference: (await chain.balanceOf(PAYEE)) - revenue,
  };
}

/** Used before it was claimed: it paid for nothing, and the journal says so. */
function isOlder({ state, detail }: Row): boolean {
  return state === 'refused' && detail === 'authorization_already_used';
}

/** Whether the journal does not know how a payment ended. */
export function isOpen({ state }: Row): boolean {
  return state === 'settling' || state === 'unknown';
}

/** Payer and nonce of a row. */
export function authorizationOf({ key }: Row): string {
  return key.split('|').slice(2).join('|');
}

/** Where to ask what happened to a payment. */
interface PaymentSources {
  readonly chain: Chain;
  /** Calls that were made to settle a nonce. */
  readonly settlements: (nonce: string) => readonly SettleCall[];
}

/** Offenders that are named. */
const NAMED_MAX = 20;

/** The purchases behind figures that are not 0, each with what the journal says of it, for whoever looks for the cause. */
export async function offenders(
  { chain, settlements }: PaymentSources,
  stories: readonly Story[],
  journal: readonly Row[],
): Promise<readonly string[]> {
  const { transactions } = await paidAuthorizations(chain);
  const rows = new Map(journal.map((row) => [authorizationOf(row), row]));
  const named = (words: string, { index, manner }: Story, { payment }: Purchase): string => {
    const row = rows.get(keyOf(payment));
    const state = row === undefined ? 'no row' : `${row.state} ${row.tx ?? ''}`.trim();
    const transaction = transactions.get(keyOf(payment)) ?? 'none';
    return `${words}: purchase ${index} (${manner}), journal: ${state}, chain: ${transaction}`;
  };
  const callsAfter = ({ purchase, leftMs, boughtAgainMs }: Left): string => {
    const calls = settlements(purchase.payment.authorization.nonce).map(
      ({ askedMs, doneMs }) =>
        `${Math.round(askedMs - leftMs)} to ${doneMs === null ? 'never' : Math.round(doneMs - leftMs)}`,
    );
    return `left at 0, bought again at ${Math.round(boughtAgainMs - leftMs)}, settled from ${calls.join('; from ')} ms`;
  };
  const found = stories.flatMap((story) => {
    const { delivered, finished, heard, left, purchase } = story;
    const answers = `heard: ${JSON.stringify(heard)}`;
    const row = rows.get(keyOf(purchase.payment));
    const isNamed = isForestalled(story.manner, story) && (row === undefined || isOlder(row));
    const isPaid = transactions.has(keyOf(purchase.payment)) && !isNamed;
    const late = left !== null && !left.isPaid && transactions.has(keyOf(left.purchase.payment));
    return [
      ...(isPaid && delivered.length === 0
        ? [`${named('charged without data', story, purchase)}, ${answers}`]
        : []),
      ...(finished ? [] : [`${named('without an end', story, purchase)}, ${answers}`]),
      ...(late ? [`${named('charged late', story, left.purchase)}, ${callsAfter(left)}`] : []),
    ];
  });
  return found.slice(0, NAMED_MAX);
}

interface Paid {
  /** Transaction by payer and nonce. */
  readonly transactions: ReadonlyMap<string, string>;
  /** Transfers to the payee. */
  readonly transfers: number;
}

/** What the chain shows as charged. */
export async function paidAuthorizations({ client, network }: Chain): Promise<Paid> {
  const range = {
    address: network.asset as `0x${string}`,
    fromBlock: 0n,
    toBlock: 'latest',
  } as const;
  const transfers = await client.getLogs({ ...range, event: TRANSFER, args: { to: PAYEE } });
  const moved = new Set(transfers.map(({ transactionHash }) => transactionHash));
  const used = await client.getLogs({ ...range, event: USED, strict: true });
  const transactions = new Map<string, string>();
  for (const { args, transactionHash } of used) {
    const key = `${args.authorizer}|${args.nonce}`.toLowerCase();
    if (moved.has(transactionHash)) transactions.set(key, transactionHash);
  }
  return { transactions, transfers: transfers.length };
}

function keyOf({ authorization }: Story['purchase']['payment']): string {
  return `${authorization.from}|${authorization.nonce}`.toLowerCase();
}

function bytesOf({ body, receipt }: Story['delivered'][number]): string {
  return JSON.stringify([body, receipt]);
}

function isReceiptTrue(
  { delivered, purchase }: Story,
  transactions: ReadonlyMap<string, string>,
): boolean {
  const transaction = transactions.get(keyOf(purchase.payment));
  return delivered.every(({ receipt }) => receipt?.transaction === transaction);
}

function differences(
  settled: readonly Row[],
  transactions: ReadonlyMap<string, string>,
  usedBefore: ReadonlySet<string>,
): number {
  const booked = new Map(settled.map((row) => [authorizationOf(row), row.tx]));
  const keys = new Set([...booked.keys(), ...transactions.keys()]);
  const isNamed = (key: string): boolean => !booked.has(key) && usedBefore.has(key);
  return [...keys].filter((key) => booked.get(key) !== transactions.get(key) && !isNamed(key))
    .length;
}
