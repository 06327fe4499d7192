import { describe, expect, it } from 'vitest';
import { builtinLine } from '../../../compiler/contract/catalog/builtin.ts';
import { readPayload } from '../../../compiler/import/import-command.ts';
import type { FetchNote } from '../../../compiler/import/payload.ts';
import { FIRE_BOXES } from '../../../compiler/import/sources/nasa-firms/nasa-firms.ts';
import { sourceOf } from '../../../compiler/import/sources.ts';
import { FIRES_NOTE, fireList } from '../fires.ts';
import { PAYLOADS } from '../recorded.ts';

const WILDFIRE_REGIONS = builtinLine('wildfire').entities;

const read = (text: string, note: Partial<FetchNote> = {}) =>
  readPayload(sourceOf('nasa-firms'), {
    bytes: Buffer.from(text),
    note: { ...FIRES_NOTE, bytes: Buffer.byteLength(text), ...note },
    subject: 'payload',
  }).readings.get('wildfire.active-fire') ?? [];
const of = (entity: string, text: string) =>
  read(text).find((reading) => reading.entity === entity);

describe('nasa-firms', () => {
  it('counts what each region holds in 24 hours before the newest row, and 0 where it holds nothing', () => {
    const text = fireList([
      { confidence: '80' },
      { at: [38.6, -121], time: '0912', power: '0.5', satellite: 'A' },
      { at: [38.7, -121], day: '2026-11-19', time: '1000', power: '100' },
    ]);
    const readings = read(text);
    expect(readings.map(({ entity }) => entity)).toEqual([...WILDFIRE_REGIONS].sort());
    const california = of('us-california', text);
    expect(california).toMatchObject({
      entity_name: 'California, United States',
      observed_at: '2026-11-20T10:00:00Z',
      collected_at: FIRES_NOTE.fetched_at,
      source_ref: 'https://firms.modaps.eosdis.nasa.gov/active_fire/',
      source_tier: 'T1',
    });
    expect(california?.current).toEqual({
      detections_24h_count: 2,
      frp_sum_mw: 13,
      frp_max_mw: 12.5,
      high_confidence_count: 1,
      file_detections_count: 3,
      file_frp_sum_mw: 113,
    });
    expect(of('au-victoria', text)?.current).toMatchObject({
      detections_24h_count: 0,
      frp_sum_mw: 0,
      frp_max_mw: null,
    });
    expect(california?.scope).toContain('latitude 32.5 to 42, longitude -124.5 to -114');
  });

  it('has a box for every region of the line and no other', () => {
    expect(Object.keys(FIRE_BOXES).sort()).toEqual([...WILDFIRE_REGIONS].sort());
  });

  it('adds no power where one pixel has none; a power of 0 is one', () => {
    const open = of('us-california', fireList([{}, { at: [38.6, -121], power: '' }]));
    expect(open?.current).toMatchObject({
      detections_24h_count: 2,
      frp_sum_mw: null,
      frp_max_mw: null,
    });
    const zero = of('us-california', fireList([{ power: '0' }]));
    expect(zero?.current).toMatchObject({ frp_sum_mw: 0, frp_max_mw: 0 });
  });

  it.each([
    ['a time that lost its zeros', { time: '20' }, '2.acq_time: not a time'],
    ['an hour that does not exist', { time: '2400' }, '2.acq_time: not a time'],
    ['a day that does not exist', { day: '2026-02-30' }, '2.acq_date: not a day'],
    ['a row after the fetch', { time: '1106' }, 'after its fetch'],
    ['another instrument', { satellite: 'N' }, '2.satellite'],
    ['a confidence in words', { confidence: 'nominal' }, '2.confidence: not 0 to 100'],
    ['a latitude off the globe', { at: [138, 20] as const }, '2.latitude'],
    ['a power below zero', { power: '-1' }, '2.frp'],
    ['a power in another form', { power: '1,5' }, 'not a whole table'],
  ])('I55: refuses %s, since no region could be counted', (_name, fire, message) => {
    expect(() => read(fireList([fire]))).toThrow(message);
  });

  it('I55: refuses a file that is not the whole world of a day', () => {
    const url = (name: string) => FIRES_NOTE.url.replace('MODIS_C6_1_Global_24h', name);
    expect(read(fireList([]), { url: url('MODIS_C6_1_Global_48h') })).toHaveLength(12);
    for (const name of ['MODIS_C6_1_Europe_24h', 'SUOMI_VIIRS_C2_Global_24h']) {
      expect(() => read(fireList([]), { url: url(name) })).toThrow('no global list of MODIS');
    }
    const short = fireList(
      [
        { at: [20, 10], time: '0000' },
        { at: [20, 11], time: '1000' },
      ],
      [],
    );
    expect(() => read(short)).toThrow('cover less than 20 hours');
    expect(() => read(fireList([], []))).toThrow('cover less than 20 hours');
    expect(() => read(fireList([]), { fetched_at: '2026-11-20T22:01:00Z' })).toThrow('stale');
  });

  it('I55: refuses a list of which nothing shows that it is whole, wherever it is cut', () => {
    const text = fireList([{}, { at: [38.6, -121] }, { at: [-33, 149] }]);
    const bytes = Buffer.byteLength(text);
    expect(read(text, { bytes })).toHaveLength(12);
    expect(() => read(text, { bytes: undefined })).toThrow('nothing says that the list is whole');
    for (const { index } of [...text.matchAll(/\n/g)].slice(0, -1)) {
      const cut = text.slice(0, index + 1);
      expect(() => read(cut, { bytes })).toThrow(
        `bytes and its note says ${bytes}; fetch it again`,
      );
      expect(() => read(cut, { bytes: undefined })).toThrow('whole');
    }
  });

  it('I55: refuses a row twice, a column that is absent, and a page of markup', () => {
    expect(() => read(fireList([{}, {}]))).toThrow('twice');
    expect(() => read(fireList([{}]).replace('frp', 'power'))).toThrow('no column "frp"');
    expect(() => read('<html>busy</html>')).toThrow('HTML');
  });
});

