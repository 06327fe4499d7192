import { z } from 'zod';
import { roundDecimal } from '../../format/decimal.ts';
import { defined } from '../../format/errors.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../../format/iso-time.ts';
import { percentileOf, sameDayInYear } from '../../readings/season.ts';
import { dayTime } from '../kit/local-time.ts';
import { fetchAgain, type Imported, jsonOf, type Payload } from '../kit/payload.ts';
import {
  type AskedPlace,
  askedPlaces,
  type Origin,
  RAIN_SCOPE,
  ReadingList,
  rainValues,
  statedReading,
  wantedPlaces,
} from '../kit/readings.ts';
import { registered, type Source, type Wanted } from '../kit/source.ts';

const OFFSET_SECONDS_MAX = 14 * 3600;
const LOCAL_MINUTE = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):([0-5]\d)$/;

const units = z.record(z.string(), z.string());
const columns = z.record(z.string(), z.unknown()).and(z.looseObject({ time: z.array(z.string()) }));
const answerSchema = z.looseObject({
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
  utc_offset_seconds: z.int().min(-OFFSET_SECONDS_MAX).max(OFFSET_SECONDS_MAX),
  current_units: units.optional(),
  current: z
    .record(z.string(), z.unknown())
    .and(z.looseObject({ time: z.string() }))
    .optional(),
  hourly_units: units.optional(),
  hourly: columns.optional(),
  daily_units: units.optional(),
  daily: columns.optional(),
});

/** Values by epoch milliseconds; null where the model has none. */
type ModelValues = ReadonlyMap<number, number | null>;

interface ModelAnswer {
  readonly payload: Payload;
  readonly shape: z.infer<typeof answerSchema>;
  readonly offsetMs: number;
  readonly places: readonly [AskedPlace, ...AskedPlace[]];
}

/** Throws an ImportError for a payload that is no such answer, or not the one of a place of these lines. */
function readAnswer(payload: Payload, lines: readonly string[]): ModelAnswer {
  const shape = jsonOf(payload, answerSchema, 'an answer for one place');
  const places = askedPlaces(payload, shape, lines);
  return { payload, shape, offsetMs: shape.utc_offset_seconds * 1000, places };
}

/** How the unit of a variable is spelled; micro has two code points. */
type Units = readonly [string, ...string[]];

/**
 * A variable now and in the hours before the fetch. Later hours are no reading. Throws an ImportError where its unit or a
 * value is another, or where two values stand at one time.
 */
function pastHours(answer: ModelAnswer, name: string, spelled: Units): ModelValues {
  const fetched = Date.parse(answer.payload.note.fetched_at);
  const hours = new Map(
    [...column(answer, 'hourly', { name, spelled })].filter(([at]) => at <= fetched),
  );
  const { current, current_units } = answer.shape;
  if (current === undefined || current[name] === undefined) return hours;
  const at = localTime(answer, 'current', current.time);
  if (at > fetched)
    throw fetchAgain(answer.payload, `current.time ${isoTime(at)} is after the fetch`);
  const [value = null] = checked(answer, [current[name]], {
    name: `current.${name}`,
    unit: unitOf(answer, 'current', current_units)?.[name],
    spelled,
  });
  if ((hours.get(at) ?? value) !== value)
    throw fetchAgain(answer.payload, `two values of ${name} at ${current.time}`);
  return hours.set(at, value);
}

/** A variable of the local days that had ended when the payload was fetched, by their date at 00:00Z. */
function completeDays(answer: ModelAnswer, name: string, spelled: Units): ModelValues {
  const days = [...column(answer, 'daily', { name, spelled })];
  return new Map(days.filter(([day]) => isOver(answer, day)));
}

/** Whether a local day, given by its date at 00:00Z, had ended when the payload was fetched. */
function isOver({ payload, offsetMs }: ModelAnswer, day: number): boolean {
  return day + DAY_MS - offsetMs <= Date.parse(payload.note.fetched_at);
}

