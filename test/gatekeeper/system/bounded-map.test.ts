import { describe, expect, it } from 'vitest';
import { AgedMap, BoundedMap } from '../../../gatekeeper/system/bounded-map.ts';

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

describe('AgedMap', () => {
  it('drops what was set longest ago, however entries came and went before', () => {
    const map = new AgedMap<string, number>();
    for (const [at, key] of [...'abcdef'].entries()) map.set(key, at);
    map.delete('b');
    map.set('a', 6);
    expect([map.dropOldest(), map.dropOldest()]).toEqual([2, 3]);
    map.set('e', 7);
    expect([...map.keys()]).toEqual(['f', 'a', 'e']);
    expect([map.dropOldest(), map.dropOldest(), map.dropOldest()]).toEqual([5, 6, 7]);
  });

  it('drops nothing where nothing is, and works on afterwards', () => {
    const map = new AgedMap<string, number>();
    expect(map.dropOldest()).toBeUndefined();
    map.set('a', 1);
    expect([map.dropOldest(), map.dropOldest()]).toEqual([1, undefined]);
    for (const key of 'bc') map.set(key, 2);
    map.clear();
    map.set('d', 3);
    expect([map.dropOldest(), map.size]).toEqual([3, 0]);
  });

  it('finds the oldest as fast in a large map as in a small one', () => {
    const sets = 20_000;
    const timed = (held: number): number => {
      const map = new BoundedMap<number, number>(held);
      for (let at = 0; at < held; at += 1) map.set(at, at);
      const started = performance.now();
      for (let at = held; at < held + sets; at += 1) map.set(at, at);
      expect([map.size, map.has(sets - 1), map.has(sets)]).toEqual([held, false, true]);
      return performance.now() - started;
    };
    const fastest = (held: number): number => Math.min(...[1, 2, 3].map(() => timed(held)));
    // A new iterator each time takes fifty times as long in the large one.
    expect(fastest(10_000)).toBeLessThan(10 * fastest(100) + 10);
  });
});
