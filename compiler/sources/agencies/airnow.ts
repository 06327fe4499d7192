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
import { registered, type Source } from '../kit/source.ts';

const SERVICE = 'https://www.airnowapi.org/aq/observation/current/ziplatlong/';
const LINES = ['environment'];
/** An hour that ended longer ago is not the current one (ours): a date may be of the day before its midnight. */
const AGE_HOURS_MAX = 12;
/** How it says that there is no index: a number, or nothing. */
const SENTINELS: readonly (number | null)[] = [-1, null];
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
  aqi: z.int().min(-1).nullable(),
  site: name.nullish(),
  boundary: name.nullish(),
  latitude: z.number().optional(),
  longitude: z.number().optional(),
});
type PollutantRow = z.infer<typeof rowSchema>;

/** Also with status 200, and also where nothing is wrong but nothing was measured. */
const errorSchema = z.looseObject({
  WebServiceError: z.tuple([z.looseObject({ Message: z.string() })], z.unknown()),
});
const answerSchema = z.union([z.array(z.unknown()), errorSchema]);
const NO_DATA = /\bno\b.*\b(data|observations?|results?)\b|\bnot available\b/i;

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

/**
 * The index of a place and hour is the highest of its pollutants; the service gives no concentrations. What cannot be read,
 * or is no pollutant that is known, may be higher: then there is no index.
 */
function readObservations(payload: Payload): Imported {
  const service = serviceOf(payload);
  const list = new ReadingList();
  const [asked] = askedPlaces(payload, null, LINES);
  const answer = jsonOf(payload, answerSchema, 'a list of observations');
  if (!Array.isArray(answer)) {
    const [{ Message }] = answer.WebServiceError;
    if (!NO_DATA.test(Message)) throw fetchAgain(payload, `it answers "${Message.slice(0, 200)}"`);
  }
  const rows = Array.isArray(answer) ? answer : [];
  // Nothing there is an answer too.
  if (rows.length === 0) {
    list.skips.add(asked.entity, 'no observations at the time');
    return list.imported();
  }
  const read = rows.map((given) => rowSchema.safeParse(memberNames(given, service)));
  const known = read.flatMap(({ data }) => data ?? []);
  const [issue] = read.flatMap(({ error }) => error?.issues ?? []);
  if (known.length === 0) {
    throw fetchAgain(payload, `no row can be read (${issue?.path.join('.')}: ${issue?.message})`);
  }
  const unread = issue === undefined ? null : `a row that cannot be read (${issue.path.join('.')})`;
  if (unread !== null) list.skips.unread(asked.entity, unread, rows.length - known.length);
  const areas = new Set(known.map(({ area }) => area));
  if (areas.size > 1) throw fetchAgain(payload, `it holds ${areas.size} areas, of one place`);
  for (const hourly of grouped(known, (row) => `${row.date} ${row.hour} ${row.zone}`).values()) {
    addHour(list, { payload, service, unread }, hourly);
  }
  return list.imported();
}

/** A row under the names that are read here; anything else stays as it is. */
function memberNames(given: unknown, { members }: Service): unknown {
  if (typeof given !== 'object' || given === null) return given;
  const named = Object.entries(given).map(([name, value]) => [members.get(name), value] as const);
  return Object.fromEntries(named.filter(([name]) => name !== undefined));
}

function addHour(
  list: ReadingList,
  {
    payload,
    service,
    unread,
  }: { readonly payload: Payload; readonly service: Service; readonly unread: string | null },
  rows: readonly [PollutantRow, ...PollutantRow[]],
): void {
  const [first] = rows;
  const { latitude, longitude, area } = first;
  const position =
    latitude === undefined || longitude === undefined ? null : { latitude, longitude };
  const [{ entity, place }] = askedPlaces(payload, position, LINES);
  const { indices, doubt } = indicesOf(rows);
  if (doubt !== null) list.skips.unread(entity, doubt);
  const unavailable = rows.filter(({ aqi }) => SENTINELS.includes(aqi)).length;
  if (unavailable > 0) list.skips.add(area ?? 'no area', 'AQI -1, not available', unavailable);
  const why = unread ?? doubt;
  const [worst] = [...indices].sort(([, a], [, b]) => b - a);
  if (worst === undefined) return;
  const [dominant, index] = why === null ? worst : [null, null];
  const pm25 = indices.get('PM2.5');
  const reading = statedReading(ORIGIN, payload, {
    entity,
    entity_name: place.name,
    at: hourOf(first, service, payload),
    current: {
      aqi_index: index,
      dominant,
      pollutants_count: why === null ? indices.size : null,
      ...(pm25 === undefined ? {} : { pm25_aqi: pm25 }),
    },
    ...(why === null ? {} : { qualifiers: [why] }),
    scope: `hour that begins at this time ${whereOf(rows)} for the city (ours)`,
    grade: 'preliminary, subject to revision',
  });
  list.add('airquality.aqi', reading);
}

/** Where it was measured: each pollutant at the nearest monitor that measures it, which may be in another area. */
function whereOf(rows: readonly [PollutantRow, ...PollutantRow[]]): string {
  const [{ area, boundary }] = rows;
  const sites = grouped(rows, ({ site }) => site ?? '');
  if (!sites.has('')) {
    const named = [...sites].map(([site, own]) => {
      return `${own.map(({ pollutant }) => POLLUTANTS.get(pollutant) ?? '?').join(', ')} at ${site}`;
    });
    const within = boundary == null ? '' : ` within ${boundary.toLowerCase()}`;
    return `at the nearest monitors${within} (${named.join('; ')}), which stand`;
  }
  return area === null
    ? 'at the nearest monitors, which stand'
    : `in reporting area ${area}, which stands`;
}

/** The index of each pollutant, and why there may be a higher one; null where there is none. */
function indicesOf(rows: readonly PollutantRow[]) {
  const indices = new Map<string, number>();
  let doubt: string | null = null;
  const seen = new Set<string>();
  for (const { pollutant, aqi } of rows) {
    const known = POLLUTANTS.get(pollutant);
    if (known === undefined || seen.has(known)) {
      const why = known === undefined ? 'is not known' : 'is there twice';
      doubt ??= `pollutant "${pollutant.slice(0, 20)}" ${why}`;
      indices.delete(known ?? '');
      continue;
    }
    seen.add(known);
    if (aqi !== null && !SENTINELS.includes(aqi)) indices.set(known, aqi);
  }
  return { indices, doubt };
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
  ...registered('airnow'),
  version: 2,
  sentinels: SENTINELS,
  read: readObservations,
  asks: ({ entities }) =>
    wantedPlaces(LINES, entities).map(({ entity, place: { latitude, longitude } }) => ({
      with: { latitude: String(latitude), longitude: String(longitude) },
      about: entity,
    })),
};

const SPELLED: ReadonlyMap<string, string> = new Map([
  ['dateObserved', 'date'],
  ['hourObserved', 'hour'],
  ['localTimeZone', 'zone'],
  ['reportingAreaName', 'area'],
  ['parameterName', 'pollutant'],
  ['nowcastAQI', 'aqi'],
  ['siteName', 'site'],
  ['lookupBoundary', 'boundary'],
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
