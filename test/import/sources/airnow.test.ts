import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../compiler/import/sources.ts';
import { airRow, CITY_URL, NOWCAST, nowcastRow, OBSERVED, RETIRED_URL } from '../observations.ts';
import { PAYLOADS, readAs, valuesOf } from '../recorded.ts';

const FETCHED = '2026-11-20T11:05:00Z';
const read = (payload: unknown, fetched_at = FETCHED) =>
  readAs('airnow', payload, { url: RETIRED_URL, fetched_at });
const readNow = (payload: unknown, url = CITY_URL, fetched_at = FETCHED) =>
  readAs('airnow', payload, { url, fetched_at });
const WORST = { aqi_index: 44, dominant: 'O3', pollutants_count: 3, pm25_aqi: 37 };

describe('airnow at its retired address', () => {
  it('takes the highest index of an area and hour, and names its pollutant', () => {
    const imported = read(OBSERVED);
    expect(valuesOf(imported, 'airquality.aqi')).toEqual([
      ['us-losangeles', '2026-11-20T10:00:00Z', WORST],
    ]);
    expect(imported.readings.get('airquality.aqi')?.[0]).toMatchObject({
      entity_name: 'Los Angeles, CA',
      source_tier: 'T1',
      grade: 'preliminary, subject to revision',
    });
    expect(imported.readings.has('airquality.pm25')).toBe(false);
  });

  it('takes an hour by its beginning, also in the spelling of today', () => {
    const rows = NOWCAST.map((row) => ({ ...row, hourObserved: '02:00' }));
    expect(valuesOf(read(rows), 'airquality.aqi')).toEqual(
      valuesOf(read(OBSERVED), 'airquality.aqi'),
    );
  });

  it.each([
    ['PST', '2026-11-20T10:00:00Z'],
    ['PDT', '2026-11-20T09:00:00Z'],
    ['MST', '2026-11-20T09:00:00Z'],
  ])('reads the hour by its zone: %s', (LocalTimeZone, time) => {
    const [reading] = valuesOf(read([airRow({ LocalTimeZone })]), 'airquality.aqi');
    expect(reading?.[1]).toBe(time);
  });

  it('leaves out an index of -1, which is not 0 and not the best', () => {
    const some = read([airRow({ AQI: -1 }), airRow({ ParameterName: 'PM2.5', AQI: 0 })]);
    expect(valuesOf(some, 'airquality.aqi')[0]?.[2]).toEqual({
      aqi_index: 0,
      dominant: 'PM2.5',
      pollutants_count: 1,
      pm25_aqi: 0,
    });
    expect(some.skipped).toMatchObject([{ reason: 'AQI -1, not available', count: 1 }]);
    expect(() => read([airRow({ AQI: -1 })])).toThrow('AQI -1, not available');
  });

  it.each([
    ['a pollutant that is not known', [airRow({ ParameterName: 'LEAD' })], '"LEAD" is not known'],
    ['a pollutant twice', [airRow({}), airRow({ ParameterName: 'OZONE' })], 'is there twice'],
    ['two areas', [airRow({}), airRow({ ReportingArea: 'Other' })], 'it holds 2 areas'],
    ['an area far away', [airRow({ Latitude: 40 })], 'far from Los Angeles'],
    ['an unknown zone', [airRow({ LocalTimeZone: 'XYZ' })], 'zone "XYZ" is not known'],
    ['a day that does not exist', [airRow({ DateObserved: '2026-02-30' })], 'is not known'],
    ['an hour to come', [airRow({ HourObserved: 4 })], 'after its fetch'],
    ['an index as text', [airRow({ AQI: '44' })], '0.aqi'],
    ['an hour 24', [airRow({ HourObserved: 24 })], '0.hour'],
    ['no rows', [], 'it is empty'],
    [
      'an error',
      { WebServiceError: [{ Message: 'Invalid API key' }] },
      'not a list of observations',
    ],
  ])('refuses %s', (_name, payload, message) => {
    expect(() => read(payload)).toThrow(message);
  });
});