interface Variable {
  readonly name: string;
  readonly spelled: Units;
}

function column(
  answer: ModelAnswer,
  section: 'hourly' | 'daily',
  { name, spelled }: Variable,
): ModelValues {
  const table = answer.shape[section];
  const values = table?.[name];
  if (table === undefined || values === undefined) return new Map();
  const { time } = table;
  if (!Array.isArray(values) || values.length !== time.length) {
    throw fetchAgain(answer.payload, `${section}.${name} does not have one value for each time`);
  }
  const numbers = checked(answer, values, {
    name: `${section}.${name}`,
    unit: unitOf(answer, section, answer.shape[`${section}_units`])?.[name],
    spelled,
  });
  const times = stepped(answer, section, time);
  return new Map(times.map((at, index) => [at, numbers[index] ?? null] as const));
}

function unitOf(
  answer: ModelAnswer,
  section: string,
  given: Readonly<Record<string, string>> | undefined,
) {
  if (given?.time === 'iso8601') return given;
  const state = `${section}_units.time is not "iso8601"; ask for timeformat=iso8601`;
  throw fetchAgain(answer.payload, state);
}

/** Times of a section without a gap: a gap would be an hour or day that nobody knows of. */
function stepped(
  answer: ModelAnswer,
  section: 'hourly' | 'daily',
  texts: readonly string[],
): number[] {
  const step = section === 'daily' ? DAY_MS : HOUR_MS;
  const times = texts.map((text) => localTime(answer, section, text));
  const gap = times.findIndex(
    (at, index) => index > 0 && at !== defined(times[index - 1], 'the time before') + step,
  );
  if (gap === -1) return times;
  throw fetchAgain(answer.payload, `${section}.time.${gap} does not follow the time before it`);
}

/** UTC of a local time; a day stands for itself at 00:00Z. */
function localTime(answer: ModelAnswer, section: string, text: string): number {
  const [, date = '', hours, minutes] = LOCAL_MINUTE.exec(text) ?? [];
  const day = dayTime(section === 'daily' ? text : date);
  if (day === null)
    throw fetchAgain(answer.payload, `${section}.time "${text.slice(0, 40)}" does not exist`);
  if (section === 'daily') return day;
  return day + Number(hours) * HOUR_MS + Number(minutes) * 60_000 - answer.offsetMs;
}

/** Numbers in the unit that is expected; a variable that a model lacks has the unit "undefined" and is null throughout. */
function checked(
  answer: ModelAnswer,
  values: readonly unknown[],
  { name, unit, spelled }: Variable & { unit: string | undefined },
) {
  const wrong = values.find((value) => value !== null && !Number.isFinite(value));
  if (wrong !== undefined)
    throw fetchAgain(answer.payload, `${name} has a value that is no number`);
  const isLacking = unit === 'undefined' && values.every((value) => value === null);
  if (!isLacking && !spelled.includes(unit ?? '')) {
    const state = `${name} is in "${unit ?? 'no unit'}", not in "${spelled[0]}"`;
    throw fetchAgain(answer.payload, state);
  }
  return values as readonly (number | null)[];
}

function modelReading(
  { payload, shape }: ModelAnswer,
  { entity, place }: AskedPlace,
  {
    origin,
    at,
    current,
    ours,
  }: { at: number; current: Readonly<Record<string, number | string | null>>; ours: string } & {
    readonly origin: Origin;
  },
) {
  return statedReading(origin, payload, {
    entity,
    entity_name: place.name,
    at,
    current,
    scope: `model value of the grid cell at latitude ${shape.latitude}, longitude ${shape.longitude}; ${ours}`,
    grade: 'model, not a measurement',
  });
}

function modelOrigin(model: string, page: string): Origin {
  return {
    name: 'Open-Meteo',
    role: 'model',
    independent: false,
    relay_of: model,
    page: `https://open-meteo.com/en/docs/${page}`,
    tier: 'T2',
    status: 'as published by Open-Meteo',
  };
}

