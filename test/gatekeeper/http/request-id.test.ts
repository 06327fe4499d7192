import { describe, expect, it } from 'vitest';
import { RequestIds } from '../../../gatekeeper/http/request-id.ts';

describe('RequestIds', () => {
  it.each(['a', 'A-b_c.9', '0'.repeat(64), '018f7a3e-9c1b-7d55-8e1a-5f0a1b2c3d4e'])(
    'takes over "%s"',
    (id) => {
      expect(new RequestIds('own').of(id)).toBe(id);
    },
  );

  it.each([
    null,
    '',
    '0'.repeat(65),
    '-a',
    'a b',
    'a, b',
    'a"b',
    'é',
    'a\u007f',
    '$(reboot)',
    'own-7',
  ])('makes one in place of %j', (id) => {
    expect(new RequestIds('own').of(id)).toBe('own-1');
  });

  it('makes none twice', () => {
    const ids = new RequestIds('own');
    const made = Array.from({ length: 1000 }, () => ids.of(null));
    expect(new Set(made).size).toBe(1000);
  });

  it('sends its own on as they are, and those of clients never alike', () => {
    const ids = new RequestIds('own');
    expect(ids.sent(ids.of(null))).toBe('own-1');
    const [first, second] = [ids.sent(ids.of('theirs')), ids.sent(ids.of('theirs'))];
    expect(first).toMatch(/^theirs\.own-/);
    expect(second).toMatch(/^theirs\.own-/);
    expect(first).not.toBe(second);
  });
});
