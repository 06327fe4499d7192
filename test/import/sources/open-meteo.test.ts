import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import { placesOf } from '../../../compiler/contract/catalog/catalog.ts';
import { signalOf } from '../../../compiler/contract/lines.ts';
import { vapourPressureDeficit } from '../../../compiler/import/sources/open-meteo/open-meteo-archive.ts';
import { disruptionBand } from '../../../compiler/import/sources/open-meteo/open-meteo-marine.ts';
import { sourceOf } from '../../../compiler/import/sources.ts';
import {
  AIR,
  addressOf,
  answerFor,
  CALIFORNIA,
  DEGREES,
  daysOf,
  ERCOT,
  FIRE,
  HEAT,
  HORMUZ,
  IOWA,
  RAIN,
  SEATTLE,
  SOIL_URL,
  soilFrom,
  TEMPERATURES,
  WAVES,
} from '../models.ts';
import { PAYLOADS, readAs, valuesOf } from '../recorded.ts';

const air = (payload: unknown, fetched_at = '2026-11-20T11:05:00Z') =>
  readAs('open-meteo-air-quality', payload, { url: addressOf(SEATTLE), fetched_at });
const marine = (payload: unknown) =>
  readAs('open-meteo-marine', payload, { url: addressOf(HORMUZ) });
const archive = (payload: unknown, place = SEATTLE, fetched_at = '2026-11-20T11:05:00Z') =>
  readAs('open-meteo-archive', payload, { url: addressOf(place), fetched_at });

const over = (answer: Record<string, unknown>, section: string, members: object) => ({
  ...answer,
  [section]: { ...(answer[section] as object), ...members },
});

describe('open-meteo-air-quality', () => {
  it('takes the index and the particles now and of past hours, and no hour to come', () => {
    const imported = air(AIR);
    expect(valuesOf(imported, 'airquality.aqi')).toEqual([
      ['us-seattle', '2026-11-20T09:00:00Z', { aqi_index: 60, dominant: 'pm2_5' }],
      ['us-seattle', '2026-11-20T10:00:00Z', { aqi_index: 61 }],
      ['us-seattle', '2026-11-20T11:00:00Z', { aqi_index: 65, dominant: 'pm2_5' }],
    ]);
    expect(valuesOf(imported, 'airquality.pm25')).toEqual([
      ['us-seattle', '2026-11-20T09:00:00Z', { pm25_ugm3: 20.5 }],
      ['us-seattle', '2026-11-20T11:00:00Z', { pm25_ugm3: 22.1 }],
    ]);
    expect(imported.skipped).toMatchObject([{ reason: 'an hour without pm2_5', count: 1 }]);
  });

  it('says that it is a model, whose, and which cell', () => {
    const [reading] = air(AIR).readings.get('airquality.aqi') ?? [];
    expect(reading).toMatchObject({
      entity_name: 'Seattle, WA',
      source_tier: 'T2',
      grade: 'model, not a measurement',
      sources: [{ role: 'model', independent: false, relay_of: 'Copernicus CAMS', value: 60 }],
    });
    expect(reading?.scope).toMatch(/latitude 47\.6262\d*, longitude -122\.3521/);
  });

  it('takes either spelling of micro, and no other unit', () => {
    const units = (pm2_5: string) =>
      over(over(AIR, 'current_units', { pm2_5 }), 'hourly_units', { pm2_5 });
    expect(air(units('µg/m³')).readings.get('airquality.pm25')).toHaveLength(2);
    expect(() => air(units('mg/m³'))).toThrow('hourly.pm2_5 is in "mg/m³", not in "μg/m³"');
  });

  it.each([
    ['no place of ours', { url: addressOf({ latitude: 1, longitude: 2 }) }, 'no place of'],
    ['no place at all', { url: 'https://api.open-meteo.com/' }, 'no place of'],
    ['another place', { url: addressOf({ latitude: 34.0522, longitude: -118.2437 }) }, 'far from'],
    [
      'a gauge, not a city',
      { url: addressOf({ latitude: 47.479, longitude: -122.2588 }) },
      'no place',
    ],
  ])('refuses the answer of an address of %s', (_name, note, message) => {
    expect(() => readAs('open-meteo-air-quality', AIR, note)).toThrow(message);
  });

  it.each([
    ['is after the fetch', over(AIR, 'current', { time: '2026-11-20T04:10' })],
    ['does not exist', over(AIR, 'current', { time: '2026-02-30T04:00' })],
    ['two values of us_aqi', over(AIR, 'current', { us_aqi: 66 })],
    ['a value that is no number', over(AIR, 'current', { us_aqi: '65' })],
    ['one value for each time', over(AIR, 'hourly', { pm2_5: [1, 2] })],
    [
      'does not follow',
      over(AIR, 'hourly', {
        time: ['T02', 'T03', 'T05', 'T06'].map((hour) => `2026-11-20${hour}:00`),
      }),
    ],
    ['not "iso8601"', over(AIR, 'hourly_units', { time: 'unixtime' })],
    ['in "undefined"', over(AIR, 'current_units', { us_aqi: 'undefined' })],
    ['not an answer for one place', [AIR, AIR]],
  ])('refuses: %s', (message, payload) => {
    expect(() => air(payload)).toThrow(message);
  });

  it('refuses an answer that only holds what is to come', () => {
    const { current: _, current_units: __, ...hours } = AIR as Record<string, unknown>;
    expect(() => air(hours, '2026-11-20T08:59:00Z')).toThrow('gives no reading');
  });

  it('reads what a free host answered before, as what the paid one answers', () => {
    const [asked = ''] = sourceOf('open-meteo-air-quality').fetch?.addresses({
      entities: ['us-seattle'],
      now: 0,
    }) ?? [''];
    const said = [asked, asked.replace('customer-', '')].map((url) =>
      valuesOf(readAs('open-meteo-air-quality', AIR, { url }), 'airquality.aqi'),
    );
    expect(said[0]).toHaveLength(3);
    expect(said[1]).toEqual(said[0]);
  });

  it('asks for every city, and for the index only where cities are named', () => {
    const { fetch } = sourceOf('open-meteo-air-quality');
    const all = fetch?.addresses({ entities: [], now: 0 }) ?? [];
    expect(all).toHaveLength(12);
    expect(all.every((url) => url.endsWith('current=pm2_5'))).toBe(true);
    expect(fetch?.addresses({ entities: ['us-seattle', 'nowhere'], now: 0 })).toEqual([
      'https://customer-air-quality-api.open-meteo.com/v1/air-quality?latitude=47.6062&longitude=-122.3321&timezone=auto&current=pm2_5,us_aqi',
    ]);
  });
});

