import { defined } from '../../../contract/defined.ts';
import { namedIn, refuseUnasked } from '../../asked-place.ts';
import { type CsvRow, csvRows } from '../../csv.ts';
import { dayTime } from '../../local-time.ts';
import { fetchAgain, type Imported, numberOf, type Payload } from '../../payload.ts';
import { type Origin, ReadingList } from '../../readings.ts';
import type { Source } from '../../source.ts';
import { addMonths, type Figure, type Measure, type Months, monthOf } from './monthly-series.ts';

const TABLE = 'https://fred.stlouisfed.org/graph/fredgraph.csv';
const ORIGIN: Origin = {
  name: 'FRED, Federal Reserve Bank of St. Louis',
  role: 'relay',
  independent: false,
  relay_of: 'US Bureau of Labor Statistics',
  page: 'https://fred.stlouisfed.org/',
  tier: 'T2',
  status: 'as published by FRED',
};
const SERIES: ReadonlyMap<string, Measure> = new Map([
  ['CPIENGSL', 'cpi_energy_index'],
  ['APU000072620', 'gas_usd_therm'],
  ['APU000074714', 'gasoline_usd_gal'],
  ['APU000072610', 'electricity_usd_kwh'],
  ['UNRATE', 'unemployment_pct'],
]);
/** What is asked for; the unemployment rate comes from the agency itself. */
const ASKED = ['CPIENGSL', 'APU000072620', 'APU000074714', 'APU000072610'];
const DATE_COLUMNS: readonly string[] = ['observation_date', 'DATE', 'Date'];
const MISSING: readonly string[] = ['', '.', 'NA'];
const FIRST_DAY = /^(\d{4})-(\d{2})-01$/;

/** A table has a column of dates, and one for each series, which is found by its id. */
function readTable(payload: Payload): Imported {
  const rows = csvRows(payload, []);
  const columns = Object.keys(rows[0] ?? {});
  const date = columns.find((name) => DATE_COLUMNS.includes(name));
  if (date === undefined)
    throw fetchAgain(payload, 'no column observation_date or DATE in its header');
  const ids = columns.filter((name) => name !== date);
  refuseUnasked(payload, namedIn(payload, 'id'), ids);
  const list = new ReadingList();
  const series = new Map<Measure, Months>();
  for (const id of ids) {
    const measure = SERIES.get(id);
    if (measure === undefined)
      list.skips.add(
        id.slice(0, 40),
        `feeds no signal; known are ${[...SERIES.keys()].join(', ')}`,
      );
    else series.set(measure, monthsOf(payload, rows, { date, id }));
  }
  addMonths(list, { payload, origin: ORIGIN, series });
  return list.someOf(payload);
}

function monthsOf(payload: Payload, rows: readonly CsvRow[], column: Column): Months {
  const months = new Map<number, Figure | null>();
  for (const row of rows) {
    const at = monthAt(payload, defined(row[column.date], 'the date'));
    if (months.has(at)) throw fetchAgain(payload, `date "${row[column.date]}" is there twice`);
    months.set(at, figureOf(payload, row, column));
  }
  return months;
}

interface Column {
  readonly date: string;
  readonly id: string;
}

function monthAt(payload: Payload, text: string): number {
  const [, year, month] = FIRST_DAY.exec(text) ?? [];
  if (dayTime(text) !== null && month !== undefined) return monthOf(Number(year), Number(month));
  throw fetchAgain(payload, `date "${text.slice(0, 40)}" is not the first day of a month`);
}

function figureOf(payload: Payload, row: CsvRow, { date, id }: Column): Figure | null {
  const text = defined(row[id], 'the figure');
  const value = numberOf(text);
  if (value !== null && value >= 0) return { value, isPreliminary: false };
  if (MISSING.includes(text)) return null;
  throw fetchAgain(payload, `${id} of ${row[date]} is "${text.slice(0, 40)}", not a figure of it`);
}

/** Tables of FRED: https://fred.stlouisfed.org/docs/api/fred/ names the series. */
export const fred: Source = {
  id: 'fred',
  agency: 'Federal Reserve Bank of St. Louis, for the US Bureau of Labor Statistics',
  version: 1,
  format: 'csv',
  feeds: ['energy.inflation', 'energy.gas-price', 'macro.unemployment'],
  read: readTable,
  fetch: {
    hosts: ['fred.stlouisfed.org'],
    addresses: () => [`${TABLE}?id=${ASKED.join(',')}`],
    everyMinutes: 24 * 60,
    perMinute: 6,
  },
};
