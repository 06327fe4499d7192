import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCutoff } from '../../compiler/format/cutoff.ts';
import {
  DAY_MS,
  HOUR_MS,
  hasIsoYear,
  isoTime,
  newYorkDayEnd,
  newYorkInstant,
  utcTime,
} from '../../compiler/format/iso-time.ts';

describe('isoTime()', () => {
  it('writes milliseconds only where there are any', () => {
    expect(isoTime(Date.parse('2026-11-20T12:00:00.000Z'))).toBe('2026-11-20T12:00:00Z');
    expect(isoTime(Date.parse('2026-11-20T12:00:00.010Z'))).toBe('2026-11-20T12:00:00.010Z');
  });

  it('throws where there is no instant', () => {
    expect(() => isoTime(Number.NaN)).toThrow(RangeError);
  });
});

describe('HOUR_MS and DAY_MS', () => {
  it('lead from one instant to the same minute of the next hour and day', () => {
    const start = Date.parse('2026-02-28T23:30:00Z');
    expect(isoTime(start + HOUR_MS)).toBe('2026-03-01T00:30:00Z');
    expect(isoTime(start + DAY_MS)).toBe('2026-03-01T23:30:00Z');
  });
});

describe('hasIsoYear()', () => {
  it('is true of the first and of the last instant of the years 1 to 9999', () => {
    const ends = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'].map(Date.parse);
    expect(ends.map(hasIsoYear)).toEqual([true, true]);
  });

  it('is false one millisecond beyond them, and where there is no instant', () => {
    const [first, last] = [Date.parse('0001-01-01'), Date.parse('9999-12-31T23:59:59.999Z')];
    expect([first - 1, last + 1, Number.NaN].map(hasIsoYear)).toEqual([false, false, false]);
  });
});

describe('utcTime()', () => {
  it('reads the times of files', () => {
    const texts = ['2026-11-20T12:00:00Z', '2026-11-20T12:00:00.010Z', '2024-02-29T23:59:59.9Z'];
    expect(texts.map(utcTime)).toEqual([1795176000000, 1795176000010, 1709251199900]);
  });

  it.each([
    '2026-11-20T12:00:00',
    '2026-11-20t12:00:00z',
    '2026-11-20T12:00Z',
    '2026-11-20T12:00:00+00:00',
    '2026-02-30T12:00:00Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20',
    '0000-01-01T00:00:00Z',
    ' 2026-11-20T12:00:00Z',
    'Nov 20 2026',
    '',
  ])('is NaN for "%s", which programs read in different ways', (text) => {
    expect(utcTime(text)).toBeNaN();
  });
});

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

describe('parseCutoff()', () => {
  it('takes a bare date for the whole filing day in New York', () => {
    const day = { basis: 'filing_date', date: '2026-03-31', at: '2026-04-01T03:59:59Z' };
    expect(parseCutoff('2026-03-31')).toEqual(day);
  });

  it.each([
    ['2026-03-31T21:00:00Z', '2026-03-31T21:00:00Z'],
    ['2026-03-31T21:00Z', '2026-03-31T21:00:00Z'],
    ['2026-03-31T21:00:00.250Z', '2026-03-31T21:00:00.250Z'],
    ['2026-03-31T20:30:00-04:00', '2026-04-01T00:30:00Z'],
    ['2026-03-31T20:30:00+02:00', '2026-03-31T18:30:00Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['2026-03-31T20:30:00 02:00', '2026-03-31T18:30:00Z'],
  ])('takes %s for an instant', (text, at) => {
    expect(parseCutoff(text)).toEqual({ basis: 'acceptance_time', at });
  });

  it.each([
    '',
    'tomorrow',
    '2026-02-30',
    '2026-13-01',
    '2026-3-1',
    '20260331',
    '2026-03-31T21:00:00',
    '2026-03-31T25:00:00Z',
    '2026-02-29T12:00:00Z',
    '2026-03-31T12:00:00+99:00',
    '2026-03-31 12:00:00Z',
    '1774900800',
    '9999-12-31',
    '9999-12-31T23:59:59-12:00',
    '0000-01-01T00:00:00Z',
    '0000-12-31',
    '0001-01-01T00:00:00+05:00',
    '2026-03-31Z',
    ' 2026-03-31',
  ])('refuses "%s"', (text) => {
    expect(parseCutoff(text)).toBeNull();
  });
});
