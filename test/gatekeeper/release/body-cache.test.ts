import { describe, expect, it } from 'vitest';
import { BodyCache } from '../../../gatekeeper/release/body-cache.ts';

const value = (size: number): { bytes: Buffer } => ({ bytes: Buffer.alloc(size) });

describe('BodyCache', () => {
  it('keeps what fits and drops the least recently used', () => {
    const cache = new BodyCache(10);
    cache.set('a', value(4));
    cache.set('b', value(4));
    cache.get('a');
    cache.set('c', value(4));
    expect(cache.get('b')).toBeUndefined();
    expect(cache.get('a')).toBeDefined();
    expect(cache.bytes).toBe(8);
  });

  it('never holds more bytes than its bound, also for one huge or one repeated key', () => {
    const cache = new BodyCache(10);
    cache.set('huge', value(11));
    expect(cache.get('huge')).toBeUndefined();
    for (let at = 0; at < 100; at += 1) {
      cache.set(`k${at % 7}`, value(at % 11));
      expect(cache.bytes).toBeLessThanOrEqual(10);
    }
  });
});
