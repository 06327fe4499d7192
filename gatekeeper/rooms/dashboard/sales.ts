// What was sold in a period, out of the journal.

import { DAY_MS } from '../../../compiler/format/iso-time.ts';
import {
  type Books,
  type LedgerRow,
  microUsd,
  RevenueSum,
  settledDay,
} from '../../heart/journal/ledger.ts';
import { findNetwork } from '../../settle/networks.ts';

const OPEN_LISTED_MAX = 50;

/** First and last instant of what is shown, in milliseconds since the epoch; the last is not part of it. */
export interface Period {
  readonly sinceMs: number;
  readonly untilMs: number;
  /** End of the week that is compared with the one before. */
  readonly weekEndMs: number;
}

/** One value for the last week of a period, and one for the week before. */
export type Weeks<T> = readonly [last: T, before: T];

const WEEK_MS = 7 * DAY_MS;

/** From when on a journal or a log tells both the period and the two weeks. */
export function firstMs({ sinceMs, weekEndMs }: Period): number {
  return Math.min(sinceMs, weekEndMs - 2 * WEEK_MS);
}

export function isWithin(ms: number, { sinceMs, untilMs }: Period): boolean {
  return ms >= sinceMs && ms < untilMs;
}

/** What a moment counts to; undefined for a moment of neither week. */
export function ofWeek<T>(weeks: Weeks<T>, ms: number, { weekEndMs }: Period): T | undefined {
  return ms > weekEndMs ? undefined : weeks[Math.floor((weekEndMs - ms) / WEEK_MS)];
}

/** Money of a test network is worth nothing, and pretended payments are settled on no other one. */
function isPlay({ network }: LedgerRow): boolean {
  return findNetwork(network)?.isTestnet === true;
}

export interface WeekOfSales {
  /** Millionths of a dollar. */
  usd: bigint;
  sales: number;
  refused: number;
  readonly buyers: Set<string>;
}

function weekOfSales(): WeekOfSales {
  return { usd: 0n, sales: 0, refused: 0, buyers: new Set() };
}

export type Sales = Awaited<ReturnType<typeof readSales>>;

/** Sums up a journal; amounts are added exactly. */
export async function readSales(books: Books, period: Period) {
  const total = new RevenueSum(() => '');
  const byDay = new RevenueSum(settledDay);
  const byProduct = new RevenueSum((row) => row.path);
  const byDayAndProduct = new RevenueSum((row) => `${settledDay(row)} ${row.path}`);
  const buyers = new Set<string>();
  const durations = new Map<number, number>();
  const weeks: Weeks<WeekOfSales> = [weekOfSales(), weekOfSales()];
  const span = { sinceMs: firstMs(period), untilMs: period.untilMs };
  let played = 0;
  for await (const row of books.rows({ ...span, time: 'settled_at', state: 'settled' })) {
    const settledMs = Date.parse(row.settled_at);
    const isShown = isWithin(settledMs, period);
    if (isPlay(row)) {
      played += Number(isShown);
      continue;
    }
    const week = ofWeek(weeks, settledMs, period);
    if (week !== undefined) {
      week.usd += microUsd(row.usd);
      week.sales += 1;
      week.buyers.add(buyerOf(row));
    }
    if (!isShown) continue;
    for (const sum of [total, byDay, byProduct, byDayAndProduct]) sum.add(row);
    buyers.add(buyerOf(row));
    // A clock that was set back in between counts as 0.
    const ms = Math.max(0, settledMs - Date.parse(row.created_at));
    durations.set(ms, (durations.get(ms) ?? 0) + 1);
  }
  let refused = 0;
  for await (const row of books.rows({ ...span, time: 'created_at', state: 'refused' })) {
    const claimedMs = Date.parse(row.created_at);
    const week = ofWeek(weeks, claimedMs, period);
    if (week !== undefined) week.refused += 1;
    refused += Number(isWithin(claimedMs, period));
  }
  return {
    weeks,
    /** Payments in money that is worth nothing: they are in no other figure of what was settled. */
    played,
    total: total.revenue(),
    byDay: byDay.revenue(),
    byProduct: byProduct.revenue(),
    /** Groups are `day path`. */
    byDayAndProduct: byDayAndProduct.revenue(),
    buyers: buyers.size,
    /** From the claim of a payment to the note that it is settled. */
    latency: summaryOf(durations),
    /** Refusals of the period that the journal still holds. */
    refused,
    open: await openPayments(books),
  };
}

function buyerOf({ network, payer }: LedgerRow): string {
  return `${network}|${payer}`;
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

/** Of durations in whole milliseconds, with how often each was measured; null where nothing was. */
function summaryOf(counts: ReadonlyMap<number, number>) {
  const sorted = [...counts].sort(([left], [right]) => left - right);
  const count = sorted.reduce((sum, [, times]) => sum + times, 0);
  const at = (share: number): number | null => {
    let left = Math.ceil(count * share);
    for (const [ms, times] of sorted) {
      left -= times;
      if (left <= 0) return ms;
    }
    return null;
  };
  return { count, medianMs: at(0.5), p95Ms: at(0.95), maxMs: at(1) };
}
