import { describe, expect, it } from 'vitest';
import type { SiteMapRow, SitePoint } from '../../compiler/contract/site.ts';
import { frameDays, pointOn } from '../../compiler/site/shapes.ts';

const points = (...days: readonly number[]): SitePoint[] =>
  days.map((day) => [`2026-11-${String(day).padStart(2, '0')}T10:00:00Z`, day]);
const row = (...days: readonly number[]): SiteMapRow => ['x', null, 1, 2, points(...days)];

describe('the slider of the map', () => {
  it('stops on the newest seven days of all entities', () => {
    const days = frameDays([row(1, 3, 5), row(2, 4, 6, 8), row(3, 7)]);
    expect(days).toHaveLength(7);
    expect([days[0], days.at(-1)]).toEqual(['2026-11-02', '2026-11-08']);
    expect(frameDays([])).toEqual([]);
  });

  it('shows the newest reading up to a day, and none where the free ones begin later', () => {
    const free = points(3, 5);
    expect(pointOn(free, '2026-11-04')?.[1]).toBe(3);
    expect(pointOn(free, '2026-11-05')?.[1]).toBe(5);
    expect(pointOn(free, '2026-11-02')).toBeNull();
  });
});
