import { defined } from '../../format/errors.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../../format/iso-time.ts';
import { grouped } from '../../format/lists.ts';
import { dayTime } from '../kit/local-time.ts';
import { ImportError, type Imported, numberOf, type Payload } from '../kit/payload.ts';
import { type CsvRow, csvRows } from '../kit/payload-formats.ts';
import {
  askedOnly,
  namedIn,
  nameOf,
  type Origin,
  RAIN_SCOPE,
  ReadingList,
  rainValues,
  statedReading,
} from '../kit/readings.ts';
import { isWanted, registered, type Source } from '../kit/source.ts';

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

const SENTINELS = ['', '-9999'];
/** The check that a value failed; most fail none. */
const FLAG = /^[A-Z]?$/;

function readDaily(payload: Payload): Imported {
  const rows = csvRows(payload, []);
  const table = tableOf(payload, rows);
  const list = new ReadingList();
  const stations = grouped(rows, (row) => defined(row[table.station], 'the station'));
  const asked = namedIn(payload, 'stations');
  const isAsked = askedOnly(payload, { asked, found: stations.keys(), skips: list.skips });
  // A row of nobody may be the day that a station lacks.
  const doubts = [...stations].flatMap(([station, own]) => (isAsked(station) ? [] : own));
  const daysOf = (of: readonly CsvRow[]) => of.map((row) => row[table.date]);
  for (const [station, own] of stations) {
    if (!isAsked(station)) continue;
    const days = daysOf(own);
    if (daysOf(doubts).some((day) => !days.includes(day))) {
      list.skips.unread(station, 'a day of it may be in a row that names another; nothing is used');
      continue;
    }
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
    const rain = rainOf(row, city);
    if (day === null || days.has(day) || typeof rain === 'string') {
      // What cannot be read is not the same as nothing: no sum may leave it out.
      const fault = day === null ? 'a day that does not exist' : 'a day twice';
      const why = `${typeof rain === 'string' ? rain : fault}: "${row[table.date]?.slice(0, 40)}"`;
      list.skips.unread(station, `${why}; nothing of it is used`);
      return;
    }
    if (day + DAY_ENDS_MS > Date.parse(payload.note.fetched_at))
      list.skips.add(station, 'a day that had not ended');
    else days.set(day, rain);
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

/** Rain of a row in mm; null where the station has none, or where it failed a check of the agency; why it cannot be read. */
function rainOf(row: CsvRow, { table }: StationCity): number | null | string {
  const { rain, flags = '' } = table;
  const text = defined(row[rain], 'the rain').trim();
  const [, check = ''] = (row[flags] ?? '').split(',').map((flag) => flag.trim());
  const value = numberOf(text);
  if (!FLAG.test(check)) return `${flags} "${check.slice(0, 40)}"`;
  if (SENTINELS.includes(value === null ? text : String(value))) return null;
  if (value === null || value < 0) return `${rain} "${text.slice(0, 40)}"`;
  return check === '' ? value : null;
}

/** Daily summaries: https://www.ncei.noaa.gov/support/access-data-service-api-user-documentation */
export const noaaDaily: Source = {
  ...registered('noaa-daily'),
  version: 2,
  sentinels: SENTINELS,
  read: readDaily,
  asks: (asked) => {
    const { now } = asked;
    const wanted = Object.entries(CITY_STATION).filter(([city]) => isWanted(asked, city));
    const day = (at: number) => isoTime(at).slice(0, 10);
    const stations = wanted.map(([, station]) => station).join(',');
    const span = { from: day(now - DAYS_ASKED * DAY_MS), to: day(now) };
    return wanted.length === 0 ? [] : [{ with: { stations, ...span } }];
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
