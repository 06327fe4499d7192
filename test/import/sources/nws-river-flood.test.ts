import { describe, expect, it } from 'vitest';
import { signalOf } from '../../../compiler/contract/lines.ts';
import { ImportError } from '../../../compiler/import/payload.ts';
import { bandOf, standardRuler } from '../../../compiler/stages/derive/ruler.ts';
import { type FloodText, floodSegment, floodText } from '../floods.ts';
import { PAYLOADS, readAs } from '../recorded.ts';

const NOTE = { url: 'https://api.weather.gov/products/1', fetched_at: '2026-11-20T00:00:00Z' };
const LEVEL = 'hydrology.river-level';
const readings = (payload: unknown) =>
  readAs('nws-river-flood', payload, NOTE).readings.get(LEVEL) ?? [];
const one = (over: FloodText = {}) => readings(floodText(floodSegment(over)))[0];

describe('nws-river-flood', () => {
  it('takes the stage of a gauge with its flood stage', () => {
    expect(one()).toMatchObject({
      entity: 'EXMS1',
      entity_name: 'Example River near Sample',
      observed_at: '2019-12-28T00:00:00Z',
      collected_at: NOTE.fetched_at,
      current: { stage_ft: 13.6, flooding_occurring: 'minor' },
      thresholds: { flood: 10 },
      thresholds_agency: 'NOAA National Weather Service',
      sources: [{ value: 13.6 }],
    });
  });

  it.each([
    ['At 7:30 PM Friday the stage was 13.6 feet.', '2019-12-28T00:30:00Z'],
    ['At 8:30 PM CST Thursday the stage was 13.6 feet.', '2019-12-27T02:30:00Z'],
    ['At 12 AM Friday the stage was 13.6 feet.', '2019-12-27T05:00:00Z'],
    ['At 12 PM Friday the stage was 13.6 feet.', '2019-12-27T17:00:00Z'],
    ['At 9 PM Friday the stage was 13.6 feet.', '2019-12-21T02:00:00Z'],
  ])('puts "%s" at the newest such hour before the issue', (stage, at) => {
    expect(one({ stage })?.observed_at).toBe(at);
  });

  it('keeps a stage below 0, and one without a flood stage', () => {
    const reading = one({
      stage: 'At 7 PM Friday the stage was -0.4 feet.',
      flood: '',
      occurring: '',
    });
    expect(reading?.current).toEqual({ stage_ft: -0.4 });
    expect(reading).not.toHaveProperty('thresholds');
  });

  it('reads each segment by itself', () => {
    const broken = floodSegment({ gauge: 'BADS1', stage: 'At noon the stage was high.' });
    const text = floodText(floodSegment(), broken, floodSegment({ gauge: 'TWOS1' }));
    const { skipped } = readAs('nws-river-flood', text, NOTE);
    expect(readings(text).map(({ entity }) => entity)).toEqual(['EXMS1', 'TWOS1']);
    expect(skipped).toEqual([
      { subject: 'BADS1', reason: 'not one sentence "At … the stage was … feet."', count: 1 },
    ]);
  });

  it.each<[string, FloodText, string]>([
    [
      'a stage in metres',
      { stage: 'At 7 PM Friday the stage was 4.1 meters.' },
      'not one sentence',
    ],
    ['two stages', { occurring: 'At 8 PM Friday the stage was 13.7 feet.' }, 'not one sentence'],
    [
      'an hour that does not exist',
      { stage: 'At 19 PM Friday the stage was 13.6 feet.' },
      'no such time',
    ],
    [
      'a day that does not exist',
      { stage: 'At 7 PM Someday the stage was 13.6 feet.' },
      'no such time',
    ],
    ['an unknown zone', { stage: 'At 7 PM XYZ Friday the stage was 13.6 feet.' }, 'no such time'],
    ['two flood stages', { occurring: 'Flood stage is 12.0 feet.' }, 'two flood stages'],
    ['a gauge of another form', { gauge: 'river' }, 'not one gauge'],
  ])('I55: refuses a statement with %s', (_name, over, message) => {
    expect(() => one(over)).toThrow(ImportError);
    expect(() => one(over)).toThrow(message);
  });

  it.each([
    ['is cut off', floodText(floodSegment()).split('$$')[0], 'it is cut off'],
    [
      'was issued after the fetch',
      floodText(floodSegment()).replaceAll('2019', '2029').replaceAll('Fri Dec', 'Thu Dec'),
      'after its fetch',
    ],
    [
      'has another heading',
      floodText(floodSegment()).replace('280139', '270139'),
      'its heading says 270139',
    ],
    [
      'is another product',
      floodText(floodSegment()).replace('FLSCHS', 'TORCHS'),
      'it is TORCHS, one tornado warning',
    ],
    ['is no product', '{"productText": ""}', 'no flood warning or statement'],
    ['is a page of markup', '<html></html>', 'HTML'],
  ])('refuses a text that %s', (_name, text, message) => {
    expect(() => readings(text)).toThrow(ImportError);
    expect(() => readings(text)).toThrow(message);
  });
});

