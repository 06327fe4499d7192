import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leadingOrder } from '../../compiler/release/hash-lines.ts';

describe('leadingOrder()', () => {
  it('gives the order of leads, and of the rest where those are the same', () => {
    const item = fc.tuple(fc.constantFrom(0, 1, 2 ** 28 - 1), fc.nat(5));
    fc.assert(
      fc.property(fc.array(item, { maxLength: 40 }), (items) => {
        const order = leadingOrder({
          count: items.length,
          lead: (at) => items[at]?.[0] ?? 0,
          compare: (a, b) => (items[a]?.[1] ?? 0) - (items[b]?.[1] ?? 0),
        });
        const want = [...items].sort(([a, b], [c, d]) => a - c || b - d);
        expect([...order].map((at) => items[at])).toEqual(want);
        expect(new Set(order).size).toBe(items.length);
      }),
    );
  });

  it('refuses more than it can tell apart', () => {
    const items = { count: 2 ** 24 + 1, lead: () => 0, compare: () => 0 };
    expect(() => leadingOrder(items)).toThrow(RangeError);
  });
});
