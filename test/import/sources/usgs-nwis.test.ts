import { describe, expect, it } from 'vitest';
import { ImportError } from '../../../compiler/import/payload.ts';
import { decodeEntities } from '../../../compiler/import/sources/usgs-nwis/nwis-series.ts';
import { usgsNwis } from '../../../compiler/import/sources/usgs-nwis/usgs-nwis.ts';
import { parseReading } from '../../../compiler/stages/intake/reading.ts';
import { builtinEntry } from '../../builtin-rows.ts';
import { PAYLOADS, readAs } from '../recorded.ts';

const note = {
  url: 'https://waterservices.usgs.gov/nwis/iv/',
  fetched_at: '2026-11-20T11:00:00Z',
  http_status: 200,
};
type Note = Parameters<typeof usgsNwis.read>[0]['note'];
const importGauges = (bytes: Uint8Array, given: Note, subject = given.url) =>
  usgsNwis.read({ bytes, note: given, subject });

type Point = [value: string | null, time: string, ...qualifiers: string[]];

interface SeriesOver {
  readonly site?: string;
  readonly name?: string;
  readonly parameter?: string;
  readonly statistic?: string;
  readonly methods?: Record<string, Point[]>;
}

function series(points: Point[], over: SeriesOver = {}) {
  const { site = '03336645', name = 'RIVER AT TOWN', parameter = '00065' } = over;
  const values = Object.entries(over.methods ?? { '': points }).map(([method, own]) => ({
    method: [{ methodDescription: method }],
    value: own.map(([value, dateTime, ...qualifiers]) => ({ value, qualifiers, dateTime })),
  }));
  const optionCode = over.statistic ?? '00000';
  return {
    sourceInfo: { siteName: name, siteCode: [{ value: site }] },
    variable: {
      variableCode: [{ value: parameter }],
      noDataValue: -999999.0,
      options: { option: [{ name: 'Statistic', optionCode }] },
    },
    values,
  };
}

const bytesOf = (...timeSeries: unknown[]) =>
  Buffer.from(JSON.stringify({ value: { timeSeries } }));

function feature(value: string | null, time: string, over: Record<string, unknown> = {}) {
  const properties = {
    monitoring_location_id: 'USGS-06904500',
    parameter_code: '00065',
    statistic_id: '00011',
    time_series_id: 'b36569',
    approval_status: 'Provisional',
    qualifier: null,
    time,
    value,
    ...over,
  };
  return { type: 'Feature', properties };
}
const ogcBytes = (...features: unknown[]) =>
  Buffer.from(JSON.stringify({ type: 'FeatureCollection', features }));

function readings(bytes: Uint8Array, signal = 'hydrology.river-level') {
  return importGauges(bytes, note).readings.get(signal) ?? [];
}