describe.each(PAYLOADS)('recorded statements: $name', ({ recorded }) => {
  const file = (name: string) => readings(recorded(`nws-river-flood/${name}`))[0];
  const signal = signalOf(LEVEL);

  it.each<[string, string, number, number, string]>([
    ['flw_chs_jams1_2019-12-16.txt', '2019-12-16T10:00:00Z', 9.9, 10, 'below-flood'],
    ['flw_chs_jams1_2019-12-27.txt', '2019-12-28T00:00:00Z', 13.6, 10, 'flood'],
    ['flw_chs_jams1_2020-01-11.txt', '2020-01-12T01:00:00Z', 13.1, 10, 'flood'],
    ['flw_chs_jams1_2020-01-24.txt', '2020-01-25T01:00:00Z', 14.2, 10, 'flood'],
    ['flw_chs_jams1_2020-02-06.txt', '2020-02-06T07:00:00Z', 12.1, 10, 'flood'],
    ['flw_chs_jams1_2020-02-16.txt', '2020-02-17T01:00:00Z', 21.3, 10, 'flood'],
    ['flw_chs_jams1_2020-03-04.txt', '2020-03-04T15:00:00Z', 15, 10, 'flood'],
    ['flw_chs_cnog1_2020-03-05T0137Z.txt', '2020-03-05T01:00:00Z', 10, 11, 'below-flood'],
    ['flw_chs_cnog1_2020-03-05T0141Z.txt', '2020-03-05T01:00:00Z', 10, 11, 'below-flood'],
    ['flw_meg_abdm6_2024-02-10.txt', '2024-02-11T02:30:00Z', 8.7, 13, 'below-flood'],
    ['fls_meg_abdm6_2024-02-11.txt', '2024-02-11T11:30:00Z', 10.4, 13, 'below-flood'],
  ])('reads %s', (name, ...[at, stage_ft, flood, band]) => {
    const reading = file(name);
    expect(reading).toMatchObject({
      observed_at: at,
      current: { stage_ft },
      thresholds: { flood },
    });
    expect(reading?.entity).toBe(/_([a-z]{4}\d)_/.exec(name)?.[1]?.toUpperCase());
    expect(signal && reading && bandOf(signal, reading)).toBe(band);
  });

  it('is at 150 percent of the flood stage on 2020-03-04', () => {
    const reading = file('flw_chs_jams1_2020-03-04.txt');
    expect(signal && reading && standardRuler(signal, reading)).toMatchObject({
      pct_to_action: 150,
    });
  });

  it('gives the same reading for two products with one observation', () => {
    const [a, b] = ['0137Z', '0141Z'].map((time) => file(`flw_chs_cnog1_2020-03-05T${time}.txt`));
    expect(a).toEqual({ ...b, entity_name: a?.entity_name, evidence: a?.evidence });
    expect(a?.evidence?.sha256).not.toBe(b?.evidence?.sha256);
    expect(a?.entity_name).toBe('Canoochee River near Claxton');
  });
});
