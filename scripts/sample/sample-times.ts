import type { Cadence } from '../../compiler/contract/freshness.ts';
import { DAY_MS } from '../../compiler/contract/iso-time.ts';
import { isoSeconds } from './sample-lifecycle.ts';

/** The instant at which the sample ends; compile it with this `--as-of`. */
export const SAMPLE_AS_OF = '2026-11-20T12:00:00Z';

/** The instant that a compile of the sample speaks about: a clock before the sample's own would refuse it as of the future. */
export function sampleClock(now: Date): string {
  const text = isoSeconds(now.getTime());
  return text < SAMPLE_AS_OF ? SAMPLE_AS_OF : text;
}
/** Recent readings of each entity, so that a trend has its seven points before the newest one. */
export const RECENT_READINGS = 8;
const HISTORY_YEARS = [2021, 2022, 2023, 2024, 2025];
const HISTORY_DAYS = [6, 10, 14, 17, 20];

export interface Moment {
  readonly observedAt: string;
  readonly collectedAt: string;
}

/** The newest moment of a cadence and the days between two; months are counted apart. */
const NEWEST: Readonly<
  Record<'hourly' | 'daily' | 'weekly' | 'as-events', [string, string, number]>
> = {
  hourly: ['2026-11-20T10:45:00Z', '2026-11-20T11:15:00Z', 1],
  daily: ['2026-11-20T00:00:00Z', '2026-11-20T06:10:00Z', 1],
  weekly: ['2026-11-17T12:00:00Z', '2026-11-19T13:00:00Z', 7],
  'as-events': ['2026-11-18T15:00:00Z', '2026-11-19T13:00:00Z', 7],
};

/** The recent moments of a cadence, oldest first. */
export function recentMoments(cadence: Cadence): Moment[] {
  const ago = Array.from({ length: RECENT_READINGS }, (_, index) => RECENT_READINGS - 1 - index);
  if (cadence === 'hourly' || cadence === 'daily') return ago.map((n) => moment(cadence, n));
  if (cadence === 'weekly' || cadence === 'as-events') return ago.map((n) => moment(cadence, n));
  return ago.map(monthMoment);
}

function moment(cadence: keyof typeof NEWEST, steps: number): Moment {
  const [observed, collected, days] = NEWEST[cadence];
  return {
    observedAt: isoSeconds(Date.parse(observed) - steps * days * DAY_MS),
    collectedAt: isoSeconds(Date.parse(collected) - steps * days * DAY_MS),
  };
}

/** A month is observed on its last day and collected in the middle of the next one. */
function monthMoment(monthsAgo: number): Moment {
  return {
    observedAt: isoSeconds(Date.UTC(2026, 10 - monthsAgo, 0)),
    collectedAt: isoSeconds(Date.UTC(2026, 10 - monthsAgo, 15, 13)),
  };
}

/** Five moments in each of the five Novembers before, for same-season statistics. */
export function seasonMoments(cadence: Cadence): Moment[] {
  const hour = cadence === 'hourly' ? 'T10:45:00Z' : 'T00:00:00Z';
  return HISTORY_YEARS.flatMap((year) =>
    HISTORY_DAYS.map((day) => ({
      observedAt: `${year}-11-${String(day).padStart(2, '0')}${hour}`,
      collectedAt: `${year}-11-20T13:00:00Z`,
    })),
  );
}
