import { describe, expect, it } from 'vitest';
import { duration } from '../../compiler/commands/program.ts';

describe('duration()', () => {
  it.each([
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
    ['0s', 0],
  ])('reads %s', (text, ms) => {
    expect(duration(text)).toBe(ms);
  });

  it.each(['', '2', 'h', '2 h', '-1h', '1.5h', '2w', '2H', '1234567s', '2h30m'])(
    'refuses %j',
    (text) => {
      expect(() => duration(text)).toThrow('write it as 90s, 30m, 2h or 7d');
    },
  );
});
