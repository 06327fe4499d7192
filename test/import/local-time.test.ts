import { describe, expect, it } from 'vitest';
import { usInstant, usWallClock, zoneOffset } from '../../compiler/import/local-time.ts';

const HOUR = 3_600_000;
const ZONES = [
  'America/New_York',
  'America/Detroit',
  'America/Chicago',
  'America/Denver',
  'America/Phoenix',
  'America/Los_Angeles',
] as const;

/** What a time zone database says that clocks show, written as if it were UTC. */
function clockOf(zone: string): (epochMs: number) => number {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'medium',
    hourCycle: 'h23',
  });
  return (epochMs) => Date.parse(`${format.format(epochMs).replace(', ', 'T')}Z`);
}

describe('US wall clocks', () => {
  it.each(ZONES)('agree with a time zone database in %s, in every hour of a year', (zone) => {
    const shown = clockOf(zone);
    for (let at = Date.UTC(2026, 0, 1); at < Date.UTC(2027, 0, 1); at += HOUR) {
      const wall = usWallClock(at, zone);
      if (wall !== shown(at)) throw new Error(`${zone} ${new Date(at).toISOString()}`);
      // In autumn one hour is shown twice; the earlier one is meant.
      const back = usInstant(wall, zone);
      expect(at - back === 0 || at - back === HOUR).toBe(true);
      expect(shown(back)).toBe(wall);
    }
  });

  it('refuse a zone that is not known', () => {
    expect(() => usInstant(0, 'Europe/Berlin')).toThrow('"Europe/Berlin": unknown zone');
    expect(() => usWallClock(0, 'constructor')).toThrow('unknown zone');
  });
});

describe('zoneOffset()', () => {
  it('reads abbreviations in any case, and none that is not known', () => {
    expect(zoneOffset('pst')).toBe(-8 * HOUR);
    expect(zoneOffset(' GMT ')).toBe(0);
    expect(zoneOffset('CEST')).toBeNull();
    expect(zoneOffset('')).toBeNull();
  });
});
