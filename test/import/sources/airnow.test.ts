import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../compiler/import/sources.ts';
import { airRow, CITY_URL, NOWCAST, OBSERVED } from '../observations.ts';
import { PAYLOADS, readAs, valuesOf } from '../recorded.ts';

const read = (payload: unknown, fetched_at = '2026-11-20T11:05:00Z') =>
  readAs('airnow', payload, { url: CITY_URL, fetched_at });
const WORST = { aqi_index: 44, dominant: 'O3', pollutants_count: 3, pm25_aqi: 37 };

describe('airnow', () => {
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

  it('takes the other spelling of the service to the same values', () => {
    expect(valuesOf(read(NOWCAST), 'airquality.aqi')).toEqual(
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
      url: CITY_URL,
      fetched_at: '2020-12-21T00:10:00Z',
    });
    expect(valuesOf(imported, 'airquality.aqi')).toEqual([
      ['us-losangeles', '2020-12-20T23:00:00Z', WORST],
    ]);
  });

  it('does not give them to another city', () => {
    const url = sourceOf('airnow').fetch?.addresses({ entities: ['us-fresno'], now: 0 })[0] ?? '';
    expect(() => readAs('airnow', bytes(), { url })).toThrow('far from Fresno');
  });
});
