import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signalOf } from '../../compiler/catalog/builtin.ts';
import type { Signal } from '../../compiler/products/shapes/line.ts';
import type { Reading } from '../../compiler/readings/reading.ts';
import {
  frequencyLabel,
  percentileOf,
  percentileTable,
  sameDayInYear,
  seasonOf,
  seasonWindow,
  statRuler,
  strataOf,
} from '../../compiler/readings/season.ts';
import { reading } from '../snapshot-folder.ts';

const WINDOW_READINGS_MIN = 10;
const AQI = signalOf('airquality.aqi') as Signal;
const DAY_MS = 86_400_000;
const item = (observed_at: string, aqi_index: unknown = 1, more: object = {}) =>
  reading('x', { aqi_index }, { observed_at, ...more }) as Reading;
const iso = (time: number) => new Date(time).toISOString();
/** Daily readings of the days around a date. */
const around = (date: string, days: number, value: (at: number) => unknown = () => 1) =>
  Array.from({ length: 2 * days + 1 }, (_, at) =>
    item(iso(Date.parse(date) + (at - days) * DAY_MS), value(at)),
  );

describe('sameDayInYear()', () => {
  it.each([
    ['2024-02-29T05:00:00Z', 2023, '2023-02-28'],
    ['2024-02-29T05:00:00Z', 2020, '2020-02-29'],
    ['2024-02-29T05:00:00Z', 1900, '1900-02-28'],
    ['2023-02-28T05:00:00Z', 2024, '2024-02-28'],
    ['2024-03-01T00:00:00Z', 2023, '2023-03-01'],
    ['2026-12-31T23:59:59Z', 2025, '2025-12-31'],
  ])('%s in %i is %s', (time, year, day) => {
    expect(iso(sameDayInYear(Date.parse(time), year))).toBe(`${day}T00:00:00.000Z`);
  });
});

describe('seasonWindow()', () => {
  it.each([
    ['2026-11-20', '2025-11-05', '2025-12-05'],
    ['2026-01-05', '2024-12-21', '2025-01-20'],
    ['2026-12-28', '2025-12-13', '2026-01-12'],
    ['2024-02-29', '2023-02-13', '2023-03-15'],
    ['2025-03-01', '2024-02-15', '2024-03-16'],
  ])('on %s holds %s to %s, both whole days', (day, first, last) => {
    const now = item(`${day}T10:00:00Z`);
    const within = (time: string) => seasonWindow(now, [item(time)]).length === 1;
    const before = iso(Date.parse(`${first}T00:00:00Z`) - 1);
    const after = iso(Date.parse(`${last}T23:59:59.999Z`) + 1);
    expect([within(`${first}T00:00:00Z`), within(`${last}T23:59:59.999Z`)]).toEqual([true, true]);
    expect([within(before), within(after)]).toEqual([false, false]);
  });

  it('looks back five years and not one more, and never at its own year', () => {
    const now = item('2026-11-20T10:00:00Z');
    const years = Array.from({ length: 12 }, (_, at) => item(`${2016 + at}-11-20T10:00:00Z`));
    const found = seasonWindow(now, years).map((each) => each.observed_at.slice(0, 4));
    expect(found).toEqual(['2021', '2022', '2023', '2024', '2025']);
  });
});

describe('percentileOf()', () => {
  it.each([
    [5, [1, 2, 3, 4], 1],
    [0, [1, 2, 3, 4], 0],
    [2, [1, 2, 3, 4], 0.375],
    [2, [2, 2, 2, 2], 0.5],
    [2, [1, 2, 2, 3], 0.5],
    [1.5, [1, 2, 3], 0.333],
  ])('places %d in %j at %d, ties counted half', (value, values, want) => {
    expect(percentileOf(value, values)).toBe(want);
  });

  it('is 0 to 1, and mirrored values mirror it', () => {
    const values = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.integer({ min: -20, max: 20 }), values, (value, others) => {
        const up = percentileOf(value, others);
        const mirrored = percentileOf(
          -value,
          others.map((other) => -other),
        );
        expect(up).toBeGreaterThanOrEqual(0);
        expect(up + mirrored).toBeCloseTo(1, 2);
      }),
    );
  });
});

describe('frequencyLabel()', () => {
  it.each([
    [0, 'much below normal'],
    [0.099, 'much below normal'],
    [0.1, 'below normal'],
    [0.249, 'below normal'],
    [0.25, 'normal'],
    [0.75, 'normal'],
    [0.751, 'above normal'],
    [0.9, 'above normal'],
    [0.901, 'much above normal'],
    [1, 'much above normal'],
  ])('calls %d %s', (percentile, label) => {
    expect(frequencyLabel(percentile)).toBe(label);
  });
});

