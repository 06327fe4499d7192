// Code holds instants as epoch milliseconds, files as ISO-8601 text in UTC.

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** An instant as files write it: milliseconds only where there are any. */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('.000Z', 'Z');
}

/** Whether epoch milliseconds lie in the years 1 to 9999: other languages have no year 0, and four digits hold no more. */
export function hasIsoYear(epochMs: number): boolean {
  const year = new Date(epochMs).getUTCFullYear();
  return year >= 1 && year <= 9999;
}
