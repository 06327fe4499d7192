import { type LedgerRow, type Revenue, RevenueSum, settledDay } from '../journal/ledger.ts';
import type { Ledger } from '../journal/with-journal.ts';

/** Open payments that the page lists; the oldest come first. */
const OPEN_LISTED_MAX = 50;

/** First and last instant of what is shown, in milliseconds since the epoch; the last is not part of it. */
export interface Period {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** What the journal says of a period. */
export interface Sales {
  readonly total: Revenue;
  readonly byDay: Revenue;
  readonly byProduct: Revenue;
  /** Groups are `day path`. */
  readonly byDayAndProduct: Revenue;
  /** Accounts that paid. */
  readonly buyers: number;
  /** From the claim of a payment to the note that it is settled. */
  readonly latency: DurationSummary;
  /** Refusals of the period that the journal still holds. */
  readonly refused: number;
  readonly open: OpenPayments;
}

/** Payments whose end nobody noted, of all time. */
export interface OpenPayments {
  readonly total: number;
  /** The oldest, at most OPEN_LISTED_MAX. */
  readonly listed: readonly LedgerRow[];
}

/** Sums up a journal; amounts are added exactly. */
export async function readSales(ledger: Ledger, period: Period): Promise<Sales> {
  const settled = await settledIn(ledger, period);
  const refused = await refusedIn(ledger, period);
  return { ...settled, refused, open: await openPayments(ledger) };
}

async function settledIn(ledger: Ledger, period: Period): Promise<Omit<Sales, 'refused' | 'open'>> {
  const total = new RevenueSum(() => '');
  const byDay = new RevenueSum(settledDay);
  const byProduct = new RevenueSum((row) => row.path);
  const byDayAndProduct = new RevenueSum((row) => `${settledDay(row)} ${row.path}`);
  const buyers = new Set<string>();
  const latency = new Durations();
  for await (const row of ledger.rows({ ...period, time: 'settled_at', state: 'settled' })) {
    for (const sum of [total, byDay, byProduct, byDayAndProduct]) sum.add(row);
    buyers.add(`${row.network}|${row.payer}`);
    latency.add(Date.parse(row.settled_at) - Date.parse(row.created_at));
  }
  return {
    total: total.revenue(),
    byDay: byDay.revenue(),
    byProduct: byProduct.revenue(),
    byDayAndProduct: byDayAndProduct.revenue(),
    buyers: buyers.size,
    latency: latency.summary(),
  };
}

async function refusedIn(ledger: Ledger, period: Period): Promise<number> {
  let count = 0;
  const refused = ledger.rows({ ...period, time: 'created_at', state: 'refused' });
  for await (const _ of refused) count += 1;
  return count;
}

async function openPayments(ledger: Ledger): Promise<OpenPayments> {
  const oldest: LedgerRow[] = [];
  let total = 0;
  for (const state of ['settling', 'unknown']) {
    let known = 0;
    for await (const row of ledger.rows({ time: 'created_at', state })) {
      known += 1;
      if (known <= OPEN_LISTED_MAX) oldest.push(row);
    }
    total += known;
  }
  oldest.sort((left, right) => (left.created_at < right.created_at ? -1 : 1));
  return { total, listed: oldest.slice(0, OPEN_LISTED_MAX) };
}

/** How long something took, in milliseconds; null where nothing was measured. */
interface DurationSummary {
  readonly count: number;
  readonly medianMs: number | null;
  readonly p95Ms: number | null;
  readonly maxMs: number | null;
}

/** Collects durations in whole milliseconds. A clock that was set back between two instants counts as 0. */
class Durations {
  readonly #counts = new Map<number, number>();
  #count = 0;

  add(ms: number): void {
    const whole = Math.max(0, Math.round(ms));
    this.#counts.set(whole, (this.#counts.get(whole) ?? 0) + 1);
    this.#count += 1;
  }

  summary(): DurationSummary {
    const sorted = [...this.#counts].sort(([left], [right]) => left - right);
    const at = (share: number): number | null => nth(sorted, Math.ceil(this.#count * share));
    return { count: this.#count, medianMs: at(0.5), p95Ms: at(0.95), maxMs: at(1) };
  }
}

/** The value at a place, from 1 on, among sorted values with their counts. */
function nth(
  sorted: readonly (readonly [ms: number, count: number])[],
  place: number,
): number | null {
  let before = 0;
  for (const [ms, count] of sorted) {
    before += count;
    if (before >= place) return ms;
  }
  return null;
}
