import { z } from 'zod';
import { grouped } from '../../../contract/grouped.ts';
import { HOUR_MS } from '../../../contract/iso-time.ts';
import { askedPlaces, wantedPlaces } from '../../asked-place.ts';
import { dayTime, zoneOffset } from '../../local-time.ts';
import { fetchAgain, type Imported, jsonOf, type Payload } from '../../payload.ts';
import { type Origin, ReadingList, statedReading } from '../../readings.ts';
import type { Source } from '../../source.ts';

const SERVICE = 'https://www.airnowapi.org/aq/observation/latLong/current/';
const LINES = ['environment'];
/** Miles around a city within which an area may lie (ours). */
const DISTANCE_MI = 25;
const NOT_AVAILABLE = -1;
const ORIGIN: Origin = {
  name: 'US EPA AirNow',
  role: 'measurement',
  independent: true,
  page: 'https://www.airnow.gov/',
  tier: 'T1',
  status: 'preliminary, as published by AirNow',
};

const name = z.string().min(1).max(80);
const hour = z.int().min(0).max(23);
const clock = z.string().regex(/^\d{2}:00$/, 'not an hour such as 15:00');
const rowSchema = z.object({
  date: z.string(),
  hour: z.union([hour, clock.transform((text) => Number(text.slice(0, 2))).pipe(hour)]),
  zone: name,
  area: name,
  pollutant: name.toUpperCase(),
  aqi: z.int().min(NOT_AVAILABLE),
  latitude: z.number().optional(),
  longitude: z.number().optional(),
});
/** One pollutant of one area in one hour. */
type PollutantRow = z.infer<typeof rowSchema>;
const answerSchema = z.array(z.preprocess(respelled, rowSchema));

function respelled(row: unknown): unknown {
  if (typeof row !== 'object' || row === null) return row;
  const members = Object.entries(row).map(([member, value]) => [MEMBERS.get(member), value]);
  return Object.fromEntries(members.filter(([member]) => member !== undefined));
}

/** The index of an area and hour is the highest of its pollutants; the service gives no concentrations. */
function readObservations(payload: Payload): Imported {
  const rows = jsonOf(payload, answerSchema, 'a list of observations');
  const areas = new Set(rows.map(({ area }) => area));
  if (areas.size > 1)
    throw fetchAgain(payload, `it holds ${areas.size} areas; ask for a smaller distance`);
  const list = new ReadingList();
  for (const hourly of grouped(rows, (row) => `${row.date} ${row.hour} ${row.zone}`).values()) {
    addHour(list, payload, hourly);
  }
  return list.someOf(payload);
}

function addHour(
  list: ReadingList,
  payload: Payload,
  rows: readonly [PollutantRow, ...PollutantRow[]],
): void {
  const [first] = rows;
  const indices = indicesOf(rows, payload);
  const unavailable = rows.length - indices.length;
  if (unavailable > 0) list.skips.add(first.area, 'AQI -1, not available', unavailable);
  const [worst] = [...indices].sort(([, a], [, b]) => b - a);
  if (worst === undefined) return;
  const [dominant, index] = worst;
  const pm25 = new Map(indices).get('PM2.5');
  const { latitude, longitude, area } = first;
  const where = latitude === undefined || longitude === undefined ? null : { latitude, longitude };
  const [{ entity, place }] = askedPlaces(payload, where, LINES);
  const reading = statedReading(ORIGIN, payload, {
    entity,
    entity_name: place.name,
    at: hourOf(first, payload),
    current: {
      aqi_index: index,
      dominant,
      pollutants_count: indices.length,
      ...(pm25 === undefined ? {} : { pm25_aqi: pm25 }),
    },
    scope: `hour that begins at this time in reporting area ${area}, which stands for the city (ours)`,
    grade: 'preliminary, subject to revision',
  });
  list.add('airquality.aqi', reading);
}

/** Indices by pollutant, without those that are not available. */
function indicesOf(rows: readonly PollutantRow[], payload: Payload): [string, number][] {
  const seen = new Map<string, number>();
  for (const { pollutant, aqi } of rows) {
    const known = POLLUTANTS.get(pollutant);
    if (known === undefined || seen.has(known)) {
      const why = known === undefined ? 'is not known' : 'is there twice';
      throw fetchAgain(payload, `pollutant "${pollutant}" ${why}`);
    }
    seen.set(known, aqi);
  }
  return [...seen].filter(([, index]) => index !== NOT_AVAILABLE);
}

/** Three members make the time: a local day, an hour, and the abbreviation of a zone. */
function hourOf({ date, hour: hours, zone }: PollutantRow, payload: Payload): number {
  const day = dayTime(date.trim());
  const offset = zoneOffset(zone);
  if (day !== null && offset !== null) return day + hours * HOUR_MS - offset;
  const what = day === null ? `day "${date.slice(0, 40)}"` : `zone "${zone}"`;
  throw fetchAgain(payload, `${what} is not known`);
}

/** Current observations by latitude and longitude: https://docs.airnowapi.org/ */
export const airnow: Source = {
  id: 'airnow',
  agency: 'US EPA AirNow',
  version: 1,
  format: 'json',
  feeds: ['airquality.aqi'],
  read: readObservations,
  fetch: {
    hosts: ['www.airnowapi.org'],
    addresses: ({ entities }) =>
      wantedPlaces(LINES, entities).map(({ place: { latitude, longitude } }) => {
        const query = `format=application/json&latitude=${latitude}&longitude=${longitude}`;
        return `${SERVICE}?${query}&distance=${DISTANCE_MI}`;
      }),
    everyMinutes: 60,
    // 500 requests an hour.
    perMinute: 8,
    key: { variable: 'SIGNALPRESS_AIRNOW_KEY', parameter: 'API_KEY' },
  },
};

/** Members that are read, by the two spellings of the service. */
const MEMBERS: ReadonlyMap<string, string> = new Map([
  ['DateObserved', 'date'],
  ['dateObserved', 'date'],
  ['HourObserved', 'hour'],
  ['hourObserved', 'hour'],
  ['LocalTimeZone', 'zone'],
  ['localTimeZone', 'zone'],
  ['ReportingArea', 'area'],
  ['reportingAreaName', 'area'],
  ['ParameterName', 'pollutant'],
  ['parameterName', 'pollutant'],
  ['AQI', 'aqi'],
  ['nowcastAQI', 'aqi'],
  ['Latitude', 'latitude'],
  ['Longitude', 'longitude'],
]);
/** Pollutants by their names in upper case; ozone has two. */
const POLLUTANTS: ReadonlyMap<string, string> = new Map([
  ['O3', 'O3'],
  ['OZONE', 'O3'],
  ['PM2.5', 'PM2.5'],
  ['PM10', 'PM10'],
  ['NO2', 'NO2'],
  ['SO2', 'SO2'],
  ['CO', 'CO'],
]);
