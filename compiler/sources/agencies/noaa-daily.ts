import { defined } from '../../format/defined.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../../format/iso-time.ts';
import { grouped } from '../../format/lists.ts';
import { dayTime } from '../kit/local-time.ts';
import { fetchAgain, ImportError, type Imported, numberOf, type Payload } from '../kit/payload.ts';
import { type CsvRow, csvRows } from '../kit/payload-formats.ts';
import {
  namedIn,
  nameOf,
  type Origin,
  RAIN_SCOPE,
  ReadingList,
  rainValues,
  refuseUnasked,
  statedReading,
} from '../kit/readings.ts';
import { isWanted, type Source } from '../kit/source.ts';

/** The station (GHCN-Daily id) that stands for each city: its airport or city station; the choice is ours. */
const CITY_STATION: Readonly<Record<string, string>> = {
  'us-stlouis': 'USW00013994',
  'us-memphis': 'USW00013893',
  'us-losangeles': 'USW00093134',
  'us-fresno': 'USW00093193',
  'us-phoenix': 'USW00023183',
  'us-denver': 'USW00003017',
  'us-saltlakecity': 'USW00024127',
  'us-houston': 'USW00012960',
  'us-newyork': 'USW00094728',
  'us-chicago': 'USW00094846',
  'us-seattle': 'USW00024233',
  'us-portland': 'USW00024229',
};
const CITY_NAMES: ReadonlyMap<string, string> = new Map([
  ['Seattle', 'us-seattle'],
  ['New York', 'us-newyork'],
]);

/** The 30 days of a sum, and as many more as stations are late and revised. */
const DAYS_ASKED = 45;
/** Every day of a US station has ended by noon UTC of the next. */
const DAY_ENDS_MS = DAY_MS + 12 * HOUR_MS;

const SERVICE = 'https://www.ncei.noaa.gov/access/services/data/v1';
const MISSING = -9999;
/** The check that a value failed; most fail none. */
const FLAG = /^[A-Z]?$/;

function readDaily(payload: Payload): Imported {
  const rows = csvRows(payload, []);
  const table = tableOf(payload, rows);
  const list = new ReadingList();
  const stations = grouped(rows, (row) => defined(row[table.station], 'the station'));
  refuseUnasked(payload, namedIn(payload, 'stations'), stations.keys());
  for (const [station, own] of stations) {
    const entity = table.entities.get(station);
    if (entity === undefined)
      list.skips.add(station.slice(0, 40), 'stands for none of our cities', own.length);
    else addCity(list, { payload, table, station, entity }, own);
  }
  return list.someOf(payload);
}

function tableOf({ note, subject }: Payload, [first = {}]: readonly CsvRow[]): DailyTable {
  const found = [AGENCY_TABLE, CLEANED_TABLE].find(({ station, date, rain }) =>
    [station, date, rain].every((name) => Object.hasOwn(first, name)),
  );
  if (found === undefined) {
    const state =
      'neither STATION,DATE,PRCP nor location,date,precipitation in its header; ask for format=csv and dataTypes=PRCP';
    throw new ImportError({ subject, state });
  }
  // The table itself names no unit: without this parameter the service answers in tenths.
  if (found === CLEANED_TABLE || new URL(note.url).searchParams.get('units') === 'metric')
    return found;
  const state =
    'its address does not say units=metric, so its unit is not known; fetch it with units=metric';
  throw new ImportError({ subject, state });
}

interface StationCity {
  readonly payload: Payload;
  readonly table: DailyTable;
  readonly station: string;
  readonly entity: string;
}