describe('open-meteo-marine', () => {
  it('takes wave heights, with a band of ours for the route', () => {
    const imported = marine(WAVES);
    const sea = valuesOf(imported, 'shipping.sea-state').map(([, at, current]) => [at, current]);
    expect(sea).toEqual([
      ['2026-11-20T09:00:00Z', { wave_height_m: 0 }],
      ['2026-11-20T10:00:00Z', { wave_height_m: 6 }],
      ['2026-11-20T10:45:00Z', { wave_height_m: 2.5 }],
      ['2026-11-20T11:00:00Z', { wave_height_m: 0.76 }],
    ]);
    const bands = imported.readings.get('shipping.route-disruption');
    expect(bands?.map(({ current }) => current.band)).toEqual([
      'operable',
      'severe',
      'marginal',
      'operable',
    ]);
    expect(bands?.[0]?.scope).toContain('are ours, not official');
  });

  it('has every band of the signal at its edge', () => {
    const edges = [0, 2.49, 2.5, 3.99, 4, 5.99, 6, 20].map(disruptionBand);
    expect([...new Set(edges)]).toEqual(signalOf('shipping.route-disruption')?.bands);
    expect(edges.map((band) => band[0]).join('')).toBe('oommddss');
  });

  it.each([
    ['below 0', over(WAVES, 'current', { wave_height: -0.1 })],
    ['is in "ft"', over(WAVES, 'hourly_units', { wave_height: 'ft' })],
    ['gives no reading', answerFor(HORMUZ, {})],
  ])('refuses: %s', (message, payload) => {
    expect(() => marine(payload)).toThrow(message);
  });
});

