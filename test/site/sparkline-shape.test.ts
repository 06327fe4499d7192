import { describe, expect, it } from 'vitest';
import { builtinRuler } from '../../compiler/contract/catalog/builtin.ts';
import { sparkShape } from '../../compiler/site/shapes.ts';

const CROP_VHI = builtinRuler('vegetation-health');
const US_AQI = builtinRuler('us-aqi');

const BOX = { width: 100, height: 50 };
const days = (...values: readonly number[]) =>
  values.map((value, at) => ({ observed_at: `2026-11-1${at}T00:00:00Z`, value }));

describe('sparkShape()', () => {
  it('spreads readings over the box by their times, larger ones higher', () => {
    const { points } = sparkShape(days(10, 20, 15), null, BOX);
    expect(points.map(({ x }) => x)).toEqual([0, 50, 100]);
    const [low, high, middle] = points.map(({ y }) => y);
    expect([Number(high) < Number(middle), Number(middle) < Number(low)]).toEqual([true, true]);
    for (const { y } of points) expect(y >= 0 && y <= BOX.height).toBe(true);
  });

  it('draws equal readings in the middle, and one alone too', () => {
    expect(sparkShape(days(7, 7), null, BOX).points.map(({ y }) => y)).toEqual([25, 25]);
    expect(sparkShape(days(0), null, BOX).points).toEqual([{ x: 50, y: 25 }]);
  });

  it.each([
    [US_AQI, [40, 60], ['good', 'moderate']],
    [CROP_VHI, [45, 25], ['no-stress', 'stress', 'moderate-stress']],
  ])(
    'lays the classes behind that the box shows, without gaps: $0.scale',
    (scale, values, bands) => {
      const { stripes } = sparkShape(days(...values), scale, BOX);
      expect(stripes.map(({ band }) => band)).toEqual(bands);
      const total = stripes.reduce((sum, { height }) => sum + height, 0);
      expect(total).toBeCloseTo(BOX.height, 1);
    },
  );
});
