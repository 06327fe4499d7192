import type { Cadence } from '../../contract/freshness.ts';
import { HOUR_MS } from '../../contract/iso-time.ts';
import type { SignalRecord } from '../../contract/record.ts';
import type { Reading } from '../intake/reading.ts';

const TENTH_HOUR_MS = HOUR_MS / 10;

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
  const tenths = Math.round(Math.max(0, Date.parse(to) - Date.parse(from)) / TENTH_HOUR_MS);
  return tenths / 10;
}

/** Hours after which a source of this cadence is late; null where there is no schedule. */
export const DUE_HOURS: Readonly<Record<Cadence, number | null>> = {
  hourly: 3,
  daily: 48,
  weekly: 216,
  monthly: 1440,
  quarterly: 3600,
  yearly: 10_000,
  'as-events': null,
};

/**
 * Publication state of the source when it was last looked at. It rests on the last collection, not
 * on the clock of the compile: freshness at request time tells how old a reading is by then.
 */
export function updateStatus(
  cadence: Cadence,
  observedAt: string,
  lastCollectedAt: string,
): SignalRecord['update_status'] {
  const due = DUE_HOURS[cadence];
  const age = (Date.parse(lastCollectedAt) - Date.parse(observedAt)) / HOUR_MS;
  const seen = `last official reading ${observedAt}, last looked at ${lastCollectedAt}`;
  const base = { official_cadence: cadence, overdue_days: null };
  if (due === null) {
    return { state: 'on_schedule', ...base, text: `published as events occur; ${seen}` };
  }
  if (age <= due)
    return { state: 'on_schedule', ...base, text: `on schedule (${cadence}); ${seen}` };
  const overdue_days = Math.floor((age - due) / 24);
  const text = `overdue for a ${cadence} source; ${seen}`;
  return { state: 'overdue', official_cadence: cadence, overdue_days, text };
}
