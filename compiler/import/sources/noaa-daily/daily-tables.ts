import type { Origin } from '../../stated-reading.ts';
import { CITY_NAMES, CITY_STATION } from './noaa-stations.ts';

/** One of the two tables: that of the agency, and one that a carrier cleaned. */
export interface DailyTable {
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
export const AGENCY_TABLE: DailyTable = {
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
export const CLEANED_TABLE: DailyTable = {
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
