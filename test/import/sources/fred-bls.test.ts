import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../compiler/import/sources.ts';
import { PAYLOADS, readAs, valuesOf } from '../recorded.ts';
import { fredTable } from '../tables.ts';
import { BLS_ANSWER, blsAnswer } from '../time-series.ts';

const FRED_URL = 'https://fred.stlouisfed.org/graph/fredgraph.csv';
const BLS_URL = 'https://api.bls.gov/publicAPI/v1/timeseries/data/LNS14000000';
const fred = (payload: string, url = FRED_URL) => readAs('fred', payload, { url });
const bls = (payload: unknown, url = 'https://api.bls.gov/publicAPI/v2/timeseries/data/') =>
  readAs('bls', payload, { url });
/** One of the five grids, which all have the same values. */
const grid = (imported: ReturnType<typeof fred>, signal: string) =>
  valuesOf(imported, signal)
    .filter(([entity]) => entity === 'us-pjm')
    .map(([, at, current]) => [at, current]);

const YEAR = Array.from({ length: 12 }, () => '100');
const GAPS = ['.', '', 'NA'];

describe('fred', () => {
  it('gives the change of the energy index against 12 months before, for every US grid', () => {
    const imported = fred(fredTable({ CPIENGSL: [...YEAR, '94.615', '100.005'] }));
    expect(grid(imported, 'energy.inflation')).toEqual([
      ['2026-01-31T00:00:00Z', { cpi_energy_yoy_pct: -5.39, cpi_energy_index: 94.615 }],
      ['2026-02-28T00:00:00Z', { cpi_energy_yoy_pct: 0.01, cpi_energy_index: 100.005 }],
    ]);
    const list = imported.readings.get('energy.inflation') ?? [];
    expect(new Set(list.map(({ entity }) => entity)).size).toBe(5);
    expect(list[0]).toMatchObject({
      source_tier: 'T2',
      sources: [{ role: 'relay', independent: false, relay_of: 'US Bureau of Labor Statistics' }],
    });
    expect(list[0]?.scope).toContain('seasonally adjusted');
  });

  it.each(GAPS)('I55: has no change where the month a year before is "%s"', (gap) => {
    const imported = fred(fredTable({ CPIENGSL: ['100', gap, ...YEAR.slice(2), '101', '102'] }));
    expect(grid(imported, 'energy.inflation').map(([, current]) => current)).toEqual([
      { cpi_energy_yoy_pct: 1, cpi_energy_index: 101 },
      { cpi_energy_yoy_pct: null, cpi_energy_index: 102 },
    ]);
  });

  it('joins the prices of a month, whatever the order of the columns', () => {
    const prices = { APU000074714: ['3.782', '3.5'], APU000072620: ['1.388', '.'] };
    const imported = fred(fredTable({ ...prices, APU000072610: ['0.169', '0.168'] }));
    expect(grid(imported, 'energy.gas-price').map(([, current]) => current)).toEqual([
      { gas_usd_therm: 1.388, gasoline_usd_gal: 3.782, electricity_usd_kwh: 0.169 },
      { gas_usd_therm: null, gasoline_usd_gal: 3.5, electricity_usd_kwh: 0.168 },
    ]);
  });

  it.each(['observation_date', 'DATE', 'Date'])('finds the dates in a column "%s"', (date) => {
    const imported = fred(fredTable({ UNRATE: ['4.1'] }, date));
    expect(valuesOf(imported, 'macro.unemployment')).toEqual([
      ['us', '2025-01-31T00:00:00Z', { unemployment_pct: 4.1 }],
    ]);
  });

  it('gives nothing for a month without a figure', () => {
    const imported = fred(fredTable({ UNRATE: ['.', '4.1'] }));
    expect(imported.readings.get('macro.unemployment')).toHaveLength(1);
  });

  it.each([
    [
      'a price beside which gas is missing',
      fredTable({ APU000074714: ['3.5'] }),
      'needs gas_usd_therm',
    ],
    ['another series', fredTable({ CPIAUCSL: ['300'] }), 'CPIAUCSL: feeds no signal'],
    ['a changed series', fredTable({ CPIENGSL_PC1: ['2'] }), 'feeds no signal'],
    ['less than a year', fredTable({ CPIENGSL: YEAR }), 'gives no reading'],
    ['an infinite figure', fredTable({ UNRATE: ['1e999'] }), 'is "1e999", not a figure'],
    ['a negative figure', fredTable({ UNRATE: ['-9999'] }), 'is "-9999", not a figure'],
    ['a word', fredTable({ UNRATE: ['n/a'] }), 'is "n/a", not a figure'],
    ['a share above 100', fredTable({ UNRATE: ['140'] }), 'outside 0 to 100'],
    ['a quarter', 'DATE,UNRATE\n2025-01-31,4.1\n', 'is not the first day of a month'],
    ['a month twice', 'DATE,UNRATE\n2025-01-01,4.1\n2025-01-01,4.2\n', 'is there twice'],
    ['a month to come', 'DATE,UNRATE\n2026-11-01,4.1\n', 'after its fetch'],
    ['no dates', 'WHEN,UNRATE\n2025-01-01,4.1\n', 'no column observation_date'],
    ['a page', '<!DOCTYPE html>', 'an HTML or XML page'],
  ])('refuses %s', (_name, payload, message) => {
    expect(() => fred(payload)).toThrow(message);
  });

  it('refuses a series that its address does not ask for', () => {
    const table = fredTable({ UNRATE: ['4.1'] });
    expect(fred(table, `${FRED_URL}?id=UNRATE`).readings.size).toBe(1);
    expect(() => fred(table, `${FRED_URL}?id=CPIENGSL`)).toThrow('does not ask for');
  });

  it('asks for the energy series in one table', () => {
    expect(sourceOf('fred').fetch?.addresses({ entities: [], now: 0 })).toEqual([
      `${FRED_URL}?id=CPIENGSL,APU000072620,APU000074714,APU000072610`,
    ]);
  });
});