/** A service of Open-Meteo: it answers for one place at a time, and what is asked follows from what is wanted. */
function modelSource(
  id: string,
  read: Source['read'],
  asks: (wanted: Wanted) => readonly (readonly [AskedPlace, query: string])[],
): Source {
  return {
    ...registered(id),
    version: 2,
    read,
    asks: (wanted) =>
      asks(wanted).map(([{ entity, place }, query]) => {
        const { latitude, longitude } = place;
        const values = { latitude: String(latitude), longitude: String(longitude), query };
        return { with: values, about: entity };
      }),
  };
}

const AIR_LINES = ['environment'];
const AIR_ORIGIN = modelOrigin('Copernicus CAMS', 'air-quality-api');
const CITY_SCOPE = 'the cell stands for the city (ours)';

/** Sub-indices of the US AQI by pollutant; the index is the highest of them. */
const POLLUTANTS = [
  'pm2_5',
  'pm10',
  'nitrogen_dioxide',
  'ozone',
  'sulphur_dioxide',
  'carbon_monoxide',
];

/** The index is taken as the model gives it: it rests on means of up to 24 hours, never on the hour alone. */
function readAirQuality(payload: Payload): Imported {
  const answer = readAnswer(payload, AIR_LINES);
  const [place] = answer.places;
  const list = new ReadingList();
  const add = (signal: string, at: number, current: Record<string, number | string>) =>
    list.add(
      signal,
      modelReading(answer, place, { origin: AIR_ORIGIN, at, current, ours: CITY_SCOPE }),
    );
  // Names the pollutant whose sub-index is the index; nothing where the payload holds no such sub-index.
  const series = POLLUTANTS.map(
    (name) => [name, pastHours(answer, `us_aqi_${name}`, ['USAQI'])] as const,
  );
  const dominant = (at: number, index: number): { dominant?: string } => {
    const [found] = series.find(([, values]) => values.get(at) === index) ?? [];
    return found === undefined ? {} : { dominant: found };
  };
  for (const [at, value] of pastHours(answer, 'us_aqi', ['USAQI'])) {
    if (value === null) list.skips.add(place.entity, 'an hour without us_aqi');
    else add('airquality.aqi', at, { aqi_index: value, ...dominant(at, value) });
  }
  for (const [at, value] of pastHours(answer, 'pm2_5', ['μg/m³', 'µg/m³'])) {
    if (value === null) list.skips.add(place.entity, 'an hour without pm2_5');
    else add('airquality.pm25', at, { pm25_ugm3: value });
  }
  return list.someOf(payload);
}

/** Air quality of a model: https://open-meteo.com/en/docs/air-quality-api */
export const openMeteoAirQuality = modelSource(
  'open-meteo-air-quality',
  readAirQuality,
  // The index of all cities comes from AirNow: only who names cities here is asked to have it from the model.
  ({ entities }) => {
    const variables = entities.length === 0 ? 'pm2_5' : 'pm2_5,us_aqi';
    return wantedPlaces(AIR_LINES, entities).map((place) => [place, `current=${variables}`]);
  },
);

const SEA_LINES = ['shipping'];
const SEA_ORIGIN = modelOrigin('national wave models', 'marine-weather-api');
const POINT_SCOPE =
  'one point stands for the route (ours); values between the hours are interpolated';

/** Bands of a route by significant wave height in m, mildest first (ours: no agency publishes any). */
const DISRUPTION_STEPS = [
  ['operable', 0],
  ['marginal', 2.5],
  ['disrupted', 4],
  ['severe', 6],
] as const;
const BAND_SCOPE = `${POINT_SCOPE}; bands from 2.5, 4 and 6 m are ours, not official`;

export function disruptionBand(height: number): string {
  return DISRUPTION_STEPS.findLast(([, from]) => height >= from)?.[0] ?? DISRUPTION_STEPS[0][0];
}

