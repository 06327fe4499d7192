import { roundDecimal } from '../../../contract/decimal.ts';
import { DAY_MS, isoTime } from '../../../contract/iso-time.ts';
import { percentileOf, sameDayInYear } from '../../../stages/derive/season.ts';
import { wantedPlaces } from '../../asked-place.ts';
import { fetchAgain, type Imported, type Payload } from '../../payload.ts';
import { ReadingList } from '../../readings.ts';
import {
  completeDays,
  type ModelValues,
  modelOrigin,
  modelReading,
  modelSource,
  readAnswer,
} from './open-meteo-answer.ts';

const LINES = ['agriculture'];
const MODEL = 'era5';
const ORIGIN = modelOrigin('Copernicus ERA5', 'historical-weather-api');
const VARIABLE = 'soil_moisture_0_to_100cm_mean';
const WEEK_DAYS = 7;
/** Days before and after the same day of an earlier year (ours). */
const AROUND_DAYS = 15;
/** A percentile needs years of the same model (how many is ours). */
const EARLIER_YEARS_MIN = 10;
const OURS =
  `mean of the ${WEEK_DAYS} local days up to this one, in the upper metre of soil, among the weeks that end within ` +
  `${AROUND_DAYS} days of the same date in the earlier years of years_count (ours); the cell stands for the region (ours)`;

/** The newest week, placed among those of the same season in all earlier years that the answer covers. */
function readSoil(payload: Payload): Imported {
  const answer = readAnswer(payload, LINES);
  const [place] = answer.places;
  if (new URL(payload.note.url).searchParams.get('models') !== MODEL) {
    const state = `its address does not say models=${MODEL}, so its years may be of several models`;
    throw fetchAgain(payload, state);
  }
  const days = completeDays(answer, VARIABLE, ['m³/m³']);
  if ([...days.values()].some((value) => value !== null && (value < 0 || value > 1))) {
    throw fetchAgain(payload, `${VARIABLE} has a value outside of 0 to 1`);
  }
  const [newest] = [...days.keys()].filter((day) => days.get(day) !== null).slice(-1);
  const now = newest === undefined ? null : weekMean(days, newest);
  if (newest === undefined || now === null) throw fetchAgain(payload, 'it holds no whole week');
  const years = earlierYears(days, newest);
  if (years.length < EARLIER_YEARS_MIN) {
    const state = `it covers ${years.length} earlier years, and a percentile needs ${EARLIER_YEARS_MIN}`;
    throw fetchAgain(payload, state);
  }
  const percentile = roundDecimal(percentileOf(now, years.flat()) * 100, 1);
  const current = { soil_moisture_percentile_pct: percentile, years_count: years.length };
  const list = new ReadingList();
  const stated = { origin: ORIGIN, at: newest, current, ours: OURS };
  list.add('agriculture.drought', modelReading(answer, place, stated));
  return list.someOf(payload);
}

/** Means of the weeks of a season by earlier year; a year with a day unknown does not count. */
function earlierYears(days: ModelValues, newest: number): number[][] {
  const from = new Date(Math.min(...days.keys())).getUTCFullYear();
  const seasons: number[][] = [];
  for (let year = new Date(newest).getUTCFullYear() - 1; year >= from; year -= 1) {
    const centre = sameDayInYear(newest, year);
    const means = Array.from({ length: 2 * AROUND_DAYS + 1 }, (_, index) =>
      weekMean(days, centre + (index - AROUND_DAYS) * DAY_MS),
    );
    const known = means.filter((mean) => mean !== null);
    if (known.length === means.length) seasons.push(known);
  }
  return seasons;
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
export const openMeteoSoilMoisture = modelSource({
  id: 'open-meteo-soil-moisture',
  agency: 'Open-Meteo, for the Copernicus ERA5 reanalysis',
  feeds: ['agriculture.drought'],
  read: readSoil,
  service: 'https://customer-archive-api.open-meteo.com/v1/archive',
  asks: ({ entities, now }) => {
    const to = isoTime(now).slice(0, 10);
    const from = `${Number(to.slice(0, 4)) - EARLIER_YEARS_MIN - 1}-01-01`;
    const query = `start_date=${from}&end_date=${to}&daily=${VARIABLE}&models=${MODEL}`;
    return wantedPlaces(LINES, entities).map((place) => [place, query]);
  },
  everyMinutes: 7 * 24 * 60,
  // An answer of eleven years counts as some 300 requests of 600 a minute.
  perMinute: 1,
});