describe.each(PAYLOADS)('recorded file: $name', ({ isWhole, recorded }) => {
  const text = () =>
    recorded('nasa-firms/MODIS_C6_1_24h_2022-02-26_27_wildfire-regions.csv').toString('utf8');
  const readings = () => read(text(), { fetched_at: '2022-02-27T23:00:00Z' });

  it('gives the worked counts of the file, and those of its last 24 hours', () => {
    const counts = Object.fromEntries(
      readings().map(({ entity, current }) => [
        entity,
        [current.file_detections_count, current.detections_24h_count],
      ]),
    );
    const worked = {
      'us-california': [3, 0],
      'us-pacific-northwest': [4, 3],
      'us-southwest': [28, 21],
      'us-rockies': [1, 0],
      'canada-bc': [2, 1],
      'canada-alberta': [2, 1],
      'au-nsw': [13, 8],
      'au-victoria': [0, 0],
      'med-greece': [11, 0],
      iberia: [26, 13],
      'amazon-brazil': [371, 153],
      'siberia-russia': [10, 7],
    };
    // Counted by hand in our own file, of 42 detections.
    const ours = {
      'us-california': [0, 0],
      'us-pacific-northwest': [1, 0],
      'us-southwest': [7, 4],
      'us-rockies': [1, 0],
      'canada-bc': [2, 1],
      'canada-alberta': [2, 1],
      'au-nsw': [4, 2],
      'au-victoria': [0, 0],
      'med-greece': [2, 0],
      iberia: [4, 2],
      'amazon-brazil': [15, 8],
      'siberia-russia': [6, 4],
    };
    expect(counts).toEqual(isWhole ? worked : ours);
    const southwest = readings().find(({ entity }) => entity === 'us-southwest');
    expect(southwest?.current.file_frp_sum_mw).toBe(isWhole ? 1117.7 : 309.67);
    expect(southwest?.observed_at).toBe('2022-02-27T20:01:00Z');
  });

  it('I55: refuses it wherever it is cut at the end of a line', () => {
    const whole = { fetched_at: '2022-02-27T23:00:00Z', bytes: Buffer.byteLength(text()) };
    const lines = text().trimEnd().split('\n');
    for (const [at] of lines.entries()) {
      const cut = `${lines.slice(0, at).join('\n')}\n`;
      expect(() => read(cut, whole)).toThrow('fetch it again');
    }
  });

  it('refuses it cut in half, and fetched a day later', () => {
    const half = text().slice(0, text().lastIndexOf('\n', text().length / 2) + 1);
    expect(() => read(half, { fetched_at: '2022-02-27T23:00:00Z' })).toThrow('fetch it again');
    expect(() => read(text(), { fetched_at: '2022-02-28T23:00:00Z' })).toThrow('stale');
  });
});
