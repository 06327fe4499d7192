/** Answers of our own in the two spellings of AirNow. */
export const CITY_URL =
  'https://www.airnowapi.org/aq/observation/latLong/current/?format=application/json&latitude=34.0522&longitude=-118.2437&distance=25';

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
export const NOWCAST = INDICES.map(([pollutant, nowcastAQI]) => ({
  dateObserved: '2026-11-20',
  hourObserved: '02:00',
  localTimeZone: 'PST',
  reportingAreaName: 'Central LA CO',
  siteID: '060370000',
  parameterName: pollutant === 'O3' ? 'OZONE' : pollutant,
  nowcastAQI,
}));
