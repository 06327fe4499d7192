import { describe, expect, it } from 'vitest';
import { messageOf } from '../../../gatekeeper/system/message-of.ts';

describe('messageOf()', () => {
  it.each([
    [new TypeError('a reason'), 'a reason'],
    ['a text', 'a text'],
    [undefined, 'undefined'],
  ])('puts %s into words', (thrown, words) => {
    expect(messageOf(thrown)).toBe(words);
  });
});
