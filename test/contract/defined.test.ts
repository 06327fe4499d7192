import { describe, expect, test } from 'vitest';
import { defined } from '../../compiler/contract/defined.ts';

describe('defined()', () => {
  test.each(['', 0, false, Number.NaN])('returns %j, which is a value', (value) => {
    expect(defined(value, 'a value')).toBe(value);
  });

  test.each([undefined, null])('names what is %s', (value) => {
    const refused = new TypeError(`Cannot go on without the first row: it is ${value}`);
    expect(() => defined(value, 'the first row')).toThrow(refused);
  });
});
