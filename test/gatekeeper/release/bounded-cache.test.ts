import { describe, expect, it } from 'vitest';
import { BoundedCache } from '../../../gatekeeper/release/bounded-cache.ts';

describe('BoundedCache', () => {
  it('keeps what fits and drops the least recently used', () => {
    const cache = new BoundedCache<string, string>(10);
    cache.set('a', 'A', 4);
    cache.set('b', 'B', 4);
    cache.get('a');
    cache.set('c', 'C', 4);
    expect(cache.get('b')).toBeUndefined();
    expect(cache.get('a')).toBe('A');
    expect(cache.bytes).toBe(8);
  });

  it('never holds more bytes than its bound, also for one huge or one repeated key', () => {
    const cache = new BoundedCache<string, string>(10);
    cache.set('huge', 'H', 11);
    expect(cache.get('huge')).toBeUndefined();
    for (let at = 0; at < 100; at += 1) {
      cache.set(`k${at % 7}`, 'K', at % 11);
      expect(cache.bytes).toBeLessThanOrEqual(10);
    }
  });
});
