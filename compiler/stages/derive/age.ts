import { ageHours } from '../../contract/freshness.ts';
import type { Reading } from '../intake/reading.ts';

/** UTC day of the collection, at midnight; intake takes no time but UTC. */
export function snapshotDate(reading: Reading): string {
  return `${reading.collected_at.slice(0, 10)}T00:00:00Z`;
}

/** Age at collection in hours, one decimal: frozen, for reference only. */
export function dataAgeHours(reading: Reading): number {
  return hoursBetween(reading.observed_at, reading.collected_at);
}

/** Hours from one ISO time to a later one, one decimal, never below 0. */
export function hoursBetween(from: string, to: string): number {
  return ageHours(from, Date.parse(to));
}
