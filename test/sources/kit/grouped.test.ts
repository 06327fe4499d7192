import { describe, expect, it } from 'vitest';
import { firstTwice } from '../../../compiler/format/lists.ts';

describe('firstTwice()', () => {
  it('names the first text that comes again', () => {
    expect(firstTwice(['a', 'b', 'c', 'b', 'a'])).toBe('b');
    expect(firstTwice(['', ''])).toBe('');
  });

  it('names none where each comes once, also in a list as long as a payload can hold', () => {
    expect(firstTwice([])).toBeUndefined();
    const many = Array.from({ length: 500_000 }, (_, at) => String(at));
    expect(firstTwice(many)).toBeUndefined();
    expect(firstTwice([...many, '7'])).toBe('7');
  });
});
