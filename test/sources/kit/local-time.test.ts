import { describe, expect, it } from 'vitest';
import {
  isZone,
  usInstant,
  usWallClock,
  zoneInstants,
  zoneOffset,
} from '../../../compiler/sources/kit/local-time.ts';

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

const at = (wall: string, zone: string) =>
  zoneInstants(Date.parse(`${wall}Z`), zone).map((instant) => new Date(instant).toISOString());

describe('zoneInstants()', () => {
  it.each([
    ['2026-11-20T04:30:00', 'America/Chicago', '2026-11-20T10:30:00.000Z'],
    ['2026-07-20T04:30:00', 'America/Chicago', '2026-07-20T09:30:00.000Z'],
    ['2026-11-20T04:30:00', 'Asia/Kathmandu', '2026-11-19T22:45:00.000Z'],
    ['2026-01-01T00:15:00', 'Pacific/Auckland', '2025-12-31T11:15:00.000Z'],
    ['2026-11-20T04:30:00', 'EST', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20T04:30:00', '-03:30', '2026-11-20T08:00:00.000Z'],
    ['2026-11-20T04:30:00', 'UTC', '2026-11-20T04:30:00.000Z'],
  ])('finds when clocks show %s in %s', (wall, zone, instant) => {
    expect(at(wall, zone)).toEqual([instant]);
  });

  it('finds no instant in the hour that is left out, and two in the one that comes twice', () => {
    expect(at('2026-03-29T02:30:00', 'Europe/Berlin')).toEqual([]);
    expect(at('2026-03-29T03:00:00', 'Europe/Berlin')).toEqual(['2026-03-29T01:00:00.000Z']);
    expect(at('2026-10-25T02:30:00', 'Europe/Berlin')).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:30:00.000Z',
    ]);
  });

  it.each(['Chicago', 'America/Chicgo', 'MEZ', '+2', '+02:60', '', '../etc'])(
    'does not know "%s"',
    (zone) => {
      expect(isZone(zone)).toBe(false);
      expect(at('2026-11-20T04:30:00', zone)).toEqual([]);
    },
  );
});
