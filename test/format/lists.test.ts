import { describe, expect, it, test } from 'vitest';
import { defined } from '../../compiler/format/defined.ts';
import { firstWhere } from '../../compiler/format/lists.ts';

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
