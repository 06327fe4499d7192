import { describe, expect, it } from 'vitest';
import { builtinLine } from '../../../compiler/contract/catalog/builtin.ts';
import { readPayload } from '../../../compiler/import/import-command.ts';
import { DROUGHT_STATES, STATE_CODES } from '../../../compiler/import/sources/usdm/usdm.ts';
import { sourceOf } from '../../../compiler/import/sources.ts';
import { areaNote, areas, shareNote, shares } from '../drought.ts';
import { bytesOf } from '../feed.ts';
import { PAYLOADS } from '../recorded.ts';

const DROUGHT_REGIONS = builtinLine('drought').entities;

const source = sourceOf('usdm');
const importOf = (rows: unknown, note = areaNote()) =>
  readPayload(source, { bytes: bytesOf(rows), note, subject: 'payload' });
const read = (rows: unknown, note = areaNote()) =>
  importOf(rows, note).readings.get('drought.status') ?? [];

/** Two large and one small state: the small one hardly counts. */
const MISSISSIPPI = [
  areas('AR', [53_000, 0, 0, 0, 0, 0]),
  areas('LA', [10_000, 42_000, 21_000, 0, 0, 0]),
  areas('MS', [0, 48_000, 48_000, 48_000, 10_500, 0]),
];
const WEEK = { mapDate: '2026-11-10T00:00:00', validStart: '2026-11-10T00:00:00' };

