import { describe, expect, it } from 'vitest';
import { jsonPath } from '../../compiler/contract/strict-json.ts';

describe('jsonPath()', () => {
  it.each([
    ['{"a":{"b":[1,{"c":2', 'a.b.1.c'],
    ['{"a":1,', ''],
    ['[[],[[],', '1.1'],
    ['{"a":"[{,:","b":', 'b'],
    ['{"x\\"y":', 'x\\"y'],
    ['', ''],
  ])('reads the path behind %s', (text, path) => {
    expect(jsonPath(`${text}?`, text.length)).toBe(path);
  });
  it('clips what is long', () => {
    expect(jsonPath(`{"${'k'.repeat(500)}":`, 504)).toHaveLength(121);
  });
});
