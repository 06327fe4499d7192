import { describe, expect, it } from 'vitest';
import { retentionOf, seriesDaysOf } from '../../compiler/commands/compile-options.ts';

describe('retentionOf()', () => {
  it.each([
    [{ keepLast: '4' }, { last: 4, days: 0 }],
    [
      { keepLast: '1', keepDays: '1' },
      { last: 1, days: 1 },
    ],
    [
      { keepLast: '999999', keepDays: '36500' },
      { last: 999_999, days: 36_500 },
    ],
  ])('takes %j', (flags, retention) => {
    expect(retentionOf(flags)).toEqual(retention);
  });

  it.each([
    [{ keepLast: '0' }, '--keep-last "0"'],
    [{ keepLast: 'all' }, '--keep-last "all"'],
    [{ keepLast: '' }, '--keep-last ""'],
    [{ keepLast: '1.5' }, '--keep-last "1.5"'],
    [{ keepLast: '-1' }, '--keep-last "-1"'],
    [{ keepLast: '1000000' }, '--keep-last "1000000": not a whole number from 1 to 999999'],
    [{ keepLast: '4', keepDays: '0' }, '--keep-days "0"'],
    [{ keepLast: '4', keepDays: 'a week' }, '--keep-days "a week"'],
    [
      { keepLast: '4', keepDays: '36501' },
      '--keep-days "36501": not a whole number from 1 to 36500',
    ],
  ])('refuses %j', (flags, says) => {
    expect(() => retentionOf(flags)).toThrow(`Cannot use ${says}`);
  });
});

describe('seriesDaysOf()', () => {
  it.each(['1', '30', '1000'])('takes %s days', (days) => {
    expect(seriesDaysOf(days)).toBe(Number(days));
  });

  it.each(['0', '1001', '-1', '30.5', 'all', ''])('refuses "%s"', (days) => {
    const says = `Cannot use --series-days "${days}": not a whole number from 1 to 1000`;
    expect(() => seriesDaysOf(days)).toThrow(says);
  });
});
