import { parseAbiItem } from 'viem';
import type { Chain } from '../../test/chain/chain.ts';
import { PAYEE, type Row } from '../../test/chain/stall.ts';
import type { Story } from './client.ts';

/** The figures that a campaign must show; all of them but the first three are to be 0. */
export interface Audit {
  readonly delivered: number;
  readonly refused: number;
  readonly transfers: number;
  readonly unfinished: number;
  readonly chargedWithoutData: number;
  readonly dataWithoutCharge: number;
  readonly chargedTwice: number;
  readonly secondResources: number;
  readonly differentBodies: number;
  readonly wrongReceipts: number;
  /** Rows of the journal that the chain does not bear out, and transfers that no row knows. */
  readonly journalDifferences: number;
  /** Payments whose end the journal does not know. */
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
  const isPaid = ({ purchase }: Story): boolean => paid.transactions.has(keyOf(purchase.payment));
  const gotData = ({ delivered }: Story): boolean => delivered.length > 0;
  const count = (is: (story: Story) => boolean): number => stories.filter(is).length;
  const settled = journal.filter(({ state }) => state === 'settled');
  const revenue = settled.reduce((sum, { value }) => sum + BigInt(value), 0n);
  return {
    delivered: count(gotData),
    refused: count((story) => story.finished && !gotData(story)),
    transfers: paid.transfers,
    unfinished: count(({ finished }) => !finished),
    chargedWithoutData: count((story) => isPaid(story) && !gotData(story)),
    dataWithoutCharge: count((story) => gotData(story) && !isPaid(story)),
    chargedTwice: paid.transfers - paid.transactions.size,
    secondResources: count(({ openedAnother }) => openedAnother),
    differentBodies: count(({ delivered }) => new Set(delivered.map(bytesOf)).size > 1),
    wrongReceipts: count((story) => !isReceiptTrue(story, paid.transactions)),
    journalDifferences: differences(settled, paid.transactions),
    journalOpen: journal.filter(({ state }) => state === 'settling' || state === 'unknown').length,
    balanceDifference: (await chain.balanceOf(PAYEE)) - revenue,
  };
}

interface Paid {
  /** Transaction by payer and nonce. */
  readonly transactions: ReadonlyMap<string, string>;
  /** Transfers to the payee. */
  readonly transfers: number;
}

async function paidAuthorizations({ client, network }: Chain): Promise<Paid> {
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

function differences(settled: readonly Row[], transactions: ReadonlyMap<string, string>): number {
  const booked = new Map(settled.map(({ key, tx }) => [key.split('|').slice(2).join('|'), tx]));
  const keys = new Set([...booked.keys(), ...transactions.keys()]);
  return [...keys].filter((key) => booked.get(key) !== transactions.get(key)).length;
}
