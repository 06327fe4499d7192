// What was sold in a period, out of the journal.

import {
  type Books,
  type LedgerRow,
  microUsd,
  RevenueSum,
  settledDay,
} from '../../heart/journal/ledger.ts';
import { findNetwork } from '../../settle/networks.ts';

const OPEN_LISTED_MAX = 50;

/** From the first instant to before the second, in milliseconds since the epoch. */
export interface Period {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** What the page shows in a row: the last 7 days, the 7 days before, and the period that was asked for. */
export type Spans<T> = readonly [last: T, before: T, all: T];

export function isWithin(ms: number, { sinceMs, untilMs }: Period): boolean {
  return ms >= sinceMs && ms < untilMs;
}

/** Money of a test network is worth nothing, and pretended payments are settled on no other one. */
function isPlay({ network }: LedgerRow): boolean {
  return findNetwork(network)?.isTestnet === true;
}

function isSale(row: LedgerRow): boolean {
  return row.usd !== '' && !isPlay(row);
}

export type SpanOfSales = Sales['spans'][number];

function noSales(span: Period) {
  return { ...span, usd: 0n, sales: 0, refused: 0, played: 0, buyers: new Set<string>() };
}

export type Sales = Awaited<ReturnType<typeof readSales>>;

/** Sums up a journal; amounts are added exactly. */
export async function readSales(books: Books, [last, before, all]: Spans<Period>) {
  const spans = [noSales(last), noSales(before), noSales(all)] as const;
  const byDay = new RevenueSum(settledDay);
  const byProduct = new RevenueSum((row) => row.path);
  const read = { sinceMs: Math.min(before.sinceMs, all.sinceMs), untilMs: all.untilMs };
  for await (const row of books.rows({ ...read, time: 'settled_at', state: 'settled' })) {
    const settledMs = Date.parse(row.settled_at);
    for (const span of spans.filter((one) => isWithin(settledMs, one))) {
      span.played += Number(isPlay(row));
      if (!isSale(row)) continue;
      span.usd += microUsd(row.usd);
      span.sales += 1;
      span.buyers.add(`${row.network}|${row.payer}`);
    }
    if (isPlay(row) || !isWithin(settledMs, all)) continue;
    // They count amounts that do not exist, and add none.
    for (const sum of [byDay, byProduct]) sum.add(row);
  }
  for await (const row of books.rows({ ...read, time: 'created_at', state: 'refused' })) {
    const takenMs = Date.parse(row.created_at);
    // Only what the journal still holds.
    for (const span of spans) span.refused += Number(isWithin(takenMs, span));
  }
  const open = await openPayments(books);
  return { spans, byDay: byDay.revenue(), byProduct: byProduct.revenue(), open };
}

/** Payments whose end nobody noted, of all time, and the oldest of them. */
async function openPayments(books: Books) {
  const oldest: LedgerRow[] = [];
  let total = 0;
  for (const state of ['settling', 'unknown']) {
    let known = 0;
    for await (const row of books.rows({ time: 'created_at', state })) {
      known += 1;
      if (known <= OPEN_LISTED_MAX) oldest.push(row);
    }
    total += known;
  }
  oldest.sort((left, right) => (left.created_at < right.created_at ? -1 : 1));
  return { total, listed: oldest.slice(0, OPEN_LISTED_MAX) };
}
