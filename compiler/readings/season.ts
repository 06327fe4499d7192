import { roundDecimal } from '../format/decimal.ts';
import { DAY_MS, isoTime } from '../format/iso-time.ts';
import { textHash } from '../format/text-hash.ts';
import type { Signal } from '../products/shapes/line.ts';
import { WINDOW_DAYS } from '../products/shapes/record-views.ts';
import { classify } from '../products/shapes/rulers.ts';
import { officialRuler, rulerFor } from './figures.ts';
import type { Reading } from './reading.ts';

/** Same-season years that statistics look back. */
const WINDOW_YEARS = 5;
/** With fewer readings in the window, no statistics are given. */
const WINDOW_READINGS_MIN = 10;

const TABLE = [5, 10, 25, 50, 75, 90, 95];

/** What statistics look at of an earlier reading. */
export type SeasonReading = Pick<Reading, 'observed_at' | 'current'>;

/** Statistics of one reading against its season; null where the history does not carry them. */
export interface Season {
  readonly percentile: number;
  readonly label: string;
  readonly years: number;
  readonly n: number;
  readonly values: readonly number[];
  readonly readings: readonly SeasonReading[];
}

/** The same calendar day in another year; 29 February stands for 28 February in a common year. */
export function sameDayInYear(time: number, year: number): number {
  const date = new Date(time);
  const month = date.getUTCMonth();
  const day = date.getUTCDate();
  const leap = new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1;
  return Date.UTC(year, month, month === 1 && day === 29 && !leap ? 28 : day);
}

/** Readings within WINDOW_DAYS of the same calendar day in each of the WINDOW_YEARS years before. */
export function seasonWindow(
  current: Reading,
  history: readonly SeasonReading[],
): readonly SeasonReading[] {
  const centres = seasonCentres(Date.parse(current.observed_at));
  return history.filter((reading) => seasonIndex(centres, reading) >= 0);
}

/** The windows of a time, each as long as it takes to serve every time until another. */
function seasonSpans(now: number, until: number) {
  const [first, last] = [seasonCentres(now), seasonCentres(until)];
  return first.map((centre, back) => ({
    from: centre - WINDOW_DAYS * DAY_MS,
    to: (last[back] ?? centre) + (WINDOW_DAYS + 1) * DAY_MS,
  }));
}

function seasonCentres(now: number): readonly number[] {
  const year = new Date(now).getUTCFullYear();
  return Array.from({ length: WINDOW_YEARS }, (_, back) => sameDayInYear(now, year - back - 1));
}

/** Which of the seasons a reading belongs to, -1 for none; a season may span a year end. */
function seasonIndex(centres: readonly number[], reading: SeasonReading): number {
  const at = Date.parse(reading.observed_at);
  return centres.findIndex(
    (centre) => at >= centre - WINDOW_DAYS * DAY_MS && at < centre + (WINDOW_DAYS + 1) * DAY_MS,
  );
}

/** Share of values below, ties counted half: 0 to 1, three decimals. */
export function percentileOf(value: number, values: readonly number[]): number {
  const below = values.filter((other) => other < value).length;
  const equal = values.filter((other) => other === value).length;
  return roundDecimal((below + equal / 2) / values.length, 3);
}

/** Words for a percentile, after the classes that the USGS uses for streamflow. */
export function frequencyLabel(percentile: number): string {
  if (percentile < 0.1) return 'much below normal';
  if (percentile < 0.25) return 'below normal';
  if (percentile <= 0.75) return 'normal';
  if (percentile <= 0.9) return 'above normal';
  return 'much above normal';
}

/** Places the main metric of a reading in its season, or null when the history is too thin. */
export function seasonOf(
  signal: Signal,
  current: Reading,
  history: readonly SeasonReading[],
): Season | null {
  const [metric] = signal.metrics;
  const value = current.current[metric];
  if (!signal.seasonal || typeof value !== 'number') return null;
  const readings = seasonWindow(current, history).filter(
    (reading) => typeof reading.current[metric] === 'number',
  );
  const values = readings.map((reading) => Number(reading.current[metric]));
  if (values.length < WINDOW_READINGS_MIN) return null;
  const percentile = percentileOf(value, values);
  const centres = seasonCentres(Date.parse(current.observed_at));
  const years = new Set(readings.map((reading) => seasonIndex(centres, reading))).size;
  return {
    percentile,
    label: frequencyLabel(percentile),
    years,
    n: values.length,
    values,
    readings,
  };
}

export function statRuler(season: Season | null) {
  if (season === null) return null;
  const { percentile, label, years, n } = season;
  return { current_percentile: percentile, frequency_label: label, window_years: years, n };
}

/** Share of the window in each official class, and the class of the current reading. */
export function strataOf(signal: Signal, current: Reading, season: Season | null) {
  const ruler = rulerFor(signal, current);
  const value = ruler === null ? null : current.current[ruler.metric];
  if (season === null || ruler === null || typeof value !== 'number') return null;
  const bands = season.readings.map((reading) => {
    const own = signal.ownThresholds === undefined ? officialRuler(signal, reading) : ruler;
    return classify(own ?? ruler, Number(reading.current[ruler.metric])).band;
  });
  const shares = ruler.steps.map(({ band }) => {
    const n = bands.filter((other) => other === band).length;
    return { band, share: roundDecimal(n / bands.length, 3), n };
  });
  return {
    window_years: season.years,
    n: bands.length,
    basis:
      `readings within ${WINDOW_DAYS} days of this calendar day in ${WINDOW_YEARS} years before; ` +
      'approximate, can be recomputed from the stored series',
    shares,
    current_band: classify(ruler, value).band,
  };
}

/** Nearest-rank value of a percentile: always a value that occurred. */
function nearestRank(sorted: readonly number[], percentile: number): number {
  const rank = Math.max(1, Math.ceil((percentile / 100) * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

/** Which value the season reaches up to each percentile; null without a season. */
export function percentileTable(season: Season | null) {
  if (season === null) return null;
  const sorted = [...season.values].sort((a, b) => a - b);
  return TABLE.map((percentile) => ({ percentile, value: nearestRank(sorted, percentile) }));
}

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
  const ahead = AHEAD_DAYS_MIN + (textHash(entity) % AHEAD_DAYS_SPREAD);
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