describe('seasonOf()', () => {
  const now = item('2026-11-20T10:00:00Z', 100);
  const history = around('2025-11-20T10:00:00Z', 4).concat(around('2024-11-20T10:00:00Z', 4));

  it('says nothing of a window that is too thin, and speaks from the limit on', () => {
    expect(WINDOW_READINGS_MIN).toBe(10);
    expect(seasonOf(AQI, now, history.slice(0, 9))).toBeNull();
    expect(seasonOf(AQI, now, history.slice(0, 10))).toMatchObject({ n: 10, years: 2 });
  });

  it('counts readings without a number neither way', () => {
    const empty = history.map((each) => item(each.observed_at, null));
    expect(seasonOf(AQI, now, empty)).toBeNull();
    expect(seasonOf(AQI, item('2026-11-20T10:00:00Z', null), history)).toBeNull();
  });

  it('is null for a signal without a season', () => {
    expect(seasonOf({ ...AQI, seasonal: false }, now, history)).toBeNull();
  });

  it('counts a season that spans a year end once', () => {
    const january = item('2026-01-05T10:00:00Z', 3);
    const season = seasonOf(AQI, january, around('2025-01-05T10:00:00Z', 15));
    expect(season).toMatchObject({ years: 1, n: 31 });
  });
});

describe('strataOf()', () => {
  const now = item('2026-11-20T10:00:00Z', 120);
  const history = around('2025-11-20T10:00:00Z', 15, (at) => at * 10);

  it('shares out every reading of the window, mildest class first', () => {
    const strata = strataOf(AQI, now, seasonOf(AQI, now, history));
    expect(strata?.shares.map((each) => each.band)).toEqual(AQI.bands);
    expect(strata?.shares.map((each) => each.n)).toEqual([6, 5, 5, 5, 10, 0]);
    expect(strata).toMatchObject({ n: 31, window_years: 1, current_band: 'unhealthy-sensitive' });
  });

  it('has shares that add up to one', () => {
    const values = fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 31, maxLength: 31 });
    fc.assert(
      fc.property(values, (list) => {
        const past = around('2025-11-20T10:00:00Z', 15, (at) => list[at]);
        const shares = strataOf(AQI, now, seasonOf(AQI, now, past))?.shares ?? [];
        expect(shares.reduce((sum, { n }) => sum + n, 0)).toBe(31);
        expect(shares.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 2);
      }),
      { numRuns: 50 },
    );
  });

  it('classes each PM2.5 reading of the window by the table of its own day', () => {
    const pm25 = signalOf('airquality.pm25') as Signal;
    const at = (time: string) => reading('x', { pm25_ugm3: 10 }, { observed_at: time }) as Reading;
    const days = [...around('2024-05-06T10:00:00Z', 15)].map((each) => at(each.observed_at));
    const current = at('2025-05-06T10:00:00Z');
    const strata = strataOf(pm25, current, seasonOf(pm25, current, days));
    expect(strata?.shares.slice(0, 2).map(({ band, n }) => [band, n])).toEqual([
      ['good', 15],
      ['moderate', 16],
    ]);
  });

  it('is null without a ruler or without a season', () => {
    expect(strataOf(AQI, now, null)).toBeNull();
    const heat = signalOf('agriculture.heat') as Signal;
    const hot = (each: Reading) => ({ ...each, current: { tmax_c: 30 } });
    const season = seasonOf(heat, hot(now), history.map(hot));
    expect(season?.n).toBe(31);
    expect(strataOf(heat, hot(now), season)).toBeNull();
  });
});

describe('percentileTable(), statRuler()', () => {
  const now = item('2026-11-20T10:00:00Z', 15);
  const season = seasonOf(
    AQI,
    now,
    around('2025-11-20T10:00:00Z', 15, (at) => 30 - at),
  );

  it('show the placement and a table of values that occurred', () => {
    expect(statRuler(season)).toEqual({
      current_percentile: 0.5,
      frequency_label: 'normal',
      window_years: 1,
      n: 31,
    });
    expect(percentileTable(season)).toEqual([
      { percentile: 5, value: 1 },
      { percentile: 10, value: 3 },
      { percentile: 25, value: 7 },
      { percentile: 50, value: 15 },
      { percentile: 75, value: 23 },
      { percentile: 90, value: 27 },
      { percentile: 95, value: 29 },
    ]);
  });

  it('are null without a season', () => {
    expect([statRuler(null), percentileTable(null)]).toEqual([null, null]);
  });
});