describe('bls', () => {
  it('takes the months of a series, and says which are preliminary', () => {
    const imported = bls(BLS_ANSWER);
    expect(valuesOf(imported, 'macro.unemployment')).toEqual([
      ['us', '2026-08-31T00:00:00Z', { unemployment_pct: 4.3 }],
      ['us', '2026-10-31T00:00:00Z', { unemployment_pct: 4.4 }],
    ]);
    const [before, now] = imported.readings.get('macro.unemployment') ?? [];
    expect(before).not.toHaveProperty('qualifiers');
    expect(now).toMatchObject({ source_tier: 'T1', qualifiers: ['P'] });
    expect(imported.skipped).toMatchObject([
      { subject: 'CES0000000001', count: 1 },
      { subject: 'LNS14000000', reason: 'period M13 is no month' },
    ]);
  });

  it('takes the results alone', () => {
    expect(valuesOf(bls(BLS_ANSWER.Results), 'macro.unemployment')).toHaveLength(2);
  });

  it('gives what FRED gives of the same series', () => {
    const figures = [...YEAR, '94.615'];
    const data = figures.map((value, at) => ({
      year: String(2025 + Math.floor(at / 12)),
      month: (at % 12) + 1,
      value,
    }));
    const agency = bls(blsAnswer({ CUSR0000SA0E: data.toReversed() }));
    const relay = fred(fredTable({ CPIENGSL: figures }));
    expect(valuesOf(agency, 'energy.inflation')).toEqual(valuesOf(relay, 'energy.inflation'));
  });

  const one = (over: Record<string, unknown>) => ({
    ...BLS_ANSWER,
    Results: {
      series: [
        {
          seriesID: 'LNS14000000',
          data: [{ year: '2026', period: 'M10', value: '4.4', footnotes: [{}], ...over }],
        },
      ],
    },
  });
  it.each([
    [
      'a used-up quota',
      { ...BLS_ANSWER, status: 'REQUEST_NOT_PROCESSED', message: ['threshold'] },
      'REQUEST_NOT_PROCESSED: threshold',
    ],
    ['no status', { Results: BLS_ANSWER.Results }, 'not an answer of time series'],
    ['a week', one({ period: 'W01' }), 'is no month'],
    ['a number', one({ value: 4.4 }), 'series.0.data.0.value'],
    ['a word', one({ value: 'high' }), 'is "high", not a figure'],
    ['no figure at all', one({ value: '-' }), 'gives no reading'],
    ['only a year', one({ period: 'M13' }), 'period M13 is no month'],
    ['a month to come', one({ period: 'M11' }), 'after its fetch'],
    [
      'a series twice',
      { series: [...BLS_ANSWER.Results.series, ...BLS_ANSWER.Results.series] },
      'is there twice',
    ],
    [
      'another series',
      { series: BLS_ANSWER.Results.series.slice(1) },
      'CES0000000001: feeds no signal',
    ],
  ])('refuses %s', (_name, payload, message) => {
    expect(() => bls(payload)).toThrow(message);
  });

  it('refuses another series than the one of its address', () => {
    expect(bls(one({}), BLS_URL).readings.size).toBe(1);
    expect(() => bls(one({}), BLS_URL.replace('LNS', 'CES'))).toThrow(
      'holds LNS14000000, not CES14000000',
    );
  });

  it('asks for the unemployment rate alone', () => {
    expect(sourceOf('bls').fetch?.addresses({ entities: [], now: 0 })).toEqual([BLS_URL]);
  });
});