function readMarine(payload: Payload): Imported {
  const answer = readAnswer(payload, SEA_LINES);
  const [place] = answer.places;
  const list = new ReadingList();
  for (const [at, height] of pastHours(answer, 'wave_height', ['m'])) {
    if (height === null) {
      list.skips.add(place.entity, 'a time without wave_height');
      continue;
    }
    if (height < 0) {
      throw fetchAgain(payload, `wave_height ${height} is below 0`);
    }
    const stated = { origin: SEA_ORIGIN, at };
    const sea = { ...stated, current: { wave_height_m: height }, ours: POINT_SCOPE };
    const band = disruptionBand(height);
    const route = { ...stated, current: { wave_height_m: height, band }, ours: BAND_SCOPE };
    list.add('shipping.sea-state', modelReading(answer, place, sea));
    list.add('shipping.route-disruption', modelReading(answer, place, route));
  }
  return list.someOf(payload);
}

/** Waves of a model: https://open-meteo.com/en/docs/marine-weather-api */
export const openMeteoMarine = modelSource('open-meteo-marine', readMarine, ({ entities }) =>
  wantedPlaces(SEA_LINES, entities).map((place) => [place, 'current=wave_height']),
);

const DAY_ORIGIN = modelOrigin('ECMWF (ERA5, IFS)', 'historical-weather-api');
const DAY_SCOPE =
  'a local calendar day, which its date at 00:00Z stands for; the cell stands for the region (ours)';
const DEGREE_SCOPE = `degree days to the base of 18.3 °C, from the mean of highest and lowest temperature; ${DAY_SCOPE}`;
const BASE_C = 18.3;
/** The 30 days of a sum, and as many more as the archive is late and revises. */
const DAYS_ASKED = 45;

interface DayValue {
  readonly signal: string;
  readonly day: number;
  readonly current: Readonly<Record<string, number | null>>;
  readonly ours: string;
}

const READERS: ReadonlyMap<
  string,
  { readonly query: string; read(answer: ModelAnswer): DayValue[] }
> = new Map([
  [
    'environment',
    {
      query: 'daily=precipitation_sum',
      read: (answer) => {
        const days = completeDays(answer, 'precipitation_sum', ['mm']);
        return rainValues(days).map((value) => ({ ...value, ours: RAIN_SCOPE }));
      },
    },
  ],
  [
    'agriculture',
    {
      query: 'daily=temperature_2m_max',
      read: (answer) =>
        [...completeDays(answer, 'temperature_2m_max', ['°C'])].flatMap(([day, tmax]) =>
          tmax === null
            ? []
            : [{ signal: 'agriculture.heat', day, current: { tmax_c: tmax }, ours: DAY_SCOPE }],
        ),
    },
  ],
  ['grid', { query: 'daily=temperature_2m_max,temperature_2m_min', read: degreeDays }],
  [
    'wildfire',
    {
      query: 'hourly=temperature_2m,relative_humidity_2m,wind_speed_10m&wind_speed_unit=kn',
      read: fireWeather,
    },
  ],
]);
const DAY_LINES = [...READERS.keys()];

function degreeDays(answer: ModelAnswer): DayValue[] {
  const lowest = completeDays(answer, 'temperature_2m_min', ['°C']);
  return [...completeDays(answer, 'temperature_2m_max', ['°C'])].flatMap(([day, tmax]) => {
    const tmin = lowest.get(day) ?? null;
    if (tmax === null || tmin === null) return [];
    if (tmin > tmax) {
      const date = isoTime(day).slice(0, 10);
      throw fetchAgain(answer.payload, `the lowest temperature of ${date} is above its highest`);
    }
    const mean = (tmax + tmin) / 2;
    const current = {
      cdd_degree_days: roundDecimal(Math.max(0, mean - BASE_C), 2),
      hdd_degree_days: roundDecimal(Math.max(0, BASE_C - mean), 2),
    };
    return [{ signal: 'electricity.demand', day, current, ours: DEGREE_SCOPE }];
  });
}

