/** Answers of our own at the two addresses of AirNow: the one of today, and the one that was retired on 2026-09-30. */
export const CITY_URL =
  'https://www.airnowapi.org/aq/observation/current/ziplatlong/?format=application/json&latitude=34.0522&longitude=-118.2437';
export const RETIRED_URL =
  'https://www.airnowapi.org/aq/observation/latLong/current/?format=application/json&latitude=34.0522&longitude=-118.2437&distance=25';

/** A row of the retired address: the hour from 2:00 on. */
export function airRow(over: Readonly<Record<string, unknown>>) {
  return {
    DateObserved: '2026-11-20',
    HourObserved: 2,
    LocalTimeZone: 'PST',
    ReportingArea: 'Central LA CO',
    StateCode: 'CA',
    Latitude: 34.06,
    Longitude: -118.22,
    ParameterName: 'O3',
    AQI: 44,
    Category: { Number: 1, Name: 'Good' },
    ...over,
  };
}

const INDICES = [
  ['O3', 44],
  ['PM2.5', 37],
  ['PM10', 11],
] as const;

export const OBSERVED = INDICES.map(([ParameterName, AQI]) => airRow({ ParameterName, AQI }));

/** A row of the address of today: the hour up to 3:00, which is the same. */
export function nowcastRow(over: Readonly<Record<string, unknown>>) {
  return {
    dateObserved: '2026-11-20',
    hourObserved: '3:00',
    localTimeZone: 'PST',
    reportingAreaName: 'Central LA CO',
    siteID: '060370000',
    siteName: 'A street',
    parameterName: 'OZONE',
    nowcastAQI: 44,
    aqiCategoryName: 'Good',
    reportingAgency: 'An agency',
    lookupBehavior: 'Closest Reading By Pollutant',
    consideredMonitors: 'All',
    lookupBoundary: '50 Miles',
    ...over,
  };
}
export const NOWCAST = INDICES.map(([pollutant, nowcastAQI]) =>
  nowcastRow({ parameterName: pollutant === 'O3' ? 'OZONE' : pollutant, nowcastAQI }),
);
