import { describe, expect, it } from 'vitest';
import { BoundedMap } from '../../gatekeeper/bounded-map.ts';

/** A map of at most three, and these set in it one after another. */
function holding(...keys: readonly string[]): string[] {
  const map = new BoundedMap<string, number>(3);
  for (const [at, key] of keys.entries()) map.set(key, at);
  return [...map].map(([key, at]) => `${key}${at}`);
}

describe('BoundedMap', () => {
  it('I43: holds as many entries as it may, and with one more all but the oldest', () => {
    expect(holding('a', 'b', 'c')).toEqual(['a0', 'b1', 'c2']);
    expect(holding('a', 'b', 'c', 'd')).toEqual(['b1', 'c2', 'd3']);
    expect(holding(...'abcdefg')).toEqual(['e4', 'f5', 'g6']);
  });

  it('takes an entry that is set again for the newest, and drops none for it', () => {
    expect(holding('a', 'b', 'c', 'a')).toEqual(['b1', 'c2', 'a3']);
    expect(holding('a', 'b', 'c', 'a', 'd')).toEqual(['c2', 'a3', 'd4']);
  });
});