describe.each(PAYLOADS)('recorded answers: $name', ({ isWhole, recorded }) => {
  const table = (name: string) => recorded(`fred-bls/${name}`).toString();

  it('gives the worked inflation of November 2023', () => {
    const months = grid(fred(table('CPIENGSL_to_2023-11.csv')), 'energy.inflation');
    expect(months.at(-1)).toEqual([
      '2023-11-30T00:00:00Z',
      { cpi_energy_yoy_pct: -5.38, cpi_energy_index: 280.297 },
    ]);
    expect(months[0]?.[0]).toBe(isWhole ? '1958-01-31T00:00:00Z' : '2023-08-31T00:00:00Z');
  });

  it('gives the worked unemployment of March 2014', () => {
    const months = valuesOf(fred(table('UNRATE_2000-01_2014-03.csv')), 'macro.unemployment');
    expect(months.slice(-2)).toEqual([
      ['us', '2014-02-28T00:00:00Z', { unemployment_pct: 6.7 }],
      ['us', '2014-03-31T00:00:00Z', { unemployment_pct: 6.7 }],
    ]);
  });

  it('gives the worked unemployment of May 2016', () => {
    const imported = bls(recorded('fred-bls/bls_timeseries_2015-01_2016-05.json'));
    expect(valuesOf(imported, 'macro.unemployment').slice(-2)).toEqual([
      ['us', '2016-04-30T00:00:00Z', { unemployment_pct: 5 }],
      ['us', '2016-05-31T00:00:00Z', { unemployment_pct: 4.7 }],
    ]);
    expect(imported.skipped.map(({ subject }) => subject)).toEqual([
      'CES0000000001',
      'CES0500000003',
    ]);
  });

  it('gives the price of utility gas, without the month that has none', () => {
    const months = grid(fred(table('APU000072620_to_2023-11.csv')), 'energy.gas-price');
    expect(months.at(-1)).toEqual(['2023-11-30T00:00:00Z', { gas_usd_therm: Number('1.442') }]);
    expect(months.map(([at]) => at)).not.toContain('1985-09-30T00:00:00Z');
  });

  it('gives the three prices of one table', () => {
    const ids = ['APU000072620', 'APU000074714', 'APU000072610'];
    const cells = ids.map((id) =>
      table(`${id}_to_2023-11.csv`)
        .trim()
        .split('\n')
        .slice(-2)
        .map((line) => line.split(',')[1] ?? ''),
    );
    const joined = fredTable(Object.fromEntries(ids.map((id, at) => [id, cells[at] ?? []])));
    expect(grid(fred(joined), 'energy.gas-price').at(-1)?.[1]).toEqual({
      gas_usd_therm: Number('1.442'),
      gasoline_usd_gal: 3.5,
      electricity_usd_kwh: 0.168,
    });
  });

  it.each([
    ['APU000074714_to_2023-11.csv', 'gasoline_usd_gal: energy.gas-price needs gas_usd_therm'],
    ['APU000072610_to_2023-11.csv', 'electricity_usd_kwh: energy.gas-price needs gas_usd_therm'],
    ['CPIAUCSL_to_2023-11.csv', 'CPIAUCSL: feeds no signal'],
  ])('refuses by name: %s', (name, message) => {
    expect(() => fred(table(name))).toThrow(message);
  });
});
