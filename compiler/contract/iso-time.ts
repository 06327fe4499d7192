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
