import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../compiler/contract/iso-time.ts';
import { clientHash } from '../../../gatekeeper/log/client-hash.ts';

/** Another salt each time. */
function counting(): (bytes: number) => Buffer {
  let count = 0;
  return (bytes) => {
    count += 1;
    return Buffer.alloc(bytes, count);
  };
}

describe('clientHash()', () => {
  it('names a client the same all day, and others differently', () => {
    const nameOf = clientHash({ clock: () => 0, random: counting() });
    const name = nameOf('203.0.113.7');
    expect(name).toMatch(/^[0-9a-f]{16}$/);
    expect(nameOf('203.0.113.7')).toBe(name);
    expect(nameOf('::ffff:203.0.113.7')).toBe(name);
    expect(nameOf('203.0.113.8')).not.toBe(name);
  });

  it('names a whole /64 the same', () => {
    const nameOf = clientHash({ clock: () => 0, random: counting() });
    expect(nameOf('2001:db8::1')).toBe(nameOf('2001:db8::2'));
    expect(nameOf('2001:db8:0:1::1')).not.toBe(nameOf('2001:db8::1'));
  });

  it('gives another name on the next day, and in another process', () => {
    const time = { now: DAY_MS - 1 };
    const nameOf = clientHash({ clock: () => time.now, random: counting() });
    const before = nameOf('203.0.113.7');
    time.now += 1;
    expect(nameOf('203.0.113.7')).not.toBe(before);
    const other = clientHash({ clock: () => 0, random: (bytes) => Buffer.alloc(bytes, 9) });
    expect(other('203.0.113.7')).not.toBe(before);
  });
});
