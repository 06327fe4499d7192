import { describe, expect, it } from 'vitest';
import { nearest } from '../../compiler/contract/nearest.ts';

const CITIES = ['us-denver', 'us-chicago', 'us-newyork'];

describe('nearest()', () => {
  it.each([
    ['denver', 'us-denver'],
    ['US-DENVER', 'us-denver'],
    ['us-dnever', 'us-denver'],
    ['us-chicgo', 'us-chicago'],
  ])('finds what %s most likely means', (text, want) => {
    expect(nearest(text, CITIES)).toBe(want);
  });

  it.each([
    ['prot', 'port'],
    ['payto', 'pay-to'],
    ['por', 'port'],
    ['rulre', 'ruler'],
  ])('takes %s, a third of whose letters may be wrong, for %s', (text, want) => {
    expect(nearest(text, ['ruler', 'port', 'pay-to'])).toBe(want);
  });

  it.each([
    ['0', ['1']],
    ['100', ['1']],
    ['-1', ['1']],
    ['xml', ['json', 'csv']],
    ['prto', ['pear']],
    ['cvs', ['json', 'mcp']],
    ['abcdefghijkl', ['abcd1234ijkl']],
  ])('takes %s for none of %j', (text, options) => {
    expect(nearest(text, options)).toBeNull();
  });

  it.each(['', 'x', 'hormuz', 'y'.repeat(10_000)])('guesses nothing for %.20s', (text) => {
    expect(nearest(text, CITIES)).toBeNull();
  });
});
