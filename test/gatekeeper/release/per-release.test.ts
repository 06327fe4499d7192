import { describe, expect, it } from 'vitest';
import { perRelease } from '../../../gatekeeper/release/per-release.ts';
import type { ReleaseIndex } from '../../../gatekeeper/release/release-index.ts';

describe('perRelease()', () => {
  const release = (): ReleaseIndex => ({}) as ReleaseIndex;

  it('makes a value once for each release', async () => {
    let made = 0;
    const value = perRelease(async () => {
      made += 1;
      return made;
    });
    const [first, second] = [release(), release()];
    expect(await Promise.all([value(first), value(first), value(second)])).toEqual([1, 1, 2]);
  });

  it('does not keep a failure', async () => {
    let fails = true;
    const value = perRelease(async () => {
      if (fails) throw new Error('EIO');
      return 1;
    });
    const one = release();
    await expect(value(one)).rejects.toThrow('EIO');
    fails = false;
    expect(await value(one)).toBe(1);
  });
});
