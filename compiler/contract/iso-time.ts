// Code holds instants as epoch milliseconds, files as ISO-8601 text in UTC.

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** An instant as files write it: milliseconds only where there are any. */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('.000Z', 'Z');
}

/** Whether a year of four digits holds the instant: ISO-8601 text of any other is no date-time to its readers. */
export function hasIsoYear(epochMs: number): boolean {
  return /^\d{4}-/.test(isoTime(epochMs));
}
