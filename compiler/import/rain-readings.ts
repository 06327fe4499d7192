import { roundDecimal } from '../contract/decimal.ts';
import { DAY_MS } from '../contract/iso-time.ts';

/** Rain of complete days in mm, by the epoch milliseconds of their date at 00:00Z; null where a day has no value. */
type RainDays = ReadonlyMap<number, number | null>;

interface RainValue {
  readonly signal: string;
  readonly day: number;
  readonly current: Readonly<Record<string, number | null>>;
}

const WINDOW_DAYS = 30;
/** With fewer days of a window known its sum is null (ours). */
const KNOWN_DAYS_MIN = 28;
/** What the two signals count, for `scope`. */
export const RAIN_SCOPE =
  `rain of a local calendar day, which its date at 00:00Z stands for; ${WINDOW_DAYS} day sums with ` +
  `at least ${KNOWN_DAYS_MIN} known days, counted in days_count (ours)`;

/** Both rain signals of a series of days; a window that begins before the series gives nothing. */
export function rainValues(days: RainDays): RainValue[] {
  const first = Math.min(...days.keys());
  return [...days].flatMap(([day, millimetres]): RainValue[] => {
    if (millimetres === null) return [];
    const daily = { signal: 'precipitation.daily', day, current: { precip_mm: millimetres } };
    const from = day - (WINDOW_DAYS - 1) * DAY_MS;
    return from < first ? [daily] : [daily, windowValue(days, from, day)];
  });
}

function windowValue(days: RainDays, from: number, day: number): RainValue {
  const known: number[] = [];
  for (let at = from; at <= day; at += DAY_MS) {
    const value = days.get(at) ?? null;
    if (value !== null) known.push(value);
  }
  const sum = known.reduce((total, value) => total + value, 0);
  const current = {
    precip_30d_mm: known.length < KNOWN_DAYS_MIN ? null : roundDecimal(sum, 2),
    days_count: known.length,
  };
  return { signal: 'precipitation.wetness30d', day, current };
}
