import { describe, expect, it } from 'vitest';
import { parseCutoff } from '../../compiler/format/cutoff.ts';

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