describe('usgs-nwis: read() of WaterML', () => {
  it('takes every point as text numbers at its own offset, which intake accepts', () => {
    const bytes = bytesOf(
      series([
        ['0.95', '2026-09-15T04:45:00.000-06:00', 'P'],
        ['-0.20', '2026-09-15T06:45:00.000-05:00', 'A', 'e'],
      ]),
      series([['42.3', '2026-09-15T04:45:00.000-06:00', 'P']], { parameter: '00060' }),
    );
    const stage = readings(bytes);
    expect(stage.map(({ observed_at, current }) => [observed_at, current.stage_ft])).toEqual([
      ['2026-09-15T10:45:00Z', 0.95],
      ['2026-09-15T11:45:00Z', -0.2],
    ]);
    expect(stage[1]?.grade).toBe('approved, estimated');
    const flow = readings(bytes, 'hydrology.streamflow');
    expect(flow[0]).toMatchObject({
      entity: '03336645',
      entity_name: 'RIVER AT TOWN',
      collected_at: note.fetched_at,
      current: { discharge_cfs: 42.3 },
      source_tier: 'T1',
      qualifiers: ['P'],
      grade: 'provisional, subject to revision',
    });
    expect(parseReading(flow[0], {}, builtinEntry('hydrology.streamflow'))).toHaveProperty('ok');
  });

  it('moves with a swapped offset, because no zone name is used', () => {
    const [reading] = readings(bytesOf(series([['1', '2026-09-15T04:45:00.000+06:00']])));
    expect(reading?.observed_at).toBe('2026-09-14T22:45:00Z');
  });

  it('steps back over -999999 at the end, whatever the way it is written', () => {
    const bytes = bytesOf(
      series([
        ['3.93', '2026-09-15T04:45:00.000-06:00', 'P'],
        ['-999999', '2026-09-15T05:00:00.000-06:00', 'P', 'Ice'],
        ['-999999.0', '2026-09-15T05:15:00.000-06:00', 'P', 'Eqp'],
        ['', '2026-09-15T05:30:00.000-06:00'],
        [null, '2026-09-15T05:45:00.000-06:00'],
        ['***', '2026-09-15T06:00:00.000-06:00'],
      ]),
    );
    const { readings: all, skipped } = importGauges(bytes, note);
    expect(all.get('hydrology.river-level')).toHaveLength(1);
    expect(skipped.map(({ reason, count }) => [reason, count])).toEqual([
      ['empty value', 2],
      ['no data (***)', 1],
      ['no data (P, Eqp)', 1],
      ['no data (P, Ice)', 1],
    ]);
  });

  it('takes a daily mean at its date, and no other daily statistic', () => {
    const daily = (statistic: string) =>
      series(
        [
          ['466', '2020-02-14T00:00:00.000', 'P'],
          ['362', '2020-02-15T00:00:00.000', 'P'],
        ],
        { parameter: '00060', statistic },
      );
    const list = readings(bytesOf(daily('00003'), daily('00001')), 'hydrology.streamflow');
    expect(list.map(({ observed_at, current }) => [observed_at, current.discharge_cfs])).toEqual([
      ['2020-02-14T00:00:00Z', 466],
      ['2020-02-15T00:00:00Z', 362],
    ]);
    expect(list[0]?.scope).toContain('daily mean');
    expect(() => importGauges(bytesOf(daily('00001')), note)).toThrow('statistic "00001"');
  });

  it('never merges another datum into the stage', () => {
    const other = series([['134.21', '2026-06-01T00:00:00.000Z']], { parameter: '72375' });
    expect(() => importGauges(bytesOf(other), note)).toThrow('parameter 72375 is not used');
  });

  it('takes the primary method of two, and neither of two equal ones', () => {
    const at = '2026-09-15T04:45:00.000Z';
    const primary = series([], { methods: { Primary: [['1', at]], '[backup]': [['2', at]] } });
    expect(readings(bytesOf(primary)).map(({ current }) => current.stage_ft)).toEqual([1]);
    const equal = series([], { methods: { '[left]': [['1', at]], '[right]': [['2', at]] } });
    expect(() => importGauges(bytesOf(equal), note)).toThrow('none of them primary');
  });

  it('I55: takes no backup sensor for a primary one that cannot be read', () => {
    const at = '2026-09-15T04:45:00.000Z';
    const number: Point = [13.6 as unknown as string, at];
    const other = series([['3', at]], { site: '01491000' });
    for (const primary of ['Primary', '']) {
      const methods = { [primary]: [number], '[backup]': [['2', at]] as Point[] };
      const bytes = bytesOf(series([], { methods }), other);
      const { readings: all, skipped } = importGauges(bytes, note);
      expect(all.get('hydrology.river-level')?.map(({ entity }) => entity)).toEqual(['01491000']);
      const reason = 'a point of 00065 that cannot be read; no point is used';
      expect(skipped).toContainEqual({ subject: '03336645', reason, count: 1 });
    }
  });

  it('looks at many sensors of one gauge in one pass', () => {
    const one = series([]);
    const values = Array.from({ length: 150_000 }, () => ({ value: [1] }));
    const good = series([['1', '2026-09-15T04:45:00Z']], { site: '01491000' });
    const bytes = bytesOf({ ...one, values }, good);
    // One look at all the others for each would be 22 thousand million: the test would not end.
    const { skipped } = importGauges(bytes, note);
    const reason = '150000 series of 00065, none of them primary';
    expect(skipped).toEqual([{ subject: '03336645', reason, count: 1 }]);
  });

  it('takes the same point twice as one, and no series with two values at one time', () => {
    const at = '2026-09-15T04:45:00.000Z';
    expect(
      readings(
        bytesOf(
          series([
            ['1', at],
            ['1', at],
          ]),
        ),
      ),
    ).toHaveLength(1);
    expect(() =>
      importGauges(
        bytesOf(
          series([
            ['1', at],
            ['2', at],
          ]),
        ),
        note,
      ),
    ).toThrow('two values');
  });

  it('knows -999999 for no data also where a series names another code', () => {
    const other = series([
      ['-999999', '2026-09-15T05:00:00Z'],
      ['-1', '2026-09-15T06:00:00Z'],
      ['0.5', '2026-09-15T07:00:00Z'],
    ]);
    const bytes = bytesOf({ ...other, variable: { ...other.variable, noDataValue: -1 } });
    expect(readings(bytes).map(({ current }) => current.stage_ft)).toEqual([0.5]);
  });

  it.each([
    ['1', '2026-09-15T04:45:00.000', 'has no offset'],
    ['1', '2026-02-30T04:45:00.000Z', 'does not exist'],
    ['1', '15/09/2026 04:45', 'has no offset'],
    ['1', '2026-11-20T11:00:01.000Z', 'observed after the fetch'],
    ['13,6', '2026-09-15T04:45:00Z', 'is not a number'],
    ['high', '2026-09-15T04:45:00Z', 'is not a number'],
    ['13.6 ft', '2026-09-15T04:45:00Z', 'is not a number'],
    [13.6 as unknown as string, '2026-09-15T04:45:00Z', 'cannot be read'],
  ])('I55: uses no point of a series with %s at %s', (...[value, time, why]) => {
    const good: Point = ['2', '2026-09-15T03:45:00Z'];
    const bad = series([good, [value, time]], { site: '01491000' });
    const { readings: all, skipped } = importGauges(bytesOf(bad, series([good])), note);
    const list = all.get('hydrology.river-level') ?? [];
    expect(list.map(({ entity }) => entity)).toEqual(['03336645']);
    expect(skipped).toMatchObject([
      { subject: '01491000', reason: expect.stringContaining(`${why}`) },
    ]);
    expect(skipped[0]?.reason).toContain('no point is used');
  });

  it('keeps a good site beside one with a strange number; unknown members do not matter', () => {
    const good = { ...series([['1', '2026-09-15T04:45:00Z']]), brandNew: [1] };
    const { readings: all, skipped } = importGauges(
      bytesOf(series([['1', '2026-09-15T04:45:00Z']], { site: '../x' }), good),
      note,
    );
    expect(all.get('hydrology.river-level')).toHaveLength(1);
    expect(skipped.map(({ subject }) => subject)).toEqual(['../x']);
  });

  it('I55: refuses an answer with a series that names nobody', () => {
    const good = series([['1', '2026-09-15T04:45:00Z']]);
    expect(() => importGauges(bytesOf({ sourceInfo: {} }, good), note)).toThrow(ImportError);
    expect(() => importGauges(bytesOf(good, { sourceInfo: {} }), note)).toThrow(
      'value.timeSeries.1.sourceInfo.siteCode',
    );
  });

  it.each([
    ['00065', 'ft', true],
    ['00065', 'm', false],
    ['00060', 'ft3/s', true],
    ['00060', 'ft^3/s', true],
    ['00060', 'm3/s', false],
    ['00060', 'ft', false],
    ['constructor', 'ft', false],
  ])('takes %s in %s: %s', (parameter, unitCode, isTaken) => {
    const one = series([['1', '2026-09-15T04:45:00Z']], { parameter });
    const other = series([['2', '2026-09-15T04:45:00Z']], { site: '01491000' });
    const bytes = bytesOf({ ...one, variable: { ...one.variable, unit: { unitCode } } }, other);
    const { readings: all, skipped } = importGauges(bytes, note);
    const sites = [...all.values()].flat().map(({ entity }) => entity);
    expect(sites.includes('03336645')).toBe(isTaken);
    const why = /^00/.test(parameter) ? `"${unitCode}", not in` : `${parameter} is not used`;
    expect(skipped.map(({ reason }) => reason.includes(why))).toEqual(isTaken ? [] : [true]);
  });

  it('leaves out the site of another agency', () => {
    const one = series([['1', '2026-09-15T04:45:00Z']]);
    const siteCode = [{ value: '01491000', agencyCode: 'AZ014' }];
    const other = { ...one, sourceInfo: { siteName: 'X', siteCode } };
    const { skipped } = importGauges(bytesOf(one, other), note);
    expect(skipped).toEqual([{ subject: '01491000', reason: 'not a USGS site', count: 1 }]);
  });

  it.each([
    ['sites=03336645', true],
    ['sites=01491000,03336645', true],
    ['sites=USGS:03336645', true],
    ['monitoring_location_id=USGS-03336645', true],
    ['stateCd=il', true],
    ['sites=01491000', false],
    ['monitoring_location_id=USGS-01491000', false],
  ])('takes the site of an answer to %s: %s', (query, isTaken) => {
    const bytes = bytesOf(series([['1', '2026-09-15T04:45:00Z']]));
    const of = () => importGauges(bytes, { ...note, url: `${note.url}?${query}` });
    if (isTaken) expect(of().readings.size).toBe(1);
    else expect(of).toThrow('it holds "03336645", which its address does not ask for');
  });

  it.each([
    ['RIVER TO BUY', '"BUY" forecasts, advises or recommends; store a description only'],
    ['RIVER\u202e TA', 'U+202E is hidden or changes how the text reads; store it without'],
    ['RIVER\u0007', 'U+0007 is hidden or changes how the text reads; store it without'],
  ])('I63: leaves out the name %j with its reason, and nothing else', (name, fault) => {
    const at: Point = ['1', '2026-09-15T04:45:00Z'];
    const bytes = bytesOf(
      series([at], { name }),
      series([at], { site: '03336890', name: 'OTHER' }),
    );
    const { readings: all, skipped } = readAs('usgs-nwis', bytes, note);
    const named = all.get('hydrology.river-level')?.map((one) => [one.entity, one.entity_name]);
    expect(named).toEqual([
      ['03336645', undefined],
      ['03336890', 'OTHER'],
    ]);
    const reason = `entity_name left out: ${fault}`;
    expect(skipped).toEqual([{ subject: '03336645', reason, count: 1 }]);
  });

  it('accepts empty series beside full ones, and refuses nothing but empty ones', () => {
    const full = series([['1', '2026-09-15T04:45:00Z']], { site: '01491000' });
    expect(readings(bytesOf(series([]), full))).toHaveLength(1);
    expect(() => importGauges(bytesOf(series([])), note)).toThrow('empty series of 00065');
  });

  const whole = bytesOf(series([['1', '2026-09-15T04:45:00Z']])).toString();
  it.each([
    ['cut in half', whole.slice(0, whole.length / 2), 'not whole JSON'],
    ['an HTML page', '\n<html><body>Service unavailable</body></html>', 'HTML'],
    ['tab-separated text', '# US Geological Survey\nagency_cd\tsite_no', 'a tab-delimited answer'],
    ['statistics', '#\n# This file contains USGS Daily Statistics\n#', 'percentiles of the days'],
    ['peaks', '# This file contains the annual peak streamflow data.', 'largest flow of each year'],
    ['sites', '#\n# The Site File stores location', 'names and positions of sites'],
    [
      'a list of sites of the newer service',
      '{"type":"FeatureCollection","features":[{"properties":{"monitoring_location_number":"1"}}]}',
      'names and positions of sites',
    ],
    ['an error object', '{"error":{"message":"over rate limit"}}', 'neither value.timeSeries'],
    ['empty', '', 'empty'],
  ])('refuses a payload that is %s', (_name, text, message) => {
    expect(() => importGauges(Buffer.from(text), note)).toThrow(ImportError);
    expect(() => importGauges(Buffer.from(text), note)).toThrow(message);
  });
});