describe('usdm', () => {
  it('adds the areas of the states of a region, each class with what is worse', () => {
    const [region, ...others] = read(MISSISSIPPI);
    expect(others).toEqual([]);
    expect(region).toMatchObject({
      entity: 'us-lowermississippi',
      entity_name: 'Lower Mississippi',
      observed_at: '2026-11-17T12:00:00Z',
      source_tier: 'T1',
    });
    expect(region?.current).toEqual({
      dsci_index: 142.16,
      band: 'D0-abnormally-dry',
      none_pct: 41.18,
      d0_pct: 58.82,
      d1_pct: 45.1,
      d2_pct: 31.37,
      d3_pct: 6.86,
      d4_pct: 0,
    });
    expect(region?.scope).toContain('area of AR, LA, MS');
  });

  it.each([
    // The worked weeks of one county, as if it were a state.
    [[0, 100, 100, 0, 0, 0], 200, 'D1-moderate'],
    [[0, 100, 73.93, 0, 0, 0], 173.93, 'D1-moderate'],
    [[0, 100, 0, 0, 0, 0], 100, 'D0-abnormally-dry'],
    [[100, 0, 0, 0, 0, 0], 0, 'none'],
    [[50, 50, 49.9, 0, 0, 0], 99.9, 'D0-abnormally-dry'],
    [[50.1, 49.9, 49.9, 0, 0, 0], 99.8, 'none'],
    [[0, 100, 100, 100, 100, 100], 500, 'D4-exceptional'],
  ] as const)('takes shares of a region that is one state: %j gives %d', (classes, dsci, band) => {
    const [region] = read([shares('CA', classes)], shareNote('06'));
    expect(region?.entity).toBe('us-california');
    expect(region?.current).toMatchObject({ dsci_index: dsci, band });
  });

  it('turns classes without what is worse into classes with it', () => {
    const plain = shares('CA', [0, 26.07, 73.93, 0, 0, 0], { statisticFormatID: 2 });
    const [region] = read([plain], shareNote());
    expect(region?.current).toMatchObject({ d0_pct: 100, d1_pct: 73.93, dsci_index: 173.93 });
    expect(() => read([{ ...plain, statisticFormatID: 1 }], shareNote())).toThrow('worse class');
    expect(() => read([{ ...plain, statisticFormatID: 3 }], shareNote())).toThrow(
      'statisticFormatID',
    );
  });

  it('keeps every week that is whole, and skips one without a state', () => {
    const before = MISSISSIPPI.map((row) => ({ ...row, ...WEEK }));
    expect(read([...MISSISSIPPI, ...before]).map(({ observed_at }) => observed_at)).toEqual([
      '2026-11-10T12:00:00Z',
      '2026-11-17T12:00:00Z',
    ]);
    const { readings, skipped } = importOf([...MISSISSIPPI, ...before.slice(1)]);
    expect(readings.get('drought.status')).toHaveLength(1);
    expect(skipped).toEqual([
      { subject: 'us-lowermississippi', reason: 'a week without AR', count: 1 },
    ]);
  });

  it('makes no region of several states from shares, which say nothing of their size', () => {
    const rows = ['AR', 'LA', 'MS'].map((state) => shares(state, [0, 100, 50, 0, 0, 0]));
    expect(() => read(rows, shareNote())).toThrow('do not tell how large its states are');
  });

  it.each([
    ['a state twice', [...MISSISSIPPI, MISSISSIPPI[0]], 'a second time'],
    [
      'a day that is no Tuesday',
      [areas('CA', [5000, 5000, 0, 0, 0, 0], { mapDate: '2026-11-18T00:00:00' })],
      'not of the Tuesday',
    ],
    [
      'another area in another week',
      [...MISSISSIPPI, areas('AR', [530, 0, 0, 0, 0, 0], WEEK)],
      'has an area of 530, which was 53000',
    ],
    [
      'text that is no area',
      [{ ...areas('CA', [5000, 5000, 0, 0, 0, 0]), d0: '1.000,5' }],
      'not an area',
    ],
    ['shares where it was asked for areas', [shares('CA', [0, 100, 0, 0, 0, 0])], 'adds up to 100'],
    [
      'a week after the fetch',
      [
        areas('CA', [5000, 5000, 0, 0, 0, 0], {
          mapDate: '2026-11-24T00:00:00',
          validStart: '2026-11-24T00:00:00',
        }),
      ],
      'after its fetch',
    ],
    [
      'a row without a class',
      [{ ...areas('CA', [5000, 5000, 0, 0, 0, 0]), d3: undefined }],
      '0.d3',
    ],
    ['no rows', [], 'it is empty'],
    ['an error', { Message: 'An error has occurred.' }, 'not statistics of states'],
  ])('I55: refuses %s', (_name, rows, message) => {
    expect(() => read(rows)).toThrow(message);
  });

  it('refuses a state that its address does not ask for, and another kind of statistics', () => {
    expect(read(MISSISSIPPI, areaNote('05,22,28'))).toHaveLength(1);
    expect(() => read(MISSISSIPPI, areaNote('05,22'))).toThrow('is of MS');
    const of = (name: string) => {
      const url = areaNote().url.replace('GetDroughtSeverityStatisticsByArea', name);
      return () => read(MISSISSIPPI, { ...areaNote(), url });
    };
    expect(of('GetDroughtSeverityStatisticsByPopulation')).toThrow(
      'no statistics of states by area',
    );
    expect(of('GetDSCI')).toThrow('no statistics of states by area');
    expect(of('GetDroughtSeverityStatisticsByArea')).not.toThrow();
  });

  it('makes every region of the line of states that it can ask for, none of them twice', () => {
    expect(Object.keys(DROUGHT_STATES).sort()).toEqual([...DROUGHT_REGIONS].sort());
    const states = Object.values(DROUGHT_STATES).flat();
    expect(new Set(states).size).toBe(states.length);
    expect([...STATE_CODES.keys()].sort()).toEqual([...states].sort());
    expect(new Set(STATE_CODES.values()).size).toBe(states.length);
  });

  it('asks for the states of the regions that are wanted', () => {
    const now = Date.parse('2026-11-20T11:05:00Z');
    const ask = (entities: string[]) => source.fetch?.addresses({ entities, now });
    expect(ask(['us-rockies'])).toEqual([
      'https://usdmdataservices.unl.edu/api/StateStatistics/GetDroughtSeverityStatisticsByArea?aoi=08,30,56&startdate=10/23/2026&enddate=11/20/2026&statisticsType=1',
    ]);
    expect(ask([])?.[0]).toContain('aoi=06,04,35,');
    expect(ask(['nowhere'])).toEqual([]);
  });
});

describe.each(PAYLOADS)('recorded answer: $name', ({ recorded }) => {
  it('refuses the statistics of one county by name', () => {
    const name = 'county_statistics_17167_2025-08-26_09-30.json';
    const bytes = recorded(`usdm/${name}`);
    const note = { ...shareNote(), fetched_at: '2025-10-02T15:00:00Z' };
    expect(() => readPayload(source, { bytes, note, subject: name })).toThrow(
      'statistics of 1 county, and our regions are made of whole states',
    );
  });
});