describe('open-meteo-archive', () => {
  it('takes the rain of complete local days, and sums of 30 of them', () => {
    const imported = archive(RAIN, SEATTLE, '2026-11-01T07:00:00Z');
    const daily = valuesOf(imported, 'precipitation.daily');
    expect(daily).toHaveLength(31);
    expect(daily.at(-1)).toEqual(['us-seattle', '2026-10-31T00:00:00Z', { precip_mm: 3 }]);
    expect(valuesOf(imported, 'precipitation.wetness30d')).toEqual([
      ['us-seattle', '2026-10-30T00:00:00Z', { precip_30d_mm: 43.5, days_count: 30 }],
      ['us-seattle', '2026-10-31T00:00:00Z', { precip_30d_mm: 46.5, days_count: 30 }],
    ]);
  });

  it('takes no day that has not ended at the place', () => {
    const days = (fetched: string) =>
      archive(RAIN, SEATTLE, fetched).readings.get('precipitation.daily')?.length;
    expect(days('2026-11-01T06:59:59Z')).toBe(30);
    expect(() => archive(RAIN, SEATTLE, '2026-10-01T12:00:00Z')).toThrow('no complete day');
  });

  it('gives the highest temperature of growing regions', () => {
    expect(
      valuesOf(archive(HEAT, IOWA), 'agriculture.heat').map(([, , current]) => current),
    ).toEqual([{ tmax_c: 24.4 }, { tmax_c: 18.3 }, { tmax_c: 12 }]);
  });

  it('gives degree days of grids to the base of 18.3', () => {
    const imported = archive(DEGREES, ERCOT);
    expect(valuesOf(imported, 'electricity.demand').map(([, , current]) => current)).toEqual([
      { cdd_degree_days: 2, hdd_degree_days: 0 },
      { cdd_degree_days: 0, hdd_degree_days: 0 },
      { cdd_degree_days: 0, hdd_degree_days: 9 },
    ]);
    const swapped = {
      temperature_2m_max: TEMPERATURES.temperature_2m_min,
      temperature_2m_min: TEMPERATURES.temperature_2m_max,
    };
    const units = { temperature_2m_max: '°C', temperature_2m_min: '°C' };
    expect(() => archive(daysOf(ERCOT, units, swapped), ERCOT)).toThrow('is above its highest');
  });

  it('gives fire weather of whole days', () => {
    const imported = archive(FIRE, CALIFORNIA);
    expect(valuesOf(imported, 'wildfire.fire-weather')).toEqual([
      [
        'us-california',
        '2026-10-01T00:00:00Z',
        { vpd_kpa: vapourPressureDeficit(30, 20), wind_kt: 23 },
      ],
    ]);
    const hourly = FIRE as unknown as { hourly: Record<string, (number | null)[]> };
    const gap = (name: string) =>
      over(FIRE, 'hourly', { [name]: hourly.hourly[name]?.with(3, null) });
    const calm = archive(gap('wind_speed_10m'), CALIFORNIA).readings.get('wildfire.fire-weather');
    expect(calm?.[0]?.current).toMatchObject({ wind_kt: null });
    expect(() => archive(gap('relative_humidity_2m'), CALIFORNIA)).toThrow('no complete day');
    const wet = over(FIRE, 'hourly', {
      relative_humidity_2m: hourly.hourly.relative_humidity_2m?.with(3, 101),
    });
    expect(() => archive(wet, CALIFORNIA)).toThrow('not a percentage');
    const kmh = over(FIRE, 'hourly_units', { wind_speed_10m: 'km/h' });
    expect(() => archive(kmh, CALIFORNIA)).toThrow('is in "km/h", not in "kn"');
  });

  it('has the deficit of the published table of saturation pressures', () => {
    expect(vapourPressureDeficit(20, 0)).toBe(2.338);
    expect(vapourPressureDeficit(30, 0)).toBe(4.243);
    expect(vapourPressureDeficit(30, 100)).toBe(0);
  });

  it('asks for each line what it reads, and for the rain of cities only where they are named', () => {
    const { fetch } = sourceOf('open-meteo-archive');
    const now = Date.parse('2026-11-20T11:05:00Z');
    const all = fetch?.addresses({ entities: [], now }) ?? [];
    expect(all).toHaveLength(36);
    expect(all.some((url) => url.includes('precipitation'))).toBe(false);
    expect(fetch?.addresses({ entities: ['us-seattle'], now })).toEqual([
      'https://customer-archive-api.open-meteo.com/v1/archive?latitude=47.6062&longitude=-122.3321&timezone=auto&start_date=2026-10-06&end_date=2026-11-20&daily=precipitation_sum',
    ]);
  });
});