function addCity(list: ReadingList, city: StationCity, rows: readonly CsvRow[]): void {
  const { payload, table, station, entity } = city;
  const days = new Map<number, number | null>();
  for (const row of rows) {
    const day = dayTime(defined(row[table.date], 'the date'));
    if (day === null || days.has(day)) {
      const fault = day === null ? 'which does not exist' : 'which it names twice';
      throw fetchAgain(payload, `${station} has date "${row[table.date]?.slice(0, 40)}", ${fault}`);
    }
    if (day + DAY_ENDS_MS > Date.parse(payload.note.fetched_at))
      list.skips.add(station, 'a day that had not ended');
    else days.set(day, rainOf(row, city));
  }
  for (const { signal, day, current } of rainValues(days)) {
    const reading = statedReading(table.origin, payload, {
      entity,
      ...nameOf('environment', entity),
      at: day,
      current,
      scope: `${table.about} ${station} stands for the city (ours); ${RAIN_SCOPE}`,
    });
    list.add(signal, reading);
  }
}

/** Rain of a row in mm; null where the station has none, or where it failed a check of the agency. */
function rainOf(row: CsvRow, city: StationCity): number | null {
  const { payload, station, table } = city;
  const { rain, flags = '', date } = table;
  const text = defined(row[rain], 'the rain').trim();
  const [, check = ''] = (row[flags] ?? '').split(',').map((flag) => flag.trim());
  const value = numberOf(text);
  if (!FLAG.test(check))
    throw fetchAgain(payload, `${station} has ${flags} "${check.slice(0, 40)}" of ${row[date]}`);
  if (text === '' || value === MISSING) return null;
  if (value === null || value < 0) {
    throw fetchAgain(payload, `${station} has ${rain} "${text.slice(0, 40)}" of ${row[date]}`);
  }
  return check === '' ? value : null;
}

/** Daily summaries: https://www.ncei.noaa.gov/support/access-data-service-api-user-documentation */
export const noaaDaily: Source = {
  id: 'noaa-daily',
  agency: 'NOAA National Centers for Environmental Information',
  version: 1,
  format: 'csv',
  feeds: ['precipitation.daily', 'precipitation.wetness30d'],
  read: readDaily,
  fetch: {
    hosts: ['www.ncei.noaa.gov'],
    addresses: (asked) => {
      const { now } = asked;
      const wanted = Object.entries(CITY_STATION).filter(([city]) => isWanted(asked, city));
      const [from, to] = [now - DAYS_ASKED * DAY_MS, now].map((at) => isoTime(at).slice(0, 10));
      const stations = wanted.map(([, station]) => station).join(',');
      const query = `dataset=daily-summaries&stations=${stations}&startDate=${from}&endDate=${to}&dataTypes=PRCP&units=metric&format=csv&includeAttributes=true`;
      return wanted.length === 0 ? [] : [`${SERVICE}?${query}`];
    },
    everyMinutes: 24 * 60,
    perMinute: 30,
  },
};

/** One of the two tables: that of the agency, and one that a carrier cleaned. */
interface DailyTable {
  readonly station: string;
  readonly date: string;
  readonly rain: string;
  /** Measurement, quality and source flags. */
  readonly flags?: string;
  readonly entities: ReadonlyMap<string, string>;
  readonly origin: Origin;
  readonly about: string;
}
const MEASURED = { role: 'measurement', independent: true } as const;
const AGENCY_TABLE: DailyTable = {
  station: 'STATION',
  date: 'DATE',
  rain: 'PRCP',
  flags: 'PRCP_ATTRIBUTES',
  entities: new Map(Object.entries(CITY_STATION).map(([city, station]) => [station, city])),
  origin: {
    ...MEASURED,
    name: 'NOAA NCEI GHCN-Daily',
    page: 'https://www.ncei.noaa.gov/products/land-based-station/global-historical-climatology-network-daily',
    tier: 'T1',
    status: 'as published by NOAA NCEI',
  },
  about: 'station',
};
const CLEANED_TABLE: DailyTable = {
  station: 'location',
  date: 'date',
  rain: 'precipitation',
  entities: CITY_NAMES,
  origin: {
    name: 'cleaned table of daily weather',
    role: 'relay',
    independent: false,
    relay_of: 'NOAA NCEI GHCN-Daily',
    page: AGENCY_TABLE.origin.page,
    tier: 'T2',
    status: 'cleaned and put into mm by a carrier',
  },
  about: 'city of a cleaned table,',
};
