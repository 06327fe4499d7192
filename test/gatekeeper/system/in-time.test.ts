import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inTime } from '../../../gatekeeper/system/in-time.ts';

const LIMIT_MS = 1000;
const comes = <T>(ms: number, value: T): Promise<T> =>
  new Promise((resolve) => setTimeout(resolve, ms, value));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('inTime()', () => {
  it('gives what is there in time, and leaves no timer behind', async () => {
    const found = inTime(comes(LIMIT_MS - 1, 'there'), LIMIT_MS);
    await vi.advanceTimersByTimeAsync(LIMIT_MS - 1);
    expect(await found).toBe('there');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('gives null for what comes later', async () => {
    const found = inTime(comes(LIMIT_MS + 1, 'late'), LIMIT_MS);
    await vi.advanceTimersByTimeAsync(LIMIT_MS);
    expect(await found).toBeNull();
  });

  it('throws what the work throws, and leaves no timer behind', async () => {
    await expect(inTime(Promise.reject(new Error('broken')), LIMIT_MS)).rejects.toThrow('broken');
    expect(vi.getTimerCount()).toBe(0);
  });
});