describe('open-meteo-soil-moisture', () => {
  const soil = (payload: unknown, url = SOIL_URL) =>
    readAs('open-meteo-soil-moisture', payload, { url });

  it('places the newest week among those of the season in earlier years', () => {
    const current = { soil_moisture_percentile_pct: 54.5, years_count: 11 };
    expect(valuesOf(soil(soilFrom(2015)), 'agriculture.drought')).toEqual([
      ['us-iowa', '2026-11-15T00:00:00Z', current],
    ]);
    const dry = soilFrom(2016, (year) => (year === 2026 ? 0.1 : 0.2));
    expect(valuesOf(soil(dry), 'agriculture.drought')[0]?.[2]).toEqual({
      soil_moisture_percentile_pct: 0,
      years_count: 10,
    });
  });

  it('looks at the season alone', () => {
    const answer = soilFrom(2016);
    const { daily } = answer as unknown as { daily: Record<string, (string | number)[]> };
    const summers = daily.soil_moisture_0_to_100cm_mean?.map((value, at) =>
      String(daily.time?.[at]).slice(5, 7) === '07' ? 0.9 : value,
    );
    const wet = over(answer, 'daily', { soil_moisture_0_to_100cm_mean: summers });
    expect(valuesOf(soil(wet), 'agriculture.drought')).toEqual(
      valuesOf(soil(answer), 'agriculture.drought'),
    );
  });

  it.each([
    ['too few years', soilFrom(2017), SOIL_URL, 'covers 9 earlier years'],
    ['a mixture of models', soilFrom(2015), addressOf(IOWA), 'does not say models=era5'],
    [
      'another place',
      soilFrom(2015),
      `${addressOf(SEATTLE)}&models=era5`,
      'is no place of agriculture',
    ],
    ['more than all of the soil', soilFrom(2015, () => 1.5), SOIL_URL, 'outside of 0 to 1'],
    ['no soil', answerFor(IOWA, {}), SOIL_URL, 'no whole week'],
  ])('refuses %s', (...[, payload, url, message]) => {
    expect(() => soil(payload, url)).toThrow(message);
  });

  it('asks for eleven years of one model', () => {
    const now = Date.parse('2026-11-20T11:05:00Z');
    const [address = ''] =
      sourceOf('open-meteo-soil-moisture').fetch?.addresses({ entities: ['us-iowa'], now }) ?? [];
    expect(address).toContain('start_date=2015-01-01&end_date=2026-11-20');
    expect(address).toContain('models=era5');
  });
});

describe.each(PAYLOADS)('recorded answers: $name', ({ recorded }) => {
  const NOTE = { fetched_at: '2026-10-03T12:05:00Z' };
  /** No recorded place is one of ours, so the cell is moved to one; nothing else is changed. */
  const moved = (name: string, place: { latitude: number; longitude: number }) => {
    const answer = JSON.parse(recorded(`open-meteo/${name}`).toString()) as object;
    return { ...answer, latitude: place.latitude, longitude: place.longitude };
  };

  it.each([
    ['open-meteo-air-quality', 'air_quality_52.3N_6.9E_2026-10-03.json', '52.3 6.9'],
    ['open-meteo-marine', 'marine_53.0N_3.96E_2026-10-03.json', '53 3.96'],
    ['open-meteo-archive', 'archive_52.27N_6.82E_1953-01-31.json', '52.27 6.82'],
  ])('%s refuses a place that is none of ours: %s', (source, name, where) => {
    const [latitude = 0, longitude = 0] = where.split(' ').map(Number);
    const url = addressOf({ latitude, longitude });
    const read = () => readAs(source, recorded(`open-meteo/${name}`), { ...NOTE, url });
    expect(read).toThrow(
      `asks for latitude "${latitude}", longitude "${longitude}", which is no place`,
    );
  });

  it('gives the worked air quality', () => {
    const answer = moved('air_quality_52.3N_6.9E_2026-10-03.json', SEATTLE);
    const imported = readAs('open-meteo-air-quality', answer, { ...NOTE, url: addressOf(SEATTLE) });
    const at = '2026-10-03T10:00:00Z';
    expect(valuesOf(imported, 'airquality.aqi').at(-1)).toEqual([
      'us-seattle',
      at,
      { aqi_index: 65, dominant: 'pm2_5' },
    ]);
    expect(valuesOf(imported, 'airquality.pm25').at(-1)).toEqual([
      'us-seattle',
      at,
      { pm25_ugm3: 22.1 },
    ]);
    expect(imported.readings.get('airquality.aqi')).toHaveLength(4);
  });

  it('gives the worked wave height', () => {
    const answer = moved('marine_53.0N_3.96E_2026-10-03.json', HORMUZ);
    const imported = readAs('open-meteo-marine', answer, { ...NOTE, url: addressOf(HORMUZ) });
    expect(valuesOf(imported, 'shipping.route-disruption').at(-1)).toEqual([
      'hormuz',
      '2026-10-03T11:45:00Z',
      { wave_height_m: 0.76, band: 'operable' },
    ]);
  });

  it('gives the rain of both days of 1953', () => {
    const answer = moved('archive_52.27N_6.82E_1953-01-31.json', SEATTLE);
    const imported = readAs('open-meteo-archive', answer, { ...NOTE, url: addressOf(SEATTLE) });
    expect(
      valuesOf(imported, 'precipitation.daily').map(([, at, current]) => [at, current]),
    ).toEqual([
      ['1953-01-31T00:00:00Z', { precip_mm: 11.9 }],
      ['1953-02-01T00:00:00Z', { precip_mm: 12.5 }],
    ]);
    expect(placesOf(BUILTIN, 'environment').has('us-seattle')).toBe(true);
  });
});
