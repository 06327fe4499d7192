import { roundDecimal } from '../../../contract/decimal.ts';
import { defined } from '../../../contract/defined.ts';
import { DAY_MS, isoTime } from '../../../contract/iso-time.ts';
import { wantedPlaces } from '../../asked-place.ts';
import { fetchAgain, type Imported, type Payload } from '../../payload.ts';
import { RAIN_SCOPE, rainValues } from '../../rain-readings.ts';
import { ReadingList } from '../../readings.ts';
import {
  completeDays,
  isOver,
  type ModelAnswer,
  modelOrigin,
  modelReading,
  modelSource,
  pastHours,
  readAnswer,
} from './open-meteo-answer.ts';

const ORIGIN = modelOrigin('ECMWF (ERA5, IFS)', 'historical-weather-api');
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

/** What each line reads in an answer, and what is asked for it. */
const READERS: ReadonlyMap<
  string,
  { readonly query: string; read(answer: ModelAnswer): DayValue[] }
> = new Map([
  ['environment', { query: 'daily=precipitation_sum', read: rain }],
  ['agriculture', { query: 'daily=temperature_2m_max', read: heat }],
  ['grid', { query: 'daily=temperature_2m_max,temperature_2m_min', read: degreeDays }],
  [
    'wildfire',
    {
      query: 'hourly=temperature_2m,relative_humidity_2m,wind_speed_10m&wind_speed_unit=kn',
      read: fire,
    },
  ],
]);
const LINES = [...READERS.keys()];

function readArchive(payload: Payload): Imported {
  const answer = readAnswer(payload, LINES);
  const list = new ReadingList();
  for (const place of answer.places) {
    const values = defined(READERS.get(place.line), 'the reader of the line').read(answer);
    if (values.length === 0) list.skips.add(place.entity, `no complete day for ${place.line}`);
    for (const { signal, day: at, current, ours } of values) {
      list.add(signal, modelReading(answer, place, { origin: ORIGIN, at, current, ours }));
    }
  }
  return list.someOf(payload);
}

function rain(answer: ModelAnswer): DayValue[] {
  const days = completeDays(answer, 'precipitation_sum', ['mm']);
  return rainValues(days).map((value) => ({ ...value, ours: RAIN_SCOPE }));
}

function heat(answer: ModelAnswer): DayValue[] {
  return [...completeDays(answer, 'temperature_2m_max', ['°C'])].flatMap(([day, tmax]) =>
    tmax === null
      ? []
      : [{ signal: 'agriculture.heat', day, current: { tmax_c: tmax }, ours: DAY_SCOPE }],
  );
}

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

function fire(answer: ModelAnswer): DayValue[] {
  return fireWeather(answer).map(({ day, current }) => {
    const ours = `${FIRE_WEATHER_SCOPE}; ${DAY_SCOPE}`;
    return { signal: 'wildfire.fire-weather', day, current, ours };
  });
}

/** Days of a reanalysis: https://open-meteo.com/en/docs/historical-weather-api */
export const openMeteoArchive = modelSource({
  id: 'open-meteo-archive',
  agency: 'Open-Meteo, for the reanalyses of ECMWF',
  feeds: [
    'precipitation.daily',
    'precipitation.wetness30d',
    'agriculture.heat',
    'electricity.demand',
    'wildfire.fire-weather',
  ],
  read: readArchive,
  service: 'https://customer-archive-api.open-meteo.com/v1/archive',
  // The rain of all cities is measured by stations: only who names cities here is asked to have it from the model.
  asks: ({ entities, now }) => {
    const lines = entities.length === 0 ? LINES.filter((id) => id !== 'environment') : LINES;
    const [from, to] = [now - DAYS_ASKED * DAY_MS, now].map((at) => isoTime(at).slice(0, 10));
    return wantedPlaces(lines, entities).map((place) => {
      const { query } = defined(READERS.get(place.line), 'the reader of the line');
      return [place, `start_date=${from}&end_date=${to}&${query}`];
    });
  },
  everyMinutes: 24 * 60,
});

const HOURS_A_DAY = 24;

/** What the two metrics are, for `scope`. */
const FIRE_WEATHER_SCOPE =
  'highest vapour pressure deficit and highest wind of the 24 hours of a day, the deficit from temperature and relative humidity by the Tetens equation (ours)';

/** Vapour pressure deficit in kPa of air in °C and percent; Tetens equation as in FAO Irrigation and Drainage Paper 56. */
export function vapourPressureDeficit(celsius: number, humidityPct: number): number {
  const saturated = 0.6108 * Math.exp((17.27 * celsius) / (celsius + 237.3));
  return roundDecimal(saturated * (1 - humidityPct / 100), 3);
}

interface FireDay {
  /** Date at 00:00Z, in epoch milliseconds. */
  readonly day: number;
  readonly current: Readonly<Record<string, number | null>>;
}

/** Days of which all hours are known; a day without wind in knots has none. */
function fireWeather(answer: ModelAnswer): FireDay[] {
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
    return [{ day, current: { vpd_kpa: Math.max(...values), wind_kt: strongest } }];
  });
}

function put(lists: Map<number, number[]>, day: number, value: number): void {
  const list = lists.get(day);
  if (list === undefined) lists.set(day, [value]);
  else list.push(value);
}