describe('airnow', () => {
  it('takes an hour by its end, to the same reading as that of the retired address', () => {
    const [now] = readNow(NOWCAST).readings.get('airquality.aqi') ?? [];
    const [before] = read(OBSERVED).readings.get('airquality.aqi') ?? [];
    const { evidence: _, ...said } = now ?? {};
    const { evidence: __, ...saidBefore } = before ?? {};
    expect(said).toEqual(saidBefore);
    expect(now?.observed_at).toBe('2026-11-20T10:00:00Z');
    expect(now?.scope).toBe(
      'hour that begins at this time in reporting area Central LA CO, which stands for the city (ours)',
    );
  });

  it.each([
    ['03:00', '2026-11-20', 'PST', FETCHED, '2026-11-20T10:00:00Z'],
    ['4:00', '2026-11-20', 'PDT', FETCHED, '2026-11-20T10:00:00Z'],
    ['0:00', '2026-11-20', 'PST', '2026-11-20T08:20:00Z', '2026-11-20T07:00:00Z'],
    ['00:00', '2026-11-01', 'PDT', '2026-11-01T07:20:00Z', '2026-11-01T06:00:00Z'],
  ])('reads %s of %s %s', (...one) => {
    const [hourObserved, dateObserved, localTimeZone, fetched_at, began] = one;
    const row = nowcastRow({ hourObserved, dateObserved, localTimeZone });
    const [reading] = valuesOf(readNow([row], CITY_URL, fetched_at), 'airquality.aqi');
    expect(reading?.[1]).toBe(began);
  });

  it('reads a place outside of all areas, and its address however it is written', () => {
    const [reading] = readNow([nowcastRow({ reportingAreaName: null })]).readings.get(
      'airquality.aqi',
    ) ?? [undefined];
    expect(reading).toMatchObject({ entity: 'us-losangeles', current: { aqi_index: 44 } });
    expect(reading?.scope).toBe(
      'hour that begins at this time at the nearest monitors, which stand for the city (ours)',
    );
    const [path, query] = ['/aq/observation/current/ziplatLong', CITY_URL.split('?')[1]];
    const other = readNow(NOWCAST, `https://www.airnowapi.org${path}?${query}`);
    expect(valuesOf(other, 'airquality.aqi')).toEqual(valuesOf(readNow(NOWCAST), 'airquality.aqi'));
  });

  it.each([
    ['the rows of the retired address', OBSERVED, '0.date'],
    ['an hour to come', [nowcastRow({ hourObserved: '04:00' })], 'after its fetch'],
    [
      'a midnight of the day before',
      [nowcastRow({ hourObserved: '00:00', dateObserved: '2026-11-19' })],
      'its hour ended at 2026-11-19T08:00:00Z, stale',
    ],
    ['half an hour', [nowcastRow({ hourObserved: '3:30' })], '0.hour'],
    ['an hour 24', [nowcastRow({ hourObserved: '24:00' })], '0.hour'],
    [
      'a row that says nothing of its area',
      [nowcastRow({ reportingAreaName: undefined })],
      '0.area',
    ],
    ['two areas', [nowcastRow({}), nowcastRow({ reportingAreaName: null })], 'it holds 2 areas'],
    [
      'no data',
      { WebServiceError: [{ Message: 'No observations' }] },
      'not a list of observations',
    ],
  ])('refuses %s', (_name, payload, message) => {
    expect(() => readNow(payload)).toThrow(message);
  });

  it('refuses an address of which it does not know what its hours mean', () => {
    const other = CITY_URL.replace('current/ziplatlong', 'current/racode');
    expect(() => readNow(NOWCAST, other)).toThrow('what its hours mean is not known');
    expect(readNow(NOWCAST).readings.size).toBe(1);
  });

  it('asks for each city, without the key in the address', () => {
    const { fetch } = sourceOf('airnow');
    const all = fetch?.addresses({ entities: [], now: 0 }) ?? [];
    expect(all).toHaveLength(12);
    expect(all.some((url) => /key/i.test(url))).toBe(false);
    expect(fetch?.addresses({ entities: ['us-losangeles'], now: 0 })).toEqual([CITY_URL]);
  });
});

describe.each(PAYLOADS)('recorded answers: $name', ({ recorded }) => {
  const bytes = () => recorded('airnow/observation_current_central-LA_2020-12-20T15.json');

  it('gives the worked values of Los Angeles', () => {
    const imported = readAs('airnow', bytes(), {
      url: RETIRED_URL,
      fetched_at: '2020-12-21T00:10:00Z',
    });
    expect(valuesOf(imported, 'airquality.aqi')).toEqual([
      ['us-losangeles', '2020-12-20T23:00:00Z', WORST],
    ]);
  });

  it('does not give them to another city', () => {
    const url = RETIRED_URL.replace('34.0522', '36.7378').replace('-118.2437', '-119.7871');
    expect(() => readAs('airnow', bytes(), { url })).toThrow('far from Fresno');
  });
});
