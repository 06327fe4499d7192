import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BackPressure } from '../../../gatekeeper/facilitator/circuit.ts';
import type { NoVerdict, ValidityOutcome } from '../../../gatekeeper/money/facilitator.ts';

const PATIENCE_MS = 15_000;
const VALID: ValidityOutcome = { verdict: 'valid' };
const busy = (retryMs: number): NoVerdict => ({ verdict: 'none', detail: 'status 429', retryMs });

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A service that takes so many calls in each second, and each of them for 10 ms. */
function limited(perSecond: number) {
  const taken: string[] = [];
  const service = { asked: 0, left: perSecond, taken };
  setInterval(() => {
    service.left = perSecond;
  }, 1000);
  const call = (name: string) => async (): Promise<ValidityOutcome> => {
    service.asked += 1;
    service.left -= 1;
    const isTaken = service.left >= 0;
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (isTaken) taken.push(name);
    return isTaken ? VALID : busy(1000);
  };
  return { service, call };
}

describe('BackPressure', () => {
  it('I60: all who are patient are served, in the order in which they came, and few calls are sent back', async () => {
    const { service, call } = limited(4);
    const pressure = new BackPressure();
    const names = Array.from({ length: 24 }, (_, at) => `buyer ${at}`);
    const outcomes = names.map((name) => pressure.run(call(name), true));
    await vi.advanceTimersByTimeAsync(PATIENCE_MS);
    expect(await Promise.all(outcomes)).toEqual(names.map(() => VALID));
    expect(service.taken).toEqual(names);
    expect(service.asked).toBeLessThan(3 * names.length);
  });

  it('I60: strangers hear at once that it is busy and cause no call, while others wait', async () => {
    const waited = vi.fn();
    const pressure = new BackPressure(waited);
    const answers: ValidityOutcome[] = [busy(2000), VALID];
    const ask = vi.fn(async () => answers.shift() ?? VALID);
    const known = pressure.run(ask, true);
    await vi.advanceTimersByTimeAsync(0);
    expect(pressure.waitMs()).toBe(2000);
    const stranger = vi.fn(async () => VALID);
    const refused = await pressure.run(stranger, false);
    expect(refused).toMatchObject({ verdict: 'none', unsent: true, retryMs: 2000 });
    expect(stranger).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1999);
    expect(ask).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await known).toEqual(VALID);
    expect(pressure.waitMs()).toBe(0);
    expect(await pressure.run(stranger, false)).toEqual(VALID);
    expect(waited).toHaveBeenCalledTimes(1);
  });

  it('nobody waits for longer than patience: what was sent stays without a verdict, what was not is unsent', async () => {
    const pressure = new BackPressure();
    const first = pressure.run(async () => busy(1000), true);
    await vi.advanceTimersByTimeAsync(PATIENCE_MS);
    expect(await first).toEqual(busy(1000));
    expect(await pressure.run(async () => busy(3_600_000), false)).toEqual(busy(3_600_000));
    expect(pressure.waitMs(), 'an absurd rest is not believed').toBe(60_000);
    const ask = vi.fn(async () => VALID);
    expect(await pressure.run(ask, true)).toMatchObject({ unsent: true });
    expect(ask).not.toHaveBeenCalled();
  });

  it('holds nobody up where no call is sent back', async () => {
    const pressure = new BackPressure();
    const ask = vi.fn(() => new Promise<ValidityOutcome>(() => {}));
    for (let i = 0; i < 1000; i++) void pressure.run(ask, i % 2 === 0);
    expect(ask).toHaveBeenCalledTimes(1000);
  });

  it('a call that throws gives its place back', async () => {
    const pressure = new BackPressure();
    await pressure.run(async () => busy(10), false);
    await vi.advanceTimersByTimeAsync(10);
    await expect(pressure.run(() => Promise.reject(new Error('x')), true)).rejects.toThrow('x');
    expect(await pressure.run(async () => VALID, true)).toEqual(VALID);
  });
});