/** Days of a reanalysis: https://open-meteo.com/en/docs/historical-weather-api */
export const openMeteoArchive = modelSource(
  'open-meteo-archive',
  (payload) => {
    const answer = readAnswer(payload, DAY_LINES);
    const list = new ReadingList();
    for (const place of answer.places) {
      const values = defined(READERS.get(place.line), 'the reader of the line').read(answer);
      if (values.length === 0) list.skips.add(place.entity, `no complete day for ${place.line}`);
      for (const { signal, day: at, current, ours } of values) {
        list.add(signal, modelReading(answer, place, { origin: DAY_ORIGIN, at, current, ours }));
      }
    }
    return list.someOf(payload);
  },
  // The rain of all cities is measured by stations: only who names cities here is asked to have it from the model.
  ({ entities, now }) => {
    const lines =
      entities.length === 0 ? DAY_LINES.filter((id) => id !== 'environment') : DAY_LINES;
    const [from, to] = [now - DAYS_ASKED * DAY_MS, now].map((at) => isoTime(at).slice(0, 10));
    return wantedPlaces(lines, entities).map((place) => {
      const { query } = defined(READERS.get(place.line), 'the reader of the line');
      return [place, `start_date=${from}&end_date=${to}&${query}`];
    });
  },
);

const HOURS_A_DAY = 24;

const FIRE_WEATHER_SCOPE =
  'highest vapour pressure deficit and highest wind of the 24 hours of a day, the deficit from temperature and relative humidity by the Tetens equation (ours)';

/** Vapour pressure deficit in kPa of air in °C and percent; Tetens equation as in FAO Irrigation and Drainage Paper 56. */
export function vapourPressureDeficit(celsius: number, humidityPct: number): number {
  const saturated = 0.6108 * Math.exp((17.27 * celsius) / (celsius + 237.3));
  return roundDecimal(saturated * (1 - humidityPct / 100), 3);
}

/** Days of which all hours are known; a day without wind in knots has none. */
function fireWeather(answer: ModelAnswer): DayValue[] {
  const humidity = pastHours(answer, 'relative_humidity_2m', ['%']);
  const wind = pastHours(answer, 'wind_speed_10m', ['kn']);
  const deficits = new Map<number, number[]>();
  const winds = new Map<number, number[]>();
  for (const [at, celsius] of pastHours(answer, 'temperature_2m', ['°C'])) {
    const day = Math.floor((at + answer.offsetMs) / DAY_MS) * DAY_MS;
    const percent = humidity.get(at) ?? null;
    if (percent !== null && (percent < 0 || percent > 100)) {
      throw fetchAgain(answer.payload, `relative_humidity_2m ${percent} is not a percentage`);
    }
    if (celsius !== null && percent !== null) {
      put(deficits, day, vapourPressureDeficit(celsius, percent));
    }
    const knots = wind.get(at) ?? null;
    if (knots !== null) put(winds, day, knots);
  }
  return [...deficits].flatMap(([day, values]) => {
    if (values.length < HOURS_A_DAY || !isOver(answer, day)) return [];
    const known = winds.get(day) ?? [];
    const strongest = known.length < HOURS_A_DAY ? null : Math.max(...known);
    const current = { vpd_kpa: Math.max(...values), wind_kt: strongest };
    const ours = `${FIRE_WEATHER_SCOPE}; ${DAY_SCOPE}`;
    return [{ signal: 'wildfire.fire-weather', day, current, ours }];
  });
}

function put(lists: Map<number, number[]>, day: number, value: number): void {
  const list = lists.get(day);
  if (list === undefined) lists.set(day, [value]);
  else list.push(value);
}