describe('usgs-nwis: read() of OGC features', () => {
  it('takes a feature as one point of its series, in time order', () => {
    const bytes = ogcBytes(
      feature('1.76', '2025-01-01T00:15:00+00:00'),
      feature('1.75', '2025-01-01T00:00:00+00:00', {
        approval_status: 'Approved',
        qualifier: ['ESTIMATED', 'EVENT', 'constructor'],
      }),
    );
    const list = readings(bytes);
    expect(list.map(({ observed_at, current }) => [observed_at, current.stage_ft])).toEqual([
      ['2025-01-01T00:00:00Z', 1.75],
      ['2025-01-01T00:15:00Z', 1.76],
    ]);
    expect(list[0]).toMatchObject({
      entity: '06904500',
      qualifiers: ['A', 'e', 'EVENT', 'constructor'],
    });
    expect(list[0]).not.toHaveProperty('entity_name');
  });

  it('takes a daily mean by its bare date', () => {
    const daily = { parameter_code: '00060', statistic_id: '00003' };
    const [reading] = readings(
      ogcBytes(feature('20.2', '2025-12-26', daily)),
      'hydrology.streamflow',
    );
    expect(reading?.observed_at).toBe('2025-12-26T00:00:00Z');
  });

  it('I55: refuses features that cannot be read, and fewer or more than it announces', () => {
    const at = '2025-01-01T00:00:00Z';
    const good = feature('1', at);
    const number = feature(1 as unknown as string, at);
    expect(() => importGauges(ogcBytes(good, number), note)).toThrow('features.1.properties.value');
    const nobody = feature('1', at, { monitoring_location_id: undefined });
    expect(() => importGauges(ogcBytes(good, nobody), note)).toThrow('monitoring_location_id');
    const of = (numberReturned: number) =>
      Buffer.from(JSON.stringify({ type: 'FeatureCollection', features: [good], numberReturned }));
    expect(() => importGauges(of(2), note)).toThrow('announces 2 features and holds 1');
    expect(() => importGauges(of(0), note)).toThrow('announces 0 features and holds 1');
    expect(readings(of(1))).toHaveLength(1);
    const metres = feature('1', at, { unit_of_measure: 'm' });
    expect(() => importGauges(ogcBytes(metres), note)).toThrow('00065 in "m", not in ft');
  });

  it('leaves out other agencies, and two series of one meaning', () => {
    const at = '2025-01-01T00:00:00Z';
    const other = feature('1', at, { monitoring_location_id: 'AZ014-06904500' });
    expect(() => importGauges(ogcBytes(other), note)).toThrow('not a USGS site');
    const two = ogcBytes(feature('1', at), feature('2', at, { time_series_id: 'other' }));
    expect(() => importGauges(two, note)).toThrow('none of them primary');
  });
});

