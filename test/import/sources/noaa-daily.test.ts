import { describe, expect, it } from 'vitest';
import { CITY_STATION } from '../../../compiler/import/sources/noaa-daily/noaa-daily.ts';
import { sourceOf } from '../../../compiler/import/sources.ts';
import { PAYLOADS, readAs, valuesOf } from '../recorded.ts';
import { DAILY_URL, daily, stationTable } from '../tables.ts';

const read = (payload: string, url = DAILY_URL, fetched_at = '2026-11-20T11:05:00Z') =>
  readAs('noaa-daily', payload, { url, fetched_at });
const rain = (payload: string) =>
  valuesOf(read(payload), 'precipitation.daily').map(([, at, current]) => [at, current]);

describe('noaa-daily', () => {
  it('takes the rain of the station of a city, and sums of 30 days', () => {
    const imported = read(stationTable());
    const values = valuesOf(imported, 'precipitation.daily');
    expect(values).toHaveLength(31);
    expect(values[0]).toEqual(['us-seattle', '2026-10-01T00:00:00Z', { precip_mm: 0 }]);
    expect(valuesOf(imported, 'precipitation.wetness30d')).toEqual([
      ['us-seattle', '2026-10-30T00:00:00Z', { precip_30d_mm: 43.5, days_count: 30 }],
      ['us-seattle', '2026-10-31T00:00:00Z', { precip_30d_mm: 46.5, days_count: 30 }],
    ]);
    expect(imported.readings.get('precipitation.daily')?.[0]).toMatchObject({
      entity_name: 'Seattle, WA',
      source_tier: 'T1',
    });
  });

  it('counts the days of a sum, and sums no fewer than 28', () => {
    const gaps = (count: number) => {
      const rows = daily.map((row, at) => (at < count ? { ...row, rain: '' } : row));
      return valuesOf(read(stationTable(rows)), 'precipitation.wetness30d')[0]?.[2];
    };
    expect(gaps(1)).toEqual({ precip_30d_mm: 43.5, days_count: 29 });
    expect(gaps(2)).toEqual({ precip_30d_mm: 43.4, days_count: 28 });
    expect(gaps(3)).toEqual({ precip_30d_mm: null, days_count: 27 });
  });

  it.each([
    ['-9999', ',,W'],
    ['', ',,'],
    ['1.5', ',G,W'],
  ])('has no value where a station has none or it failed a check: %s %s', (text, flags) => {
    const table = stationTable([
      { day: '2026-10-01', rain: text, flags },
      { day: '2026-10-02', rain: '0.3', flags: 'T,,W' },
    ]);
    expect(rain(table)).toEqual([['2026-10-02T00:00:00Z', { precip_mm: 0.3 }]]);
  });

  it('takes no day that may not have ended', () => {
    const table = stationTable([
      { day: '2026-11-18', rain: '1' },
      { day: '2026-11-19', rain: '2' },
      { day: '2026-11-20', rain: '3' },
    ]);
    expect(rain(table)).toHaveLength(1);
    const later = read(table, DAILY_URL, '2026-11-20T12:00:00Z');
    expect(later.readings.get('precipitation.daily')).toHaveLength(2);
  });

  it.each([
    ['units=standard', DAILY_URL.replace('metric', 'standard'), 'does not say units=metric'],
    ['no units', 'https://www.ncei.noaa.gov/', 'does not say units=metric'],
    ['another station', DAILY_URL.replace('USW00024233', 'USW00094728'), 'does not ask for'],
  ])('refuses the answer of an address with %s', (_name, url, message) => {
    expect(() => read(stationTable(), url)).toThrow(message);
  });

  it.each([
    ['1e3', 'PRCP "1e3"'],
    ['-1', 'PRCP "-1"'],
    ['1,5', 'not a whole table'],
    ['T', 'PRCP "T"'],
  ])('refuses rain of "%s"', (text, message) => {
    expect(() => read(stationTable([{ day: '2026-10-01', rain: text }]))).toThrow(message);
  });

  it.each([
    [
      'a flag that is none',
      stationTable([{ day: '2026-10-01', rain: '1', flags: ',no,W' }]),
      '"no" of 2026-10-01',
    ],
    ['a day twice', stationTable([...daily, { day: '2026-10-01', rain: '1' }]), 'names twice'],
    ['no such day', stationTable([{ day: '2026-02-30', rain: '1' }]), 'does not exist'],
    ['another table', 'STATION,DATE,TMAX\nUSW00024233,2026-10-01,3\n', 'neither STATION'],
    ['a cut line', stationTable().slice(0, -2), 'may be cut off'],
    ['a page', '<html></html>', 'an HTML or XML page'],
    ['another station', 'STATION,DATE,PRCP\nUSW00000001,2026-10-01,3\n', 'does not ask for'],
  ])('refuses %s', (_name, payload, message) => {
    expect(() => read(payload)).toThrow(message);
  });

  it('skips a station that stands for no city', () => {
    const url = 'https://www.ncei.noaa.gov/access/services/data/v1?units=metric';
    const rows = stationTable().replace(
      'PRCP_ATTRIBUTES\n',
      'PRCP_ATTRIBUTES\nUSW00000001,2026-10-01,3,\n',
    );
    expect(read(rows, url).skipped).toEqual([
      { subject: 'USW00000001', reason: 'stands for none of our cities', count: 1 },
    ]);
  });

  it('asks for the stations of all cities, or of those that are named', () => {
    const { fetch } = sourceOf('noaa-daily');
    const now = Date.parse('2026-11-20T11:05:00Z');
    const [all = ''] = fetch?.addresses({ entities: [], now }) ?? [];
    expect(new URL(all).searchParams.get('stations')?.split(',')).toEqual(
      Object.values(CITY_STATION),
    );
    expect(fetch?.addresses({ entities: ['us-seattle'], now })).toEqual([
      'https://www.ncei.noaa.gov/access/services/data/v1?dataset=daily-summaries&stations=USW00024233&startDate=2026-10-06&endDate=2026-11-20&dataTypes=PRCP&units=metric&format=csv&includeAttributes=true',
    ]);
    expect(fetch?.addresses({ entities: ['nowhere'], now })).toEqual([]);
  });
});

