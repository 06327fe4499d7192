import { describe, expect, it } from 'vitest';
import { BoundedMap } from '../../../gatekeeper/system/bounded-map.ts';

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

  it('drops what was set longest ago, however entries came and went before', () => {
    const map = new BoundedMap<string, number>(5);
    for (const [at, key] of [...'abcde'].entries()) map.set(key, at);
    map.delete('b');
    map.set('a', 6);
    for (const key of 'fgh') map.set(key, 7);
    expect([...map.keys()]).toEqual(['e', 'a', 'f', 'g', 'h']);
    map.clear();
    for (const key of 'ijklmn') map.set(key, 8);
    expect([...map.keys()].join('')).toBe('jklmn');
  });

  it('keeps what is used where use counts, and what is young where it does not', () => {
    const left = (isByUse: { isByUse?: true }): string => {
      const map = new BoundedMap<string, string>({ bytes: 10, ...isByUse });
      map.set('a', 'A', 4).set('b', 'B', 4);
      map.get('a');
      map.set('c', 'C', 4);
      expect(map.bytes).toBe(8);
      return [...map.keys()].join('');
    };
    expect([left({ isByUse: true }), left({})]).toEqual(['ac', 'bc']);
  });

  it('never holds more bytes than its bound, also for one huge or one repeated key', () => {
    const map = new BoundedMap<string, string>({ bytes: 10 });
    map.set('huge', 'H', 11);
    expect(map.get('huge')).toBeUndefined();
    for (let at = 0; at < 100; at += 1) {
      map.set(`k${at % 7}`, 'K', at % 11);
      expect(map.bytes).toBeLessThanOrEqual(10);
    }
    for (const key of [...map.keys()]) map.delete(key);
    expect([map.size, map.bytes]).toEqual([0, 0]);
    map.set('whole', 'W', 10);
    expect([...map.keys()]).toEqual(['whole']);
    map.clear();
    expect(map.bytes).toBe(0);
  });

  it('finds the oldest as fast in a large map as in a small one', () => {
    // Each iterator steps over all that was deleted before it, so there must be few.
    let iterators = 0;
    class Counting extends BoundedMap<number, number> {
      override keys(): MapIterator<number> {
        iterators += 1;
        return super.keys();
      }
    }
    const [held, sets] = [10_000, 20_000];
    const map = new Counting(held);
    for (let at = 0; at < held + sets; at += 1) map.set(at, at);
    expect([map.size, map.has(sets - 1), map.has(sets)]).toEqual([held, false, true]);
    expect(iterators).toBeLessThan(50);
  });
});
