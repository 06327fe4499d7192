import { describe, expect, it } from 'vitest';
import {
  CADENCES,
  type Cadence,
  FRESHNESS_THRESHOLDS,
  freshness,
  freshnessBasis,
  parseFreshnessBasis,
} from '../../compiler/contract/freshness.ts';

const HOURS: readonly (readonly [Cadence, number, number, number])[] = [
  ['hourly', 3, 24, 168],
  ['daily', 24, 192, 1440],
  ['weekly', 192, 744, 4380],
  ['monthly', 1080, 2160, 8760],
  ['quarterly', 3000, 6600, 17520],
  ['yearly', 9000, 18000, 43800],
  ['as-events', 744, 8760, 17520],
];
const AT = '2026-01-01T00:00:00Z';
const hoursLater = (hours: number, ms = 0): number => Date.parse(AT) + hours * 3_600_000 + ms;

describe('freshness()', () => {
  it('knows the seven cadences and no other', () => {
    expect(CADENCES).toEqual(HOURS.map(([cadence]) => cadence));
    expect(Object.keys(FRESHNESS_THRESHOLDS)).toEqual([...CADENCES]);
  });

  it.each(HOURS)('changes at the thresholds of %s: %i, %i, %i hours', (cadence, ...hours) => {
    const [fresh, recent, dead] = hours;
    const word = (hours: number, ms: number) =>
      freshness(cadence, AT, hoursLater(hours, ms)).freshness;
    expect([word(0, 0), word(fresh, 0), word(fresh, 1)]).toEqual(['fresh', 'fresh', 'recent']);
    expect([word(recent, 0), word(recent, 1), word(dead, 1)]).toEqual(['recent', 'stale', 'stale']);
    expect(freshness(cadence, AT, hoursLater(dead))).not.toHaveProperty('dead_source');
    expect(freshness(cadence, AT, hoursLater(dead, 1)).dead_source).toContain(AT);
  });

  it('gives the age in hours with one decimal, never below zero', () => {
    expect(freshness('hourly', AT, hoursLater(1, 9 * 60_000)).age_hours_now).toBe(1.2);
    expect(freshness('hourly', AT, hoursLater(-5)).age_hours_now).toBe(0);
  });
});

describe('freshnessBasis()', () => {
  it('spells cadence and thresholds as clients parse them', () => {
    expect(freshnessBasis('daily')).toBe(
      'cadence=daily; fresh<=24h; recent<=192h; dead_source>1440h; age_basis=request-time(now minus observed_at)',
    );
  });

  it.each(CADENCES)('can be read back for %s', (cadence) => {
    expect(parseFreshnessBasis(freshnessBasis(cadence))).toBe(cadence);
  });

  it.each(['', 'cadence=often; x', 'cadence=daily', ' cadence=daily;', 'x cadence=daily;'])(
    'is not read out of %j',
    (text) => {
      expect(parseFreshnessBasis(text)).toBeNull();
    },
  );
});
