import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { percentDecimal, roundDecimal, subtractDecimal } from '../../compiler/format/decimal.ts';
import { defined } from '../../compiler/format/errors.ts';
import { firstWhere } from '../../compiler/format/lists.ts';

/** A decimal with up to 9 digits behind the point, as text and as an integer of 10^-9. */
const decimal = fc
  .tuple(fc.integer({ min: -999_999, max: 999_999 }), fc.integer({ min: 0, max: 9 }))
  .map(([digits, places]) => ({
    value: Number(`${digits}e-${places}`),
    nanos: BigInt(digits) * 10n ** BigInt(9 - places),
  }));

describe('percentDecimal()', () => {
  it.each([
    { part: 0.29, whole: 4, want: 7.3 },
    { part: 2.01, whole: 4, want: 50.3 },
    { part: -0.29, whole: 4, want: -7.3 },
    { part: 1, whole: 3, want: 33.3 },
    { part: 8.2, whole: 7, want: 117.1 },
    { part: 0, whole: 5, want: 0 },
    { part: 1e-7, whole: 3, want: 0 },
  ])('$part is $want % of $whole, where doubles may say less', ({ part, whole, want }) => {
    expect(percentDecimal(part, whole)).toBe(want);
  });

  it('counts the steps that lie behind', () => {
    expect(percentDecimal(0.35, 28, { index: 0, count: 5 })).toBe(0.3);
    expect(percentDecimal(1.2, 2, { index: 1, count: 5 })).toBe(32);
    expect(percentDecimal(0, 1, { index: 4, count: 5 })).toBe(80);
  });
});

describe('subtractDecimal()', () => {
  it.each([
    [13.6, 13.1, 0.5],
    [0.3, 0.1, 0.2],
    [1.1, 1.1, 0],
    [-0.1, 0.2, -0.3],
    [1e21, 1, 1e21 - 1],
    [5e-324, 5e-324, 0],
    [1e-7, 2e-7, -1e-7],
    [9_007_199_254_740_991, -9_007_199_254_740_991, 18_014_398_509_481_982],
  ])('%d minus %d is %d', (a, b, want) => {
    expect(subtractDecimal(a, b)).toBe(want);
  });

  it('equals the reference in whole billionths', () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        expect(subtractDecimal(a.value, b.value)).toBe(Number(`${a.nanos - b.nanos}e-9`));
      }),
      { numRuns: 2000 },
    );
  });

  it('refuses what has no digits', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => subtractDecimal(value, 1)).toThrow(SyntaxError);
    }
  });
});

describe('roundDecimal()', () => {
  it.each([
    [1.005, 2, 1.01],
    [2.5, 0, 3],
    [-2.5, 0, -3],
    [0.45, 1, 0.5],
    [-0.04, 1, 0],
    [99.95, 1, 100],
    [1.23, 5, 1.23],
    [1e300, 2, 1e300],
  ])('rounds %d to %i places: %d', (value, places, want) => {
    expect(roundDecimal(value, places)).toBe(want);
  });

  it('is the nearest decimal, halves away from zero', () => {
    fc.assert(
      fc.property(decimal, fc.integer({ min: 0, max: 9 }), ({ value, nanos }, places) => {
        const unit = 10n ** BigInt(9 - places);
        const [sign, size] = nanos < 0n ? [-1n, -nanos] : [1n, nanos];
        const whole = sign * ((size * 2n + unit) / (unit * 2n));
        expect(roundDecimal(value, places)).toBe(Number(`${whole}e-${places}`) + 0);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('firstWhere()', () => {
  it('finds every place there is, and the length where there is none', () => {
    for (const length of [0, 1, 2, 7, 8]) {
      for (let wanted = 0; wanted <= length; wanted += 1) {
        expect(firstWhere(length, (at) => at >= wanted)).toBe(wanted);
      }
    }
  });

  it('I39: asks no more often than halving takes, and nothing outside', () => {
    const asked: number[] = [];
    firstWhere(1_000_000, (at) => {
      asked.push(at);
      return false;
    });
    expect(asked.length).toBeLessThanOrEqual(20);
    expect(Math.max(...asked)).toBeLessThan(1_000_000);
  });
});

describe('defined()', () => {
  test.each(['', 0, false, Number.NaN])('returns %j, which is a value', (value) => {
    expect(defined(value, 'a value')).toBe(value);
  });

  test.each([undefined, null])('names what is %s', (value) => {
    const refused = new TypeError(`Cannot go on without the first row: it is ${value}`);
    expect(() => defined(value, 'the first row')).toThrow(refused);
  });
});
