import { describe, expect, it } from 'vitest';
import { oncePer } from '../../gatekeeper/once-per.ts';

describe('oncePer()', () => {
  it('makes the same value once for an object that is asked about in a row', () => {
    const seen: string[] = [];
    const valueOf = oncePer(({ name }: { name: string }) => {
      seen.push(name);
      return { name };
    });
    const [left, right] = [{ name: 'left' }, { name: 'right' }];
    expect(valueOf(left)).toBe(valueOf(left));
    expect(valueOf(right).name).toBe('right');
    expect(seen).toEqual(['left', 'right']);
  });

  it('gives no object the value of another that looks the same', () => {
    const valueOf = oncePer((of: { at: number }) => ({ of }));
    const [first, second] = [{ at: 1 }, { at: 1 }];
    expect(valueOf(first)).not.toBe(valueOf(second));
    expect(valueOf(first).of).toBe(first);
  });

  it('tries again where making it failed', () => {
    let fails = true;
    const valueOf = oncePer((of: object) => {
      if (fails) throw new Error('not yet');
      return of;
    });
    const one = {};
    expect(() => valueOf(one)).toThrow('not yet');
    fails = false;
    expect(valueOf(one)).toBe(one);
  });
});
