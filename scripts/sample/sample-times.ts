import { DAY_MS, HOUR_MS, isoTime } from '../../compiler/format/iso-time.ts';
import type { Cadence } from '../../compiler/products/shapes/freshness.ts';

/** The hour at which the sample of the tests ends; compile it with this `--as-of`. */
export const SAMPLE_AS_OF = '2026-11-20T12:00:00Z';

/** The instant that a compile of the sample speaks about: the legacy captures of the rosters have fixed days before it. */
export function sampleClock(now: Date): string {
  const text = isoTime(Math.floor(now.getTime() / 1000) * 1000);
  return text < SAMPLE_AS_OF ? SAMPLE_AS_OF : text;
}

/** The whole hour at which a sample ends that is generated at this instant. */
export function sampleHour(instant: string): string {
  return isoTime(Math.floor(Date.parse(instant) / HOUR_MS) * HOUR_MS);
}

/** Recent readings of each entity, so that a trend has its seven points before the newest one. */
const RECENT_READINGS = 8;
const HISTORY_YEARS = 5;
/** Spread over a month, so that at least two of them are near any day of it. */
const HISTORY_DAYS = [4, 12, 19, 27];
const HISTORY_COLLECTED_DAY = 28;
const THURSDAY = 4;

export interface Moment {
  readonly observedAt: string;
  readonly collectedAt: string;
}

export function recentMoments(cadence: Cadence, hour: string): Moment[] {
  const ago = Array.from({ length: RECENT_READINGS }, (_, index) => RECENT_READINGS - 1 - index);
  if (cadence === 'hourly')
    return ago.map((days) => {
      // The newest is minutes old; those before stand at one time of their days, so that another hour tells them again.
      const newest = Date.parse(hour) - 45 * 60_000;
      const midnight = Math.floor(newest / DAY_MS) * DAY_MS - days * DAY_MS;
      const collected = days === 0 ? newest : midnight + 11.25 * HOUR_MS;
      return { observedAt: isoTime(collected - HOUR_MS / 2), collectedAt: isoTime(collected) };
    });
  if (cadence === 'daily')
    return ago.map((days) => {
      const day = newestDay(hour) - days * DAY_MS;
      return { observedAt: isoTime(day), collectedAt: isoTime(day + 6 * HOUR_MS + 600_000) };
    });
  if (cadence === 'weekly') return ago.map((weeks) => weeklyMoment(hour, { weeks, lagHours: 49 }));
  if (cadence === 'as-events')
    return ago.map((weeks) => weeklyMoment(hour, { weeks, lagHours: 22 }));
  return ago.map((months) => {
    const newest = new Date(monthCollectedAt(hour));
    const [year, month] = [newest.getUTCFullYear(), newest.getUTCMonth() - months];
    return {
      observedAt: isoTime(Date.UTC(year, month, 0)),
      collectedAt: isoTime(Date.UTC(year, month, 15, 13)),
    };
  });
}

/** Epoch milliseconds of the newest midnight of which the capture of 06:10 is over. */
function newestDay(hour: string): number {
  return Math.floor((Date.parse(hour) - 7 * HOUR_MS) / DAY_MS) * DAY_MS;
}

/** The newest days with a capture, oldest first. */
export function captureDays(hour: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    return isoTime(newestDay(hour) - (count - 1 - at) * DAY_MS).slice(0, 10);
  });
}

/** When the newest week was collected: Thursdays at 13:00. */
export function weekCollectedAt(hour: string): string {
  const day = Math.floor((Date.parse(hour) - 13 * HOUR_MS) / DAY_MS);
  const sinceThursday = (new Date(day * DAY_MS).getUTCDay() - THURSDAY + 7) % 7;
  return isoTime((day - sinceThursday) * DAY_MS + 13 * HOUR_MS);
}

function weeklyMoment(hour: string, { weeks, lagHours }: { weeks: number; lagHours: number }) {
  const collected = Date.parse(weekCollectedAt(hour)) - weeks * 7 * DAY_MS;
  return {
    observedAt: isoTime(collected - lagHours * HOUR_MS),
    collectedAt: isoTime(collected),
  };
}

/** The middle of the newest month that was collected: its 15th day at 13:00. */
export function monthCollectedAt(hour: string): string {
  const at = new Date(hour);
  const here = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 15, 13);
  const before = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - 1, 15, 13);
  return isoTime(here <= at.getTime() ? here : before);
}

/** Four moments in the same month of each of the five years before, for same-season statistics. */
export function seasonMoments(cadence: Cadence, hour: string): Moment[] {
  const time = cadence === 'hourly' ? 'T10:45:00Z' : 'T00:00:00Z';
  const newest = new Date(hour).getUTCFullYear();
  const years = Array.from({ length: HISTORY_YEARS }, (_, at) => newest - HISTORY_YEARS + at);
  return years.flatMap((year) => {
    const month = `${year}-${hour.slice(5, 7)}`;
    return HISTORY_DAYS.map((day) => ({
      observedAt: `${month}-${String(day).padStart(2, '0')}${time}`,
      collectedAt: `${month}-${HISTORY_COLLECTED_DAY}T13:00:00Z`,
    }));
  });
}
