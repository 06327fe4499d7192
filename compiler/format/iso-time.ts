// Code holds instants as epoch milliseconds, files as ISO-8601 text in UTC.

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** An instant as files write it: milliseconds only where there are any. */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('.000Z', 'Z');
}

const UTC_TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z$/;

/** Epoch milliseconds of a time as files write it; NaN for every other text, which programs read in different ways. */
export function utcTime(text: string): number {
  const whole = UTC_TIME.exec(text)?.[1];
  const at = whole === undefined ? Number.NaN : Date.parse(text);
  return hasIsoYear(at) && whole !== undefined && isoTime(at).startsWith(whole) ? at : Number.NaN;
}

/** Whether epoch milliseconds lie in the years 1 to 9999: other languages have no year 0, and four digits hold no more. */
export function hasIsoYear(epochMs: number): boolean {
  const year = new Date(epochMs).getUTCFullYear();
  return year >= 1 && year <= 9999;
}

// The securities regulator keeps New York time. Its rules are written out, so that no time zone database of a machine
// can change what was compiled.

const STANDARD_OFFSET_MS = -5 * HOUR_MS;

/** The UTC instant, in epoch milliseconds, of a New York wall-clock time written as if it were UTC. */
export function newYorkInstant(wallClockMs: number): number {
  const offset = isUsSummer(wallClockMs) ? STANDARD_OFFSET_MS + HOUR_MS : STANDARD_OFFSET_MS;
  return wallClockMs - offset;
}

/** The New York wall-clock time of an instant, both in epoch milliseconds, written as if it were UTC. */
export function newYorkWallClock(instantMs: number): number {
  const standard = instantMs + STANDARD_OFFSET_MS;
  const summer = standard + HOUR_MS;
  return isUsSummer(standard) && isUsSummer(summer) ? summer : standard;
}

/** Midnight of New York or of UTC: what a source writes that knows the day only. */
export function isMidnight(instantMs: number): boolean {
  return instantMs % DAY_MS === 0 || newYorkWallClock(instantMs) % DAY_MS === 0;
}

/** The last second of a New York day (`2026-03-31`) as ISO-8601 UTC. */
export function newYorkDayEnd(date: string): string {
  return isoTime(newYorkInstant(Date.parse(`${date}T23:59:59Z`)));
}

/** Whether US clocks show daylight time, which begins and ends at 02:00 of a Sunday; the rules of 1987 and of 2007. */
export function isUsSummer(wallClockMs: number): boolean {
  const year = new Date(wallClockMs).getUTCFullYear();
  const [begin, end] =
    year >= 2007
      ? [sunday(year, 2, 8), sunday(year, 10, 1)]
      : [sunday(year, 3, 1), sunday(year, 9, 25)];
  return wallClockMs >= begin && wallClockMs < end;
}

/** 02:00 of the first Sunday on or after a day of a month, counted from 0. */
function sunday(year: number, month: number, from: number): number {
  // Date.UTC would take the years before 100 for those of the twentieth century.
  const first = new Date(0);
  first.setUTCFullYear(year, month, from);
  return first.getTime() + ((7 - first.getUTCDay()) % 7) * DAY_MS + 2 * HOUR_MS;
}
