import { isRealDay } from '../contract/cutoff.ts';

/** Epoch milliseconds of a day `2026-03-31` at 00:00Z, which stands for the whole day (ours); null for no such day. */
export function dayTime(day: string): number | null {
  return isRealDay(day) ? Date.parse(day) : null;
}
