import {
  AIR,
  addressOf,
  CALIFORNIA,
  DEGREES,
  ERCOT,
  FIRE,
  HEAT,
  HORMUZ,
  IOWA,
  RAIN,
  SEATTLE,
  SOIL_URL,
  soilFrom,
  WAVES,
} from './models.ts';
import { CITY_URL, NOWCAST, OBSERVED, RETIRED_URL } from './observations.ts';
import { type Mutated, readingStatements } from './statements.ts';
import { DAILY_URL, fredTable, provinceText, stationTable } from './tables.ts';
import { BLS_ANSWER, blsAnswer } from './time-series.ts';

const at = (url: string) => ({ url, fetched_at: '2026-11-20T11:05:00Z', http_status: 200 });
const model = (source: string, payload: unknown, place: typeof SEATTLE): Mutated => ({
  source,
  payload,
  note: at(addressOf(place)),
  says: readingStatements,
});
const air = (payload: unknown, url: string): Mutated => ({
  source: 'airnow',
  payload,
  note: at(url),
  says: readingStatements,
  // The source leaves out what is not available: the reading says how many pollutants it rests on.
  honest: /^\d absent$/,
});
const PRICES = Array.from({ length: 14 }, (_, index) => String(1.25 + index / 100));

/** Payloads of the air, the weather and of prices, for the test that spoils them in every way. */
export const AIR_AND_PRICES: Readonly<Record<string, Mutated>> = {
  'air of areas': air(NOWCAST, CITY_URL),
  'air of areas at the retired address': air(OBSERVED, RETIRED_URL),
  'air of a model': model('open-meteo-air-quality', AIR, SEATTLE),
  'waves of a model': model('open-meteo-marine', WAVES, HORMUZ),
  'rain of a model': {
    ...model('open-meteo-archive', RAIN, SEATTLE),
    // A sum says how many of its days are known.
    honest: /precipitation_sum\.\d+ = null$/,
  },
  'heat of a model': model('open-meteo-archive', HEAT, IOWA),
  'degree days of a model': model('open-meteo-archive', DEGREES, ERCOT),
  'soil of a model': {
    ...model('open-meteo-soil-moisture', soilFrom(2015), SEATTLE),
    note: at(SOIL_URL),
    // A percentile says how many years it rests on.
    honest: /cm_mean\.\d+ = null$/,
  },
  'fire weather of a model': model('open-meteo-archive', FIRE, CALIFORNIA),
  'rain of stations': {
    source: 'noaa-daily',
    payload: stationTable(),
    note: at(DAILY_URL),
    says: readingStatements,
    // A sum says how many of its days are known.
    honest: /^line [1-9]\d* (absent|column 2 = "")$/,
  },
  'prices of a table': {
    source: 'fred',
    payload: fredTable({ CPIENGSL: PRICES, APU000072620: PRICES }),
    note: at('https://fred.stlouisfed.org/graph/fredgraph.csv'),
    says: readingStatements,
  },
  'unemployment of the agency': {
    source: 'bls',
    payload: BLS_ANSWER,
    note: at('https://api.bls.gov/publicAPI/v2/timeseries/data/'),
    says: readingStatements,
  },
  'prices of the agency': {
    source: 'bls',
    payload: blsAnswer({
      CUSR0000SA0E: PRICES.map((value, index) => ({
        year: String(2025 + Math.floor(index / 12)),
        month: (index % 12) + 1,
        value,
      })),
    }),
    note: at('https://api.bls.gov/publicAPI/v2/timeseries/data/'),
    says: readingStatements,
  },
  'vegetation of a province': {
    source: 'noaa-star-vhi',
    payload: provinceText(),
    note: at('https://www.star.nesdis.noaa.gov/'),
    says: readingStatements,
  },
};
