import { z } from 'zod';
import { builtinLine } from '../../catalog/builtin.ts';
import { roundDecimal, subtractDecimal } from '../../format/decimal.ts';
import { defined } from '../../format/errors.ts';
import { DAY_MS } from '../../format/iso-time.ts';
import { dayTime } from '../kit/local-time.ts';
import {
  fetchAgain,
  type Imported,
  numberOf,
  type Payload,
  parsePayload,
  type SkipCount,
  shaped,
} from '../kit/payload.ts';
import { type CsvRow, csvRows } from '../kit/payload-formats.ts';
import {
  askedOnly,
  namedIn,
  nameOf,
  type Origin,
  ReadingList,
  statedReading,
} from '../kit/readings.ts';
import { registered, type Source } from '../kit/source.ts';

/** A series that becomes readings; its unit follows from its id. */
type Measure =
  | 'cpi_energy_index'
  | 'gas_usd_therm'
  | 'gasoline_usd_gal'
  | 'electricity_usd_kwh'
  | 'unemployment_pct';

/** Figures by month, counted from year 0; null where the agency has none. */
type Months = ReadonlyMap<number, Figure | null>;
interface Figure {
  readonly value: number;
  readonly isPreliminary: boolean;
}

/** The month of a year, from 1, as a count of months. */
function monthOf(year: number, month: number): number {
  return year * 12 + month - 1;
}

const US_GRIDS = builtinLine('grid').entities.filter((id) => id.startsWith('us-'));
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

interface PublishedSeries {
  readonly payload: Payload;
  readonly origin: Origin;
  readonly series: ReadonlyMap<Measure, Months>;
}

function addMonths(list: ReadingList, published: PublishedSeries): void {
  for (const feed of FEEDS) {
    const given = feed.measures.filter((measure) => published.series.has(measure));
    const [main] = feed.measures;
    const months = published.series.get(main);
    if (months !== undefined) addFeed(list, published, { feed, given, months });
    else
      for (const measure of given)
        list.skips.add(measure, `${feed.signal} needs ${main} beside it`);
  }
}

