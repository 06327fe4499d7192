import { builtinLine } from '../../../contract/catalog/builtin.ts';
import { roundDecimal, subtractDecimal } from '../../../contract/decimal.ts';
import { DAY_MS } from '../../../contract/iso-time.ts';
import type { Payload } from '../../payload.ts';
import { nameOf, type Origin, type ReadingList, statedReading } from '../../readings.ts';

const GRID_LOCS = builtinLine('grid').entities;

/** A series that becomes readings; its unit follows from its id. */
export type Measure =
  | 'cpi_energy_index'
  | 'gas_usd_therm'
  | 'gasoline_usd_gal'
  | 'electricity_usd_kwh'
  | 'unemployment_pct';

/** Figures by month, counted from year 0; null where the agency has none. */
export type Months = ReadonlyMap<number, Figure | null>;
export interface Figure {
  readonly value: number;
  readonly isPreliminary: boolean;
}

/** The month of a year, from 1, as a count of months. */
export function monthOf(year: number, month: number): number {
  return year * 12 + month - 1;
}

/** The last day of a month at 00:00Z stands for it (ours): a series names no day of its release. */
function lastDay(month: number): number {
  return Date.UTC(Math.floor(month / 12), (month % 12) + 1, 1) - DAY_MS;
}

const US_GRIDS = GRID_LOCS.filter((id) => id.startsWith('us-'));
const MONTH_SCOPE = 'a month, which its last day at 00:00Z stands for';
const NATIONAL = 'US city average, the same for every US grid (ours)';

interface SeriesFeed {
  readonly signal: string;
  readonly entities: readonly string[];
  /** The main one first: without it nothing is said. */
  readonly measures: readonly [Measure, ...Measure[]];
  readonly scope: string;
}
const FEEDS: readonly SeriesFeed[] = [
  {
    signal: 'energy.inflation',
    entities: US_GRIDS,
    measures: ['cpi_energy_index'],
    scope: `consumer prices of energy, seasonally adjusted, against 12 months before; ${NATIONAL}; ${MONTH_SCOPE}`,
  },
  {
    signal: 'energy.gas-price',
    entities: US_GRIDS,
    measures: ['gas_usd_therm', 'gasoline_usd_gal', 'electricity_usd_kwh'],
    scope: `average prices of utility gas, gasoline of all types and electricity, as the metric names say; ${NATIONAL}; ${MONTH_SCOPE}`,
  },
  {
    signal: 'macro.unemployment',
    entities: ['us'],
    measures: ['unemployment_pct'],
    scope: `civilian unemployment rate, seasonally adjusted; ${MONTH_SCOPE}`,
  },
];

/** The series of a payload, and who publishes them. */
interface PublishedSeries {
  readonly payload: Payload;
  readonly origin: Origin;
  readonly series: ReadonlyMap<Measure, Months>;
}

/** Adds every month of the series of a payload. */
export function addMonths(list: ReadingList, published: PublishedSeries): void {
  for (const feed of FEEDS) {
    const given = feed.measures.filter((measure) => published.series.has(measure));
    const [main] = feed.measures;
    const months = published.series.get(main);
    if (months !== undefined) addFeed(list, { ...published, feed, given, months });
    else
      for (const measure of given)
        list.skips.add(measure, `${feed.signal} needs ${main} beside it`);
  }
}

interface Feeding extends PublishedSeries {
  readonly feed: SeriesFeed;
  /** Measures of the feed that the payload holds. */
  readonly given: readonly Measure[];
  /** Of the main one. */
  readonly months: Months;
}

function addFeed(list: ReadingList, { payload, origin, series, feed, given, months }: Feeding) {
  for (const month of months.keys()) {
    const figures = given.map((name) => [name, series.get(name)?.get(month) ?? null] as const);
    const current = currentOf(months, month, figures);
    if (current === null) continue;
    const isPreliminary = figures.some(([, figure]) => figure?.isPreliminary === true);
    for (const entity of feed.entities) {
      const stated = {
        entity,
        ...nameOf('grid', entity),
        at: lastDay(month),
        current,
        scope: feed.scope,
        ...(isPreliminary ? PRELIMINARY : {}),
      };
      list.add(feed.signal, statedReading(origin, payload, stated));
    }
  }
}

const PRELIMINARY = { qualifiers: ['P'], grade: 'preliminary, subject to revision' };

function currentOf(
  months: Months,
  month: number,
  figures: readonly (readonly [Measure, Figure | null])[],
): Record<string, number | null> | null {
  if (figures.every(([, figure]) => figure === null)) return null;
  const current = Object.fromEntries(
    figures.map(([name, figure]) => [name, figure?.value ?? null]),
  );
  if (!Object.hasOwn(current, 'cpi_energy_index')) return current;
  const before = months.get(month - 12);
  // Before its first year a series has nothing to compare with; later a gap is named.
  if (before === undefined && month - 12 < Math.min(...months.keys())) return null;
  return { cpi_energy_yoy_pct: yearOnYear(months.get(month), before), ...current };
}

function yearOnYear(now: Figure | null | undefined, before: Figure | null | undefined) {
  if (now == null || before == null || before.value <= 0) return null;
  return roundDecimal((subtractDecimal(now.value, before.value) * 100) / before.value, 2);
}
