import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newYorkDayEnd, newYorkInstant } from '../../compiler/contract/iso-time.ts';

const CLOCK = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'America/New_York',
  dateStyle: 'short',
  timeStyle: 'medium',
});
const wall = (epochMs: number): number => Date.parse(`${CLOCK.format(epochMs).replace(' ', 'T')}Z`);

describe('newYorkInstant()', () => {
  it('agrees with the time zone database from 1993 to 2037 between 06:00 and 22:00', () => {
    const day = fc.integer({ min: 8401, max: 24837 });
    const second = fc.integer({ min: 6 * 3600, max: 22 * 3600 });
    fc.assert(
      fc.property(day, second, (days, seconds) => {
        const wallClock = (days * 86_400 + seconds) * 1000;
        expect(wall(newYorkInstant(wallClock))).toBe(wallClock);
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ['2026-03-08T01:59:59Z', '2026-03-08T06:59:59.000Z'],
    ['2026-03-08T03:00:00Z', '2026-03-08T07:00:00.000Z'],
    ['2026-10-31T20:30:00Z', '2026-11-01T00:30:00.000Z'],
    ['2026-11-01T06:00:00Z', '2026-11-01T11:00:00.000Z'],
    ['2006-04-02T06:00:00Z', '2006-04-02T10:00:00.000Z'],
    ['2006-04-01T06:00:00Z', '2006-04-01T11:00:00.000Z'],
  ])('turns %s in New York into %s', (local, utc) => {
    expect(new Date(newYorkInstant(Date.parse(local))).toISOString()).toBe(utc);
  });
});

describe('newYorkDayEnd()', () => {
  it('ends a summer day four hours and a winter day five hours after midnight UTC', () => {
    expect(newYorkDayEnd('2026-07-01')).toBe('2026-07-02T03:59:59Z');
    expect(newYorkDayEnd('2026-12-31')).toBe('2027-01-01T04:59:59Z');
    expect(newYorkDayEnd('0050-07-01')).toBe('0050-07-02T03:59:59Z');
  });
});
