import { hasIsoYear, isoTime, newYorkDayEnd } from './iso-time.ts';

/** Until when a filing counts. */
export type Cutoff =
  /** The whole official filing day; `at` is its last second in New York. */
  | { readonly basis: 'filing_date'; readonly date: string; readonly at: string }
  /** An instant, compared with the time of acceptance. */
  | { readonly basis: 'acceptance_time'; readonly at: string };

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(:\d{2}(\.\d{1,9})?)?(Z|[+ -]\d{2}:\d{2})$/;

/**
 * Reads a cutoff: a bare ISO 8601 date is that whole filing day, a date-time needs `Z` or an offset. Null for
 * anything else, also for days that do not exist and instants outside the years 1 to 9999; an offset may begin with the space that `+` becomes in a query.
 */
export function parseCutoff(text: string): Cutoff | null {
  if (DAY.test(text)) {
    return isRealDay(text) ? wholeDay(text) : null;
  }
  const epochMs = instantOf(text);
  return epochMs === null ? null : { basis: 'acceptance_time', at: isoTime(epochMs) };
}

function instantOf(text: string): number | null {
  const [, day = '', , , , zone = ''] = INSTANT.exec(text) ?? [];
  if (!isRealDay(day)) return null;
  const epochMs = Date.parse(text.replace(zone, zone.replace(' ', '+')));
  return hasIsoYear(epochMs) ? epochMs : null;
}

function wholeDay(date: string): Cutoff | null {
  const at = newYorkDayEnd(date);
  return hasIsoYear(Date.parse(at)) ? { basis: 'filing_date', date, at } : null;
}

/** True for a day of the calendar, written `2026-03-31`; its years begin with 1. */
export function isRealDay(day: string): boolean {
  const epochMs = Date.parse(`${day}T00:00:00Z`);
  return DAY.test(day) && hasIsoYear(epochMs) && isoTime(epochMs).startsWith(day);
}
