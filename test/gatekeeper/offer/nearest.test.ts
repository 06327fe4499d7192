import { describe, expect, it } from 'vitest';
import { nearest } from '../../../gatekeeper/offer/nearest.ts';

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

  it.each(['', 'x', 'hormuz', 'y'.repeat(10_000)])('guesses nothing for %.20s', (text) => {
    expect(nearest(text, CITIES)).toBeNull();
  });
});