function addFeed(
  list: ReadingList,
  { payload, origin, series }: PublishedSeries,
  { feed, given, months }: { feed: SeriesFeed; given: readonly Measure[]; months: Months },
): void {
  for (const month of months.keys()) {
    const figures = given.map((name) => [name, series.get(name)?.get(month) ?? null] as const);
    const current = currentOf(months, month, figures);
    if (current === null) continue;
    const isPreliminary = figures.some(([, figure]) => figure?.isPreliminary === true);
    for (const entity of feed.entities) {
      const stated = {
        entity,
        ...nameOf('grid', entity),
        at: Date.UTC(Math.floor(month / 12), (month % 12) + 1, 1) - DAY_MS,
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

const BLS_ORIGIN: Origin = {
  name: 'US Bureau of Labor Statistics',
  role: 'measurement',
  independent: true,
  page: 'https://www.bls.gov/data/',
  tier: 'T1',
  status: 'as published by BLS',
};
const UNEMPLOYMENT = 'LNS14000000';
const BLS_SERIES: ReadonlyMap<string, Measure> = new Map([
  ['CUSR0000SA0E', 'cpi_energy_index'],
  ['APU000072620', 'gas_usd_therm'],
  ['APU000074714', 'gasoline_usd_gal'],
  ['APU000072610', 'electricity_usd_kwh'],
  [UNEMPLOYMENT, 'unemployment_pct'],
]);
const ASKED_OF_BLS = [UNEMPLOYMENT, 'CUSR0000SA0E', 'APU000072620'];
const NO_FIGURE = '-';
const MONTH = /^M(0[1-9]|1[0-2])$/;
/** Yearly, half-yearly and quarterly figures, and the mean of a year. */
const OTHER_PERIOD = /^(M13|A01|S0[1-3]|Q0[1-5])$/;
/** The one series of an address. */
const ASKED_SERIES = /\/timeseries\/data\/([A-Z0-9_#-]+)/;
const DONE = 'REQUEST_SUCCEEDED';

const figureSchema = z.looseObject({
  year: z.string().regex(/^\d{4}$/, 'not a year'),
  period: z.string(),
  value: z.string(),
  footnotes: z.array(z.looseObject({ code: z.string().optional() })),
});
const resultsSchema = z.looseObject({
  series: z.array(
    z.looseObject({
      seriesID: z.string().regex(/^[A-Z0-9_#-]{1,40}$/, 'not the id of a series'),
      data: z.array(figureSchema),
    }),
  ),
});
type BlsSeries = z.infer<typeof resultsSchema>['series'][number];
const answerSchema = z.looseObject({
  status: z.string(),
  message: z.array(z.string()).optional(),
  Results: z.unknown(),
});

function readSeries(payload: Payload): Imported {
  // The results of an answer. A used-up quota answers too, with another status; a file may hold the results alone.
  const { bytes, subject } = payload;
  const value = parsePayload(bytes, subject);
  const { success, data: answer } = answerSchema.safeParse(value);
  if (success && answer.status !== DONE) {
    const why = [answer.status, ...(answer.message ?? [])].join(': ').slice(0, 200);
    throw fetchAgain(payload, `the agency did not process the request (${why})`);
  }
  const is = 'an answer of time series';
  const { series } = shaped(resultsSchema, success ? answer.Results : value, { subject, is });
  const asked = ASKED_SERIES.exec(payload.note.url)?.[1];
  const list = new ReadingList();
  const found = new Map<Measure, Months>();
  for (const { seriesID, data } of series) {
    const measure = BLS_SERIES.get(seriesID);
    if (measure === undefined) {
      list.skips.add(seriesID, `feeds no signal; known are ${[...BLS_SERIES.keys()].join(', ')}`);
      continue;
    }
    if (found.has(measure)) throw fetchAgain(payload, `series ${seriesID} is there twice`);
    if ((asked ?? seriesID) !== seriesID)
      throw fetchAgain(payload, `it holds ${seriesID}, not ${asked}`);
    found.set(measure, monthsOfSeries(payload, { seriesID, data }, list));
  }
  addMonths(list, { payload, origin: BLS_ORIGIN, series: found });
  return list.someOf(payload);
}

function monthsOfSeries(
  payload: Payload,
  { seriesID, data }: BlsSeries,
  list: ReadingList,
): Months {
  const months = new Map<number, Figure | null>();
  for (const item of data) {
    if (OTHER_PERIOD.test(item.period)) {
      list.skips.add(seriesID, `period ${item.period} is no month`);
      continue;
    }
    const when = `${item.period.slice(0, 20)} ${item.year} of ${seriesID}`;
    const [, month] = MONTH.exec(item.period) ?? [];
    const at = monthOf(Number(item.year), Number(month));
    if (month === undefined || months.has(at)) {
      throw fetchAgain(payload, `${when} is ${month === undefined ? 'no month' : 'there twice'}`);
    }
    const figure = figureOfItem(item);
    if (figure === undefined) {
      throw fetchAgain(payload, `${when} is "${item.value.slice(0, 40)}", not a figure`);
    }
    months.set(at, figure);
  }
  return months;
}

/** Null where the agency has no figure; undefined for a text that is none. */
function figureOfItem({
  value: text,
  footnotes,
}: BlsSeries['data'][number]): Figure | null | undefined {
  if (text === NO_FIGURE) return null;
  const value = numberOf(text);
  if (value === null || value < 0) return undefined;
  return { value, isPreliminary: footnotes.some(({ code }) => code === 'P') };
}

/** Time series of the last three years: https://www.bls.gov/developers/api_signature.htm */
export const bls: Source = {
  ...registered('bls'),
  version: 2,
  read: readSeries,
  // One series an answer: prices beside that of utility gas come only from FRED, in one table.
  asks: () => ASKED_OF_BLS.map((series) => ({ with: { series } })),
};

const FRED_ORIGIN: Origin = {
  name: 'FRED, Federal Reserve Bank of St. Louis',
  role: 'relay',
  independent: false,
  relay_of: 'US Bureau of Labor Statistics',
  page: 'https://fred.stlouisfed.org/',
  tier: 'T2',
  status: 'as published by FRED',
};
const FRED_SERIES: ReadonlyMap<string, Measure> = new Map([
  ['CPIENGSL', 'cpi_energy_index'],
  ['APU000072620', 'gas_usd_therm'],
  ['APU000074714', 'gasoline_usd_gal'],
  ['APU000072610', 'electricity_usd_kwh'],
  ['UNRATE', 'unemployment_pct'],
]);
/** What is asked for; the unemployment rate comes from the agency itself. */
const ASKED = ['CPIENGSL', 'APU000072620', 'APU000074714', 'APU000072610'];
const DATE_COLUMNS: readonly string[] = ['observation_date', 'DATE', 'Date'];
const SENTINELS: readonly string[] = ['', '.', 'NA'];
const FIRST_DAY = /^(\d{4})-(\d{2})-01$/;

/** A table has a column of dates, and one for each series, which is found by its id. */
function readTable(payload: Payload): Imported {
  const rows = csvRows(payload, []);
  const columns = Object.keys(rows[0] ?? {});
  const date = columns.find((name) => DATE_COLUMNS.includes(name));
  if (date === undefined)
    throw fetchAgain(payload, 'no column observation_date or DATE in its header');
  const ids = columns.filter((name) => name !== date);
  const list = new ReadingList();
  const asked = namedIn(payload, 'id');
  const isAsked = askedOnly(payload, { asked, found: ids, skips: list.skips });
  const dated = datedRows(rows, date, list.skips);
  const series = new Map<Measure, Months>();
  for (const id of ids) {
    if (!isAsked(id)) continue;
    const measure = FRED_SERIES.get(id);
    if (measure === undefined)
      list.skips.add(
        id.slice(0, 40),
        `feeds no signal; known are ${[...FRED_SERIES.keys()].join(', ')}`,
      );
    else series.set(measure, monthsOf(dated, id, list.skips));
  }
  addMonths(list, { payload, origin: FRED_ORIGIN, series });
  return list.someOf(payload);
}

/** Rows by their month. One whose date cannot be read, or is there twice, leaves out that row, or that month, and no other. */
function datedRows(
  rows: readonly CsvRow[],
  date: string,
  skips: SkipCount,
): ReadonlyMap<number, CsvRow> {
  const dated = new Map<number, CsvRow>();
  const twice = new Set<number>();
  for (const row of rows) {
    const text = defined(row[date], 'the date');
    const [, year, month] = FIRST_DAY.exec(text) ?? [];
    const at = dayTime(text) === null ? Number.NaN : monthOf(Number(year), Number(month));
    const fault = Number.isNaN(at) ? 'is not the first day of a month' : 'is there twice';
    if (dated.has(at)) twice.add(at);
    if (Number.isNaN(at) || dated.has(at)) skips.unread('date', `"${text.slice(0, 40)}" ${fault}`);
    else dated.set(at, row);
  }
  return new Map([...dated].filter(([at]) => !twice.has(at)));
}

/** The figures of a series by month; null where there is none, or none that can be read. */
function monthsOf(dated: ReadonlyMap<number, CsvRow>, id: string, skips: SkipCount): Months {
  const figures = [...dated].map(([at, row]) => {
    const text = defined(row[id], 'the figure');
    const value = numberOf(text);
    if (value !== null && value >= 0) return [at, { value, isPreliminary: false }] as const;
    const isNone = SENTINELS.includes(text);
    if (!isNone) skips.unread(id, `"${text.slice(0, 40)}" is not a figure of it`);
    return [at, null] as const;
  });
  return new Map(figures);
}

/** Tables of FRED: https://fred.stlouisfed.org/docs/api/fred/ names the series. */
export const fred: Source = {
  ...registered('fred'),
  version: 2,
  sentinels: SENTINELS,
  read: readTable,
  asks: () => [{ with: { series: ASKED.join(',') } }],
};
