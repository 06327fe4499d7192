import { defined } from '../../compiler/contract/defined.ts';
import { type Html, html } from '../../compiler/contract/html.ts';
import { DAY_MS } from '../../compiler/contract/iso-time.ts';
import type { RevenueRow } from '../journal/ledger.ts';
import type { Period } from './sales.ts';

/** Days of a chart: the last ones of the period. */
const CHART_DAYS_MAX = 92;
/** Units of a chart: bars of 10 a day, up to 100 high. */
const [STEP, BAR, HEIGHT] = [10, 8, 100];

/** One chart for each currency: what was settled day by day. */
export function revenueCharts(byDay: readonly RevenueRow[], period: Period): Html[] {
  const currencies = [...new Set(byDay.map(currencyOf))].sort();
  return currencies.map((currency) => {
    const rows = byDay.filter((row) => currencyOf(row) === currency);
    return chart(rows, daysOf(period));
  });
}

function currencyOf({ network, asset }: RevenueRow): string {
  return `${network}|${asset}`;
}

/** Calendar days of a period in UTC, the last CHART_DAYS_MAX of them. */
function daysOf({ sinceMs, untilMs }: Period): string[] {
  const last = Math.floor((untilMs - 1) / DAY_MS);
  const first = Math.max(Math.floor(sinceMs / DAY_MS), last - CHART_DAYS_MAX + 1);
  const count = Math.max(0, last - first + 1);
  return Array.from({ length: count }, (_, at) => dayName((first + at) * DAY_MS));
}

function dayName(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function chart(rows: readonly RevenueRow[], days: readonly string[]): Html {
  const values = new Map(rows.map(({ group, value }) => [group, BigInt(value)]));
  const most = [...values.values()].reduce((left, right) => (left > right ? left : right), 1n);
  const bars = days.flatMap((day, at) => {
    const value = values.get(day);
    return value === undefined ? [] : [bar(at, heightOf(value, most))];
  });
  const { network } = defined(rows[0], 'a sale');
  const from = defined(days[0], 'a day');
  // The table below says the same in text.
  return html`<figure><svg aria-hidden="true" viewBox="0 0 ${days.length * STEP} ${HEIGHT}" preserveAspectRatio="none">${bars}</svg>
<figcaption>Revenue per day on ${network}, ${from} to ${days.at(-1) ?? from}; the highest bar is ${highest(rows, most)}.</figcaption></figure>`;
}

function bar(at: number, height: number): Html {
  return html`<rect x="${at * STEP + 1}" y="${(HEIGHT - height).toFixed(1)}" width="${BAR}" height="${height}"/>`;
}

/** Height in units, one decimal; a sale is never invisible. */
function heightOf(value: bigint, most: bigint): number {
  return Math.max(1, Number((value * BigInt(HEIGHT) * 10n) / most) / 10);
}

function highest(rows: readonly RevenueRow[], most: bigint): string {
  const row = rows.find(({ value }) => BigInt(value) === most);
  return row === undefined ? '0' : moneyText(row);
}

/** An amount as people read it; in units of the asset where it is too large for dollars. */
export function moneyText({ usd, value }: Pick<RevenueRow, 'usd' | 'value'>): string {
  return usd === '' ? `${value} units` : `$${usd}`;
}
