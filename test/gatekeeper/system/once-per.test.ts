import { describe, expect, it } from 'vitest';
import { oncePer } from '../../../gatekeeper/system/once-per.ts';

describe('oncePer()', () => {
  it('makes the same value once for an object that is asked about in a row', () => {
    const seen: string[] = [];
    const made = oncePer(({ name }: { name: string }) => {
      seen.push(name);
      return { name };
    });
    const [left, right] = [{ name: 'left' }, { name: 'right' }];
    expect(made(left)).toBe(made(left));
    expect(made(right).name).toBe('right');
    expect(seen).toEqual(['left', 'right']);
  });

  it('gives no object the value of another that looks the same', () => {
    const made = oncePer((of: { at: number }) => ({ of }));
    const [first, second] = [{ at: 1 }, { at: 1 }];
    expect(made(first)).not.toBe(made(second));
    expect(made(first).of).toBe(first);
  });

  it('tries again where making it failed', () => {
    let fails = true;
    const made = oncePer((of: object) => {
      if (fails) throw new Error('not yet');
      return of;
    });
    const one = {};
    expect(() => made(one)).toThrow('not yet');
    fails = false;
    expect(made(one)).toBe(one);
  });
});