describe('decodeEntities()', () => {
  it('decodes numbers and names', () => {
    expect(decodeEntities('ft&#179;/s &amp; &#xB3; &quot;x&quot;')).toBe('ft³/s & ³ "x"');
  });

  it('leaves what is no character as it is', () => {
    for (const text of ['&#0;', '&#xD800;', '&#x110000;', '&madeup;', 'A & B', '&#;']) {
      expect(decodeEntities(text)).toBe(text);
    }
  });
});

describe.each(PAYLOADS)('recorded answers: $name', ({ recorded }) => {
  const read = (name: string, fetched_at: string) =>
    importGauges(recorded(`usgs-nwis/${name}`), { ...note, fetched_at }).readings;

  it('gives the worked values of three rivers', () => {
    const all = read('iv_03336645_03336890_03336900_2026-09-15.json', '2026-09-15T11:00:00Z');
    const values = (signal: string) =>
      all
        .get(signal)
        ?.map((item) => [item.entity, item.observed_at, ...Object.values(item.current)]);
    const at = '2026-09-15T10:45:00Z';
    expect(values('hydrology.streamflow')).toEqual([
      ['03336645', at, 42.3],
      ['03336890', at, 4.01],
      ['03336900', at, 29.2],
    ]);
    expect(values('hydrology.river-level')).toEqual([
      ['03336645', at, 0.95],
      ['03336890', at, 3.93],
      ['03336900', at, 3.17],
    ]);
  });

  it('gives the daily means of the Choptank', () => {
    const all = read('dv_01491000_01645000_2020-02-14.json', '2020-02-20T21:07:37Z');
    const flow = all.get('hydrology.streamflow')?.filter(({ entity }) => entity === '01491000');
    expect(flow?.map(({ current }) => current.discharge_cfs)).toEqual([466, 362]);
  });

  it('reads both newer collections', () => {
    const stage = read('ogc_continuous_2026-08.json', '2026-08-08T00:00:00Z');
    expect(stage.get('hydrology.river-level')?.[0]?.current).toEqual({ stage_ft: 1.76 });
    const daily = read('ogc_daily_2026-08.json', '2026-08-08T00:00:00Z');
    expect(daily.get('hydrology.streamflow')?.[0]?.current).toEqual({ discharge_cfs: 20.2 });
  });

  it.each([
    ['iv_01491000_01645000_2019-02-14.json', '2019-02-15T00:00:00Z'],
    ['ogc_latest-continuous_2026-08.json', '2026-08-08T00:00:00Z'],
  ])('reads %s', (name, fetched_at) => {
    const all = read(name, fetched_at);
    expect([...all.keys()].sort()).toEqual(['hydrology.river-level', 'hydrology.streamflow']);
  });

  it.each([
    ['dv_50059000_reservoir_2026-06-01_07.json', 'parameter 72375 is not used'],
    ['ogc_latest-daily_2026-08.json', 'parameter 91061 is not used'],
    ['ogc_monitoring-locations_2026-08.json', 'names and positions of sites'],
    ['ogc_observationNormals_2026-08.json', 'statistics of the days of a year'],
    ['ogc_peaks_2026-08.json', 'the largest values of each year'],
    ['ogc_peaks_pr_2026-08.json', 'the largest values of each year'],
    ['peaks_01594440.rdb', 'the largest flow of each year'],
    ['site_01491000_01645000.rdb', 'names and positions of sites'],
    ['stats_daily_percentiles_01491000_01645000.rdb', 'percentiles of the days of a year'],
  ])('refuses %s for what it is', (name, message) => {
    expect(() => read(name, '2026-08-08T00:00:00Z')).toThrow(message);
  });
});
