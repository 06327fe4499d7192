import { isAfter } from './reading.ts';

/** Clocks differ: a line may have been collected so much later than the instant that the compile speaks about. */
const CLOCK_ALLOWANCE_MINUTES = 5;

/**
 * Says what is wrong with a time of collection that lies behind the clock of the compile; null for one that does not.
 * A line from the future would be the latest one for as long as its time has not come.
 */
export function aheadOfClock(asOf: string): (collectedAt: string) => string | null {
  const latest = new Date(Date.parse(asOf) + CLOCK_ALLOWANCE_MINUTES * 60_000).toISOString();
  const limit = latest.replace('.000Z', 'Z');
  return (collectedAt) =>
    isAfter(collectedAt, limit)
      ? `"${collectedAt}" is after this compile, as of ${asOf}; correct it, or the clock or --as-of`
      : null;
}