describe.each(PAYLOADS)('recorded answers: $name', ({ isWhole, recorded }) => {
  it('gives the worked sums of Seattle and New York', () => {
    const table = recorded('noaa-daily/seattle_newyork_daily_2012-2015.csv');
    const imported = readAs('noaa-daily', table, { url: 'https://www.ncei.noaa.gov/' });
    const sums = valuesOf(imported, 'precipitation.wetness30d')
      .filter(([, at]) => String(at).includes('-12-31'))
      .map(([entity, at, current]) => [entity, String(at).slice(0, 4), current]);
    const sum = (millimetres: number) => ({ precip_30d_mm: millimetres, days_count: 30 });
    const worked = [
      ['us-newyork', '2012', sum(125.4)],
      ['us-newyork', '2013', sum(114.4)],
      ['us-newyork', '2014', sum(177.1)],
      ['us-newyork', '2015', sum(114.3)],
      ['us-seattle', '2012', sum(169.9)],
      ['us-seattle', '2013', sum(39.4)],
      ['us-seattle', '2014', sum(121.8)],
      ['us-seattle', '2015', sum(272.3)],
    ];
    // Our own table holds one December.
    expect(sums).toEqual(isWhole ? worked : worked.filter(([, year]) => year === '2012'));
    expect(imported.readings.get('precipitation.daily')).toHaveLength(isWhole ? 2922 : 62);
    const [reading] = imported.readings.get('precipitation.daily') ?? [];
    expect(reading?.sources[0]).toMatchObject({
      independent: false,
      relay_of: 'NOAA NCEI GHCN-Daily',
    });
  });
});
