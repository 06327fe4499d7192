import { describe, expect, it } from 'vitest';
import { publicationTime } from '../../compiler/commands/compile-options.ts';

const NOW = '2026-11-20T12:00:00Z';
const at = (flags: Parameters<typeof publicationTime>[0]) =>
  publicationTime(flags, Date.parse(NOW));

describe('publicationTime()', () => {
  it('is the clock, or the time that is given', () => {
    expect(at({})).toEqual({ asOf: NOW });
    expect(at({ asOf: '2020-01-01T00:00:00Z' })).toEqual({ asOf: '2020-01-01T00:00:00Z' });
    expect(at({ asOf: '2026-11-20T12:05:00Z' })).toEqual({ asOf: '2026-11-20T12:05:00Z' });
  });

  it('I21: refuses a time of the future, which would lock the folder until then', () => {
    for (const asOf of ['2026-11-20T12:05:01Z', '2099-01-01T00:00:00Z']) {
      expect(() => at({ asOf })).toThrow(
        /^Cannot use --as-of ".*": more than 5 minutes after the clock of this machine, 2026-11-20T12:00:00Z; give a time that has passed/,
      );
    }
  });

  it('accepts the clock when another one shows the same, and no other', () => {
    for (const acceptClock of ['2026-11-20T12:00', '2026-11-20T12:01Z', '2026-11-20T11:58:00Z']) {
      expect(at({ acceptClock })).toEqual({ asOf: NOW, acceptClock: true });
    }
    expect(() => at({ acceptClock: '2026-11-20T12:03' })).toThrow(/more than 2 minutes from/);
    expect(() => at({ acceptClock: 'yes' })).toThrow(/not a time in UTC; write what another/);
    expect(() => at({ acceptClock: '2026-11-20T12:00', asOf: NOW })).toThrow(/leave --as-of out/);
  });
});
