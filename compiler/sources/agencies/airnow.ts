import { z } from 'zod';
import { HOUR_MS, isoTime } from '../../format/iso-time.ts';
import { grouped } from '../../format/lists.ts';
import { dayTime, zoneOffset } from '../kit/local-time.ts';
import { fetchAgain, ImportError, type Imported, jsonOf, type Payload } from '../kit/payload.ts';
import {
  askedPlaces,
  type Origin,
  observedAt,
  ReadingList,
  statedReading,
  wantedPlaces,
} from '../kit/readings.ts';
import type { Source } from '../kit/source.ts';

const SERVICE = 'https://www.airnowapi.org/aq/observation/current/ziplatlong/';
const LINES = ['environment'];
/** An hour that ended longer ago is not the current one (ours): a date may be of the day before its midnight. */
const AGE_HOURS_MAX = 12;
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
const clock = z.string().regex(/^\d{1,2}:00$/, 'not an hour such as 15:00');
const rowSchema = z.object({
  date: z.string(),
  hour: z.union([hour, clock.transform((text) => Number(text.slice(0, -3))).pipe(hour)]),
  zone: name,
  // Null for a place outside of all areas.
  area: name.nullable(),
  pollutant: name.toUpperCase(),
  aqi: z.int().min(NOT_AVAILABLE),
  latitude: z.number().optional(),
  longitude: z.number().optional(),
});
type PollutantRow = z.infer<typeof rowSchema>;

/** One of the two addresses of the service, which call the same hour by its beginning or by its end. */
interface Service {
  readonly path: RegExp;
  /** Members that are read, by its spellings of them. */
  readonly members: ReadonlyMap<string, string>;
  readonly isHourEnd: boolean;
}

/** Throws an ImportError for an address of which it is not known what its hours mean. */
function serviceOf({ note, subject }: Payload): Service {
  const { pathname } = new URL(note.url);
  const found = [CURRENT, RETIRED].find(({ path }) => path.test(pathname));
  if (found !== undefined) return found;
  const state = `its address is not ${SERVICE}, so what its hours mean is not known; correct the fetch note`;
  throw new ImportError({ subject, state });
}

/** The index of an area and hour is the highest of its pollutants; the service gives no concentrations. */
function readObservations(payload: Payload): Imported {
  const service = serviceOf(payload);
  const row = z.preprocess((given) => {
    if (typeof given !== 'object' || given === null) return given;
    const known = Object.entries(given).map(([member, value]) => [
      service.members.get(member),
      value,
    ]);
    return Object.fromEntries(known.filter(([member]) => member !== undefined));
  }, rowSchema);
  const rows = jsonOf(payload, z.array(row), 'a list of observations');
  const areas = new Set(rows.map(({ area }) => area));
  if (areas.size > 1) throw fetchAgain(payload, `it holds ${areas.size} areas, of one place`);
  const list = new ReadingList();
  for (const hourly of grouped(rows, (row) => `${row.date} ${row.hour} ${row.zone}`).values()) {
    addHour(list, { payload, service }, hourly);
  }
  return list.someOf(payload);
}

function addHour(
  list: ReadingList,
  { payload, service }: { readonly payload: Payload; readonly service: Service },
  rows: readonly [PollutantRow, ...PollutantRow[]],
): void {
  const [first] = rows;
  const indices = indicesOf(rows, payload);
  const unavailable = rows.length - indices.length;
  if (unavailable > 0)
    list.skips.add(first.area ?? 'no area', 'AQI -1, not available', unavailable);
  const [worst] = [...indices].sort(([, a], [, b]) => b - a);
  if (worst === undefined) return;
  const [dominant, index] = worst;
  const pm25 = new Map(indices).get('PM2.5');
  const { latitude, longitude, area } = first;
  const position =
    latitude === undefined || longitude === undefined ? null : { latitude, longitude };
  const [{ entity, place }] = askedPlaces(payload, position, LINES);
  const where =
    area === null
      ? 'at the nearest monitors, which stand'
      : `in reporting area ${area}, which stands`;
  const reading = statedReading(ORIGIN, payload, {
    entity,
    entity_name: place.name,
    at: hourOf(first, service, payload),
    current: {
      aqi_index: index,
      dominant,
      pollutants_count: indices.length,
      ...(pm25 === undefined ? {} : { pm25_aqi: pm25 }),
    },
    scope: `hour that begins at this time ${where} for the city (ours)`,
    grade: 'preliminary, subject to revision',
  });
  list.add('airquality.aqi', reading);
}

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

/** When an hour began. Three members make the time: a local day, an hour, and the abbreviation of a zone. */
function hourOf(row: PollutantRow, { isHourEnd }: Service, payload: Payload): number {
  const { date, hour: hours, zone } = row;
  const day = dayTime(date.trim());
  const offset = zoneOffset(zone);
  if (day === null || offset === null) {
    const what = day === null ? `day "${date.slice(0, 40)}"` : `zone "${zone}"`;
    throw fetchAgain(payload, `${what} is not known`);
  }
  const named = day + hours * HOUR_MS - offset;
  if (!isHourEnd) return named;
  observedAt(named, payload);
  if (Date.parse(payload.note.fetched_at) - named > AGE_HOURS_MAX * HOUR_MS) {
    throw fetchAgain(payload, `its hour ended at ${isoTime(named)}, stale when it was fetched`);
  }
  return named - HOUR_MS;
}

/** Current observations of the monitors nearest to a place, within 50 miles: https://docs.airnowapi.org/ */
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
        return `${SERVICE}?format=application/json&latitude=${latitude}&longitude=${longitude}`;
      }),
    everyMinutes: 60,
    // 500 requests an hour.
    perMinute: 8,
    key: { variable: 'SIGNALPRESS_AIRNOW_KEY', parameter: 'API_KEY' },
  },
};

const SPELLED: ReadonlyMap<string, string> = new Map([
  ['dateObserved', 'date'],
  ['hourObserved', 'hour'],
  ['localTimeZone', 'zone'],
  ['reportingAreaName', 'area'],
  ['parameterName', 'pollutant'],
  ['nowcastAQI', 'aqi'],
]);
const CURRENT: Service = {
  path: /^\/aq\/observation\/current\/ziplatlong\/?$/i,
  members: SPELLED,
  isHourEnd: true,
};
/** Until 2026-09-30; what it answered is in archives. */
const RETIRED: Service = {
  path: /^\/aq\/observation\/latlong\/current\/?$/i,
  members: new Map([
    ...SPELLED,
    ['DateObserved', 'date'],
    ['HourObserved', 'hour'],
    ['LocalTimeZone', 'zone'],
    ['ReportingArea', 'area'],
    ['ParameterName', 'pollutant'],
    ['AQI', 'aqi'],
    ['Latitude', 'latitude'],
    ['Longitude', 'longitude'],
  ]),
  isHourEnd: false,
};
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
