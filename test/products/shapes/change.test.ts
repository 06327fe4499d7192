import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signalOf } from '../../../compiler/catalog/builtin.ts';
import type { Signal } from '../../../compiler/products/shapes/line.ts';
import type { MetricChange } from '../../../compiler/products/shapes/record.ts';
import { pastMembers } from '../../../compiler/products/shapes/record-views.ts';

import type { Reading } from '../../../compiler/readings/reading.ts';
import { reading } from '../../snapshot-folder.ts';

const RIVER = signalOf('hydrology.river-level') as Signal;
const STORMS = signalOf('hurricane.active-storms') as Signal;
const item = (current: object, observed_at = '2026-11-20T10:00:00Z') =>
  reading('x', current, { observed_at }) as Reading;
const changeOf = (signal: Signal, now: Reading, before: Reading | undefined) =>
  pastMembers(signal, before === undefined ? [now] : [before, now]).change;
const previousOf = (now: Reading, before: Reading | undefined) =>
  pastMembers(RIVER, before === undefined ? [now] : [before, now]).previous;
const change = (now: object, before?: object, signal = RIVER) =>
  changeOf(signal, item(now), before && item(before, '2026-11-20T09:00:00Z'));

describe('pastMembers(): change', () => {
  it.each([
    [13.6, 13.1, 0.5, 'rising'],
    [13.1, 13.6, -0.5, 'falling'],
    [0.3, 0.3, 0, 'stable'],
    [-1.1, -2.2, 1.1, 'rising'],
    [0, -0.1, 0.1, 'rising'],
  ])('takes %d after %d for %d, %s', (...[now, before, delta, direction]) => {
    expect(change({ stage_ft: now }, { stage_ft: before })?.stage_ft).toEqual({ delta, direction });
  });

  it.each([
    ['no-previous-record', { stage_ft: 1 }, undefined],
    ['metric-absent-in-previous', { stage_ft: 1 }, {}],
    ['metric-absent-in-previous', { stage_ft: 1 }, { stage_ft: null }],
    ['metric-absent-in-current', { stage_ft: null }, { stage_ft: 1 }],
    ['metric-absent-in-current', {}, { stage_ft: 1 }],
    ['non-numeric-value', { stage_ft: 'ice' }, { stage_ft: 1 }],
    ['non-numeric-value', { stage_ft: 1 }, { stage_ft: true }],
  ])('does not know the direction: %s', (direction_reason, now, before) => {
    const unknown = { delta: null, direction: 'unknown', direction_reason };
    expect(change(now, before)?.stage_ft).toEqual(unknown);
  });

  it('compares declared metrics and every other number, but no band and no text', () => {
    const now = { max_wind_kt: null, storm_count: 1, note: 'x', extra_mm: 2, band: 'none' };
    const compared = Object.keys(change(now, { extra_mm: 1, gone_mm: 3 }, STORMS) ?? {});
    expect(compared).toEqual(['max_wind_kt', 'storm_count', 'extra_mm', 'gone_mm', 'period']);
  });

  it('turns round when the readings do, and is stable exactly for equal values', () => {
    const turned = { rising: 'falling', falling: 'rising', stable: 'stable' } as const;
    const value = fc.oneof(
      fc.integer({ min: -3, max: 3 }),
      fc.double({ noNaN: true, min: -1e9, max: 1e9 }),
    );
    fc.assert(
      fc.property(value, value, (now, before) => {
        const there = change({ stage_ft: now }, { stage_ft: before })?.stage_ft as MetricChange;
        const back = change({ stage_ft: before }, { stage_ft: now })?.stage_ft as MetricChange;
        expect(back.direction).toBe(turned[there.direction as keyof typeof turned]);
        expect(back.delta).toBe(0 - (there.delta ?? Number.NaN));
        expect(there.direction === 'stable').toBe(now === before);
      }),
      { numRuns: 500 },
    );
  });

  it('gives an exact delta, whatever the digits', () => {
    const cents = fc.integer({ min: -1_000_000, max: 1_000_000 });
    fc.assert(
      fc.property(cents, cents, (now, before) => {
        const delta = change({ stage_ft: now / 100 }, { stage_ft: before / 100 })?.stage_ft;
        expect(delta).toMatchObject({ delta: (now - before) / 100 });
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['2026-11-20T09:00:00Z', 'PT1H'],
    ['2026-11-20T09:59:30Z', 'PT30S'],
    ['2026-11-20T08:15:00Z', 'PT1H45M'],
    ['2026-11-13T10:00:00Z', 'PT168H'],
    ['2026-11-20T09:59:59.500Z', 'PT0H'],
  ])('gives the period since %s as %s', (before, period) => {
    const now = item({ stage_ft: 1 });
    expect(changeOf(RIVER, now, item({ stage_ft: 1 }, before))?.period).toBe(period);
    expect(changeOf(RIVER, now, undefined)?.period).toBeNull();
  });
});

describe('pastMembers(): previous', () => {
  it('keeps what both readings have, and says when there is none before', () => {
    const now = item({ stage_ft: 2, band: 'action' });
    expect(previousOf(now, item({ stage_ft: 1, other_mm: 3 }))).toEqual({ stage_ft: 1 });
    expect(previousOf(now, undefined)).toEqual({ note: 'no earlier reading is stored' });
  });
});

describe('pastMembers(): trend_7d', () => {
  it('is the newest seven values of the main metric, null where a reading has none', () => {
    const values = [1, 2, 3, null, 5, 6, 7, 8];
    const recent = values.map((stage_ft, hour) => {
      return item(stage_ft === 5 ? { other_mm: 1 } : { stage_ft }, `2026-11-20T0${hour}:00:00Z`);
    });
    const { trend_7d } = pastMembers(RIVER, recent);
    expect(trend_7d.map(({ value }) => value)).toEqual([2, 3, null, null, 6, 7, 8]);
    expect(trend_7d[0]?.observed_at).toBe('2026-11-20T01:00:00Z');
  });

  it('throws without any reading', () => {
    expect(() => pastMembers(RIVER, [])).toThrow('Cannot compare readings');
  });
});
