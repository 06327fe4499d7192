import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../compiler/contract/iso-time.ts';
import { rainValues } from '../../compiler/import/rain-readings.ts';

const START = Date.UTC(2026, 0, 1);
const days = (values: readonly (number | null)[]) =>
  new Map(values.map((value, index) => [START + index * DAY_MS, value] as const));
const windows = (values: readonly (number | null)[]) =>
  rainValues(days(values)).filter(({ signal }) => signal === 'precipitation.wetness30d');

describe('rainValues()', () => {
  it('sums no window that begins before the series', () => {
    expect(windows(Array(29).fill(1))).toEqual([]);
    expect(windows(Array(30).fill(0.1)).map(({ current }) => current)).toEqual([
      { precip_30d_mm: 3, days_count: 30 },
    ]);
  });

  it('counts a day that is absent as one without a value', () => {
    const whole = days(Array(31).fill(1));
    whole.delete(START + 5 * DAY_MS);
    const [first] = rainValues(whole).filter(({ current }) => 'days_count' in current);
    expect(first?.current).toEqual({ precip_30d_mm: 29, days_count: 29 });
  });

  it('says nothing of a day without a value, and no sum of fewer than 28 days', () => {
    const gaps = [null, null, ...Array(28).fill(1)];
    expect(windows(gaps)[0]?.current).toEqual({ precip_30d_mm: 28, days_count: 28 });
    expect(windows([null, ...gaps.slice(0, -1)])[0]?.current).toEqual({
      precip_30d_mm: null,
      days_count: 27,
    });
    expect(windows([...Array(30).fill(1), null])).toHaveLength(1);
    expect(rainValues(days([null]))).toEqual([]);
  });
});