const SOIL_LINES = ['agriculture'];
const SOIL_MODEL = 'era5';
const SOIL_ORIGIN = modelOrigin('Copernicus ERA5', 'historical-weather-api');
const SOIL_VARIABLE = 'soil_moisture_0_to_100cm_mean';
const WEEK_DAYS = 7;
/** Days before and after the same day of an earlier year (ours). */
const AROUND_DAYS = 15;
/** A percentile needs years of the same model (how many is ours). */
const EARLIER_YEARS_MIN = 10;
const SOIL_SCOPE =
  `mean of the ${WEEK_DAYS} local days up to this one, in the upper metre of soil, among the weeks that end within ` +
  `${AROUND_DAYS} days of the same date in the earlier years of years_count (ours); the cell stands for the region (ours)`;

/** The newest week, placed among those of the same season in all earlier years that the answer covers. */
function readSoil(payload: Payload): Imported {
  const answer = readAnswer(payload, SOIL_LINES);
  const [place] = answer.places;
  if (new URL(payload.note.url).searchParams.get('models') !== SOIL_MODEL) {
    const state = `its address does not say models=${SOIL_MODEL}, so its years may be of several models`;
    throw fetchAgain(payload, state);
  }
  const days = completeDays(answer, SOIL_VARIABLE, ['m³/m³']);
  if ([...days.values()].some((value) => value !== null && (value < 0 || value > 1))) {
    throw fetchAgain(payload, `${SOIL_VARIABLE} has a value outside of 0 to 1`);
  }
  const [newest] = [...days.keys()].filter((day) => days.get(day) !== null).slice(-1);
  const now = newest === undefined ? null : weekMean(days, newest);
  if (newest === undefined || now === null) throw fetchAgain(payload, 'it holds no whole week');
  // Means of the weeks of a season by earlier year; a year with a day unknown does not count.
  const from = new Date(Math.min(...days.keys())).getUTCFullYear();
  const years: number[][] = [];
  for (let year = new Date(newest).getUTCFullYear() - 1; year >= from; year -= 1) {
    const centre = sameDayInYear(newest, year);
    const means = Array.from({ length: 2 * AROUND_DAYS + 1 }, (_, index) =>
      weekMean(days, centre + (index - AROUND_DAYS) * DAY_MS),
    );
    const known = means.filter((mean) => mean !== null);
    if (known.length === means.length) years.push(known);
  }
  if (years.length < EARLIER_YEARS_MIN) {
    const state = `it covers ${years.length} earlier years, and a percentile needs ${EARLIER_YEARS_MIN}`;
    throw fetchAgain(payload, state);
  }
  const percentile = roundDecimal(percentileOf(now, years.flat()) * 100, 1);
  const current = { soil_moisture_percentile_pct: percentile, years_count: years.length };
  const list = new ReadingList();
  const stated = { origin: SOIL_ORIGIN, at: newest, current, ours: SOIL_SCOPE };
  list.add('agriculture.drought', modelReading(answer, place, stated));
  return list.someOf(payload);
}

function weekMean(days: ModelValues, last: number): number | null {
  let sum = 0;
  for (let back = 0; back < WEEK_DAYS; back += 1) {
    const value = days.get(last - back * DAY_MS) ?? null;
    if (value === null) return null;
    sum += value;
  }
  return roundDecimal(sum / WEEK_DAYS, 4);
}

/** Soil moisture of a reanalysis: https://open-meteo.com/en/docs/historical-weather-api */
export const openMeteoSoilMoisture = modelSource(
  'open-meteo-soil-moisture',
  readSoil,
  ({ entities, now }) => {
    const to = isoTime(now).slice(0, 10);
    const from = `${Number(to.slice(0, 4)) - EARLIER_YEARS_MIN - 1}-01-01`;
    const query = `start_date=${from}&end_date=${to}&daily=${SOIL_VARIABLE}&models=${SOIL_MODEL}`;
    return wantedPlaces(SOIL_LINES, entities).map((place) => [place, query]);
  },
);
