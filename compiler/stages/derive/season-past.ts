import type { Signal } from '../../contract/catalog/line.ts';
import { DAY_MS, isoTime } from '../../contract/iso-time.ts';
import { WINDOW_DAYS } from '../../contract/record-views.ts';
import { entityHash } from '../intake/read-signal.ts';
import type { Reading } from '../intake/reading.ts';
import { type SeasonReading, seasonSpans } from './season.ts';

/** What statistics of the next weeks need of the firm readings of an entity. */
export interface SeasonPast {
  /** The last observation time that these readings serve. */
  readonly until: string;
  readonly readings: readonly SeasonReading[];
}

/** Windows move by a day each day: readings are kept for at least so many more. */
const AHEAD_DAYS_MIN = 16;
/** Entities look back again on different days, so that no one hour pays for all of them. */
const AHEAD_DAYS_SPREAD = 32;
/** The first reading of an entity is in no window before it is so old. */
const YOUNG_DAYS = 365 - WINDOW_DAYS - 1;

/** The readings that become firm, and the observation that statistics are asked for. */
interface FirmReadings {
  readonly entity: string;
  /** Times of the first and the last observation that is given. */
  readonly oldest: string;
  readonly latest: string;
  /** With the first lines of an entity all of its firm readings, later those that are so since. */
  readonly firm: readonly Reading[];
}

/** Takes over readings that became firm; 'ended' where what was kept does not reach so far; null without seasons. */
export function seasonBehind(
  signal: Signal,
  before: SeasonPast | null,
  { entity, oldest, latest, firm }: FirmReadings,
): SeasonPast | null | 'ended' {
  if (!signal.seasonal) return null;
  const now = Date.parse(latest);
  if (before !== null && now > Date.parse(before.until)) return 'ended';
  const ahead = AHEAD_DAYS_MIN + (entityHash(entity) % AHEAD_DAYS_SPREAD);
  const until =
    before?.until ??
    isoTime(Math.max(now + ahead * DAY_MS, Date.parse(oldest) + YOUNG_DAYS * DAY_MS));
  const spans = seasonSpans(now, Date.parse(until));
  const kept = [...(before?.readings ?? []), ...firm.map((reading) => thin(signal, reading))];
  const readings = kept.filter(({ observed_at }) => {
    const at = Date.parse(observed_at);
    return spans.some(({ from, to }) => at >= from && at < to);
  });
  return { until, readings };
}

/** The figures of a reading that percentiles and classes are made of. */
function thin(signal: Signal, { observed_at, current }: SeasonReading): SeasonReading {
  const metrics = new Set([
    signal.metrics[0],
    ...(signal.rulers ?? []).map(({ metric }) => metric),
  ]);
  const figures = Object.entries(current).filter(([name]) => metrics.has(name));
  return { observed_at, current: Object.fromEntries(figures) };
}
