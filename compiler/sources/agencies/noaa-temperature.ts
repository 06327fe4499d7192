import { roundDecimal } from '../../format/decimal.ts';
import { defined } from '../../format/errors.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../../format/iso-time.ts';
import { originOf } from '../kit/entries.ts';
import { dayTime } from '../kit/local-time.ts';
import { fetchAgain, type Imported, numberOf, type Payload } from '../kit/payload.ts';
import { type CsvRow, csvRows } from '../kit/payload-formats.ts';
import { knownPlaces, nameOf, ReadingList, statedReading } from '../kit/readings.ts';
import { isWanted, registered, type Source, type Wanted } from '../kit/source.ts';

// Daily summaries (GHCN-Daily), https://www.ncei.noaa.gov/support/access-data-service-api-user-documentation, as `noaa-daily`
// reads rain: a table with the place of each station, and three flags behind each value.

/** The station that stands for each region (ours): an airport near its point. Only US stations may be passed on by anyone. */
const STATIONS: Readonly<Record<string, string>> = {
  'us-iowa': 'USW00014933',
  'us-illinois': 'USW00093822',
  'us-nebraska': 'USW00014935',
  'us-kansas': 'USW00003928',
  'us-ercot': 'USW00013959',
  'us-caiso': 'USW00093193',
  'us-pjm': 'USW00014711',
  'us-miso': 'USW00014923',
  'us-nyiso': 'USW00014771',
};
const LINES = ['agriculture', 'grid'];
const ORIGIN = originOf(
  'NOAA NCEI GHCN-Daily',
  'https://www.ncei.noaa.gov/products/land-based-station/global-historical-climatology-network-daily',
  { role: 'measurement', status: 'as published by NOAA NCEI' },
);
const DAYS_ASKED = 45;
/** Every day of a US station has ended by noon UTC of the next. */
const DAY_ENDS_MS = DAY_MS + 12 * HOUR_MS;
/** Degrees between a region's point and its station. */
const APART_MAX = 2;
const BASE_C = 18.3;
const MISSING = -9999;
const COLUMNS = [
  'STATION',
  'LATITUDE',
  'LONGITUDE',
  'DATE',
  'TMAX',
  'TMAX_ATTRIBUTES',
  'TMIN',
  'TMIN_ATTRIBUTES',
];

function read(payload: Payload): Imported {
  if (new URL(payload.note.url).searchParams.get('units') !== 'metric')
    throw fetchAgain(payload, 'its address does not say units=metric, so its unit is not known');
  const list = new ReadingList();
  const seen = new Set<string>();
  for (const row of csvRows(payload, COLUMNS)) {
    const station = defined(row.STATION, 'the station');
    const entity = Object.keys(STATIONS).find((region) => STATIONS[region] === station);
    const day = dayTime(defined(row.DATE, 'the date'));
    const key = `${station} ${row.DATE}`;
    if (entity === undefined)
      list.skips.add(station.slice(0, 40), 'stands for none of our regions');
    else if (day === null || seen.has(key))
      list.skips.add(entity, 'a day that is none, or comes twice');
    else if (day + DAY_ENDS_MS > Date.parse(payload.note.fetched_at))
      list.skips.add(entity, 'a day that had not ended');
    else if (!isNear(row, entity)) list.skips.add(entity, 'a station far from the region');
    else addDay(row, { entity, station, day }, { payload, list });
    seen.add(key);
  }
  return list.someOf(payload);
}

function addDay(
  row: CsvRow,
  { entity, station, day }: { entity: string; station: string; day: number },
  { payload, list }: { payload: Payload; list: ReadingList },
): void {
  const [highest, lowest] = ['TMAX', 'TMIN'].map((name) => degrees(row, name));
  if (highest == null || (lowest ?? highest) > highest) {
    list.skips.add(entity, 'a day without a highest temperature, or below its lowest');
    return;
  }
  const line = lineOf(entity);
  const scope = `station ${station} stands for the region (ours); a local calendar day, which its date at 00:00Z stands for`;
  const stated = { entity, ...nameOf(line, entity), at: day };
  if (line === 'agriculture') {
    const heat = { ...stated, current: { tmax_c: highest }, scope };
    list.add('agriculture.heat', statedReading(ORIGIN, payload, heat));
  } else if (lowest == null) list.skips.add(entity, 'a day without a lowest temperature');
  else {
    const mean = (highest + lowest) / 2;
    const current = {
      cdd_degree_days: roundDecimal(Math.max(0, mean - BASE_C), 2),
      hdd_degree_days: roundDecimal(Math.max(0, BASE_C - mean), 2),
    };
    const about = `degree days to the base of ${BASE_C} °C, from the mean of highest and lowest temperature; ${scope}`;
    list.add(
      'electricity.demand',
      statedReading(ORIGIN, payload, { ...stated, current, scope: about }),
    );
  }
}

/** A temperature in °C; null where there is none, or where it failed a check of the agency (its second flag). */
function degrees(row: CsvRow, name: string): number | null {
  const value = numberOf(row[name] ?? '');
  const check = row[`${name}_ATTRIBUTES`]?.split(',')[1]?.trim() ?? '';
  return value === null || value === MISSING || check !== '' || Math.abs(value) > 65 ? null : value;
}

function isNear({ LATITUDE, LONGITUDE }: CsvRow, entity: string): boolean {
  const place = knownPlaces(LINES).find((one) => one.entity === entity)?.place;
  const [north, east] = [Number(LATITUDE), Number(LONGITUDE)];
  if (place === undefined) return false;
  return (
    Math.abs(north - place.latitude) <= APART_MAX && Math.abs(east - place.longitude) <= APART_MAX
  );
}

function lineOf(entity: string): string {
  return knownPlaces(LINES).find((one) => one.entity === entity)?.line ?? '';
}

function asks(asked: Wanted) {
  const wanted = Object.entries(STATIONS).filter(([region]) => isWanted(asked, region));
  const [from = '', to = ''] = [asked.now - DAYS_ASKED * DAY_MS, asked.now].map((at) =>
    isoTime(at).slice(0, 10),
  );
  const stations = wanted.map(([, station]) => station).join(',');
  return wanted.length === 0 ? [] : [{ with: { stations, from, to } }];
}

export const noaaTemperature: Source = {
  ...registered('noaa-temperature'),
  version: 1,
  read,
  asks,
};
