import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BackPressure, Circuit } from '../../../gatekeeper/settle/circuit.ts';
import { OutsideTime } from '../../../gatekeeper/settle/clock-guard.ts';
import type { NoVerdict, ValidityOutcome } from '../../../gatekeeper/settle/facilitator.ts';
import { NOW_MS } from '../payer.ts';

const PROBE_EVERY_MS = 1000;
const REST_MS_MAX = 30_000;
const REST_MS = 1000;
const FAILURE_COUNTS_MS = 30_000;
const FAILURES_MAX = 5;

/** A circuit of a service that answers our own question or not, as `service.answers` says. */
function failing(answers: boolean) {
  const time = { now: 0 };
  const service = { answers, probes: 0 };
  const probe = async (): Promise<boolean> => {
    service.probes += 1;
    return service.answers;
  };
  const one = new Circuit(() => time.now);
  const fail = async (times: number): Promise<void> => {
    for (let at = 0; at < times; at++) one.note(false, probe);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const mayAsk = async (): Promise<boolean> => one.mayAsk(probe);
  const succeed = (): void => one.note(true, probe);
  const state = (): string => one.state();
  return { time, service, fail, mayAsk, succeed, isSuspect: () => one.isSuspect(), state };
}

describe('Circuit', () => {
  it('says whether it is asked, asked last or skipped', async () => {
    const { state, fail, succeed } = failing(true);
    expect(state()).toBe('closed');
    await fail(FAILURES_MAX);
    expect(state()).toBe('suspect');
    succeed();
    expect(state()).toBe('closed');
    const silent = failing(false);
    await silent.fail(FAILURES_MAX);
    expect(silent.state()).toBe('open');
    silent.time.now += REST_MS;
    silent.service.answers = true;
    expect([await silent.mayAsk(), silent.state()]).toEqual([true, 'closed']);
  });

  it('Circuit leaves a service alone after failures in a row and a probe that fails, not after some', async () => {
    const { mayAsk, succeed, fail, service } = failing(false);
    await fail(FAILURES_MAX - 1);
    succeed();
    await fail(FAILURES_MAX - 1);
    expect([await mayAsk(), service.probes]).toEqual([true, 0]);
    await fail(1);
    expect([await mayAsk(), service.probes]).toEqual([false, 1]);
  });

  it('I4: Circuit is opened by no number of failed calls while the service answers a question of ours', async () => {
    const { mayAsk, fail, time, service, isSuspect } = failing(true);
    for (let round = 0; round < 20; round++) {
      await fail(100);
      expect([await mayAsk(), isSuspect()]).toEqual([true, true]);
      time.now += PROBE_EVERY_MS;
    }
    expect(service.probes).toBe(20);
    service.answers = false;
    await fail(1);
    expect(await mayAsk()).toBe(false);
  });

  it('Circuit probes a suspect once in a while, however many calls fail', async () => {
    const { fail, time, service } = failing(true);
    await fail(1000);
    expect(service.probes).toBe(1);
    time.now += PROBE_EVERY_MS - 1;
    await fail(1000);
    expect(service.probes).toBe(1);
    time.now += 1;
    await fail(1000);
    expect(service.probes).toBe(2);
  });

  it('Circuit probes for the first one who asks after the rest, and lets everybody in when that succeeds', async () => {
    const { time, mayAsk, fail, service } = failing(false);
    await fail(FAILURES_MAX);
    service.answers = true;
    expect(await mayAsk()).toBe(false);
    time.now = REST_MS;
    expect(await Promise.all([mayAsk(), mayAsk()])).toEqual([true, false]);
    expect([await mayAsk(), await mayAsk()]).toEqual([true, true]);
    expect(service.probes).toBe(2);
  });

  it('Circuit rests longer after each failed probe, up to a limit', async () => {
    const { time, mayAsk, fail, service } = failing(false);
    await fail(FAILURES_MAX);
    time.now = REST_MS;
    expect(await mayAsk()).toBe(false);
    time.now += REST_MS * 2 - 1;
    expect([await mayAsk(), service.probes]).toEqual([false, 2]);
    time.now += 1;
    expect([await mayAsk(), service.probes]).toEqual([false, 3]);
    for (let trial = 0; trial < 20; trial++) {
      time.now += REST_MS_MAX;
      expect([await mayAsk(), service.probes]).toEqual([false, 4 + trial]);
    }
    service.answers = true;
    time.now += REST_MS_MAX;
    expect(await mayAsk()).toBe(true);
    service.answers = false;
    await fail(FAILURES_MAX);
    time.now += REST_MS;
    service.answers = true;
    expect(await mayAsk()).toBe(true);
  });

  it('Circuit does not rest longer because many were waiting when it broke', async () => {
    const { time, mayAsk, fail, service } = failing(false);
    await fail(FAILURES_MAX);
    await fail(100);
    service.answers = true;
    time.now = REST_MS;
    expect(await mayAsk()).toBe(true);
  });

  it('Circuit is closed by the success of a call that was on its way', async () => {
    const { mayAsk, fail, succeed, isSuspect } = failing(false);
    await fail(FAILURES_MAX);
    expect([await mayAsk(), isSuspect()]).toEqual([false, true]);
    succeed();
    expect([await mayAsk(), isSuspect()]).toEqual([true, false]);
  });

  it('Circuit forgets failures that are long over', async () => {
    const { mayAsk, fail, time, service, isSuspect } = failing(false);
    for (let at = 0; at < 20; at++) {
      await fail(1);
      time.now += FAILURE_COUNTS_MS / (FAILURES_MAX - 1);
    }
    expect([await mayAsk(), isSuspect(), service.probes]).toEqual([true, false, 0]);
  });

  it('Circuit is not opened by a probe that comes back after a success', async () => {
    const one = new Circuit(() => 0);
    let answer = (_: boolean): void => {};
    const probe = (): Promise<boolean> =>
      new Promise((resolve) => {
        answer = resolve;
      });
    for (let at = 0; at < FAILURES_MAX; at++) one.note(false, probe);
    one.note(true, probe);
    answer(false);
    await new Promise((resolve) => setImmediate(resolve));
    expect(one.mayAsk(probe)).toBe(true);
  });
});

const PATIENCE_MS = 15_000;
const VALID: ValidityOutcome = { verdict: 'valid' };
const busy = (retryMs: number): NoVerdict => ({ verdict: 'none', detail: 'status 429', retryMs });

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
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

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

const DAY_MS = 86_400_000;
const CLOCK_OFF_MS_MAX = 600_000;

/** A clock that can be set, and one that cannot. */
function clocks() {
  const time = { now: NOW_MS, monotonic: 5 };
  const outside = new OutsideTime({ clock: () => time.now, monotonic: () => time.monotonic });
  const pass = (ms: number): void => {
    time.now += ms;
    time.monotonic += ms;
  };
  return { time, outside, pass };
}

describe('OutsideTime', () => {
  it('I61: knows nothing before something outside told a time', () => {
    const { outside, time } = clocks();
    time.now += 40 * DAY_MS;
    expect([outside.fault(), outside.passedMs()]).toEqual([null, null]);
    expect(outside.earliestMs()).toBe(time.now);
  });

  it.each([40 * DAY_MS, -40 * DAY_MS, CLOCK_OFF_MS_MAX + 1, -CLOCK_OFF_MS_MAX - 1])(
    'I61: tells a clock that jumps by %i ms, and lets nothing be deleted for a day after it was corrected',
    (jump) => {
      const { outside, time, pass } = clocks();
      outside.note(NOW_MS);
      pass(3_600_000);
      expect([outside.fault(), outside.passedMs()]).toEqual([null, NOW_MS + 3_600_000]);
      time.now += jump;
      expect(outside.fault()?.message).toMatch(
        /^Cannot take payments at "[^"]+Z": the chain node.* tells \S+Z; correct the clock/,
      );
      expect(outside.passedMs()).toBeNull();
      expect(outside.earliestMs()).toBe(Math.min(time.now, NOW_MS + 3_600_000));
      time.now -= jump;
      expect([outside.fault(), outside.passedMs()]).toEqual([null, null]);
      pass(DAY_MS - 1);
      expect(outside.passedMs()).toBeNull();
      pass(1);
      expect(outside.passedMs()).toBe(NOW_MS + 3_600_000 + DAY_MS);
    },
  );

  it('I61: believes the newer of two times, so that a machine that slept goes on', () => {
    const { outside, time } = clocks();
    outside.note(NOW_MS);
    // While a machine sleeps, the clock that nobody sets stands still.
    time.now += DAY_MS;
    expect(outside.fault()).not.toBeNull();
    outside.note(NOW_MS + DAY_MS);
    expect(outside.fault()).toBeNull();
  });

  it('takes a clock that is a little off, and deletes by the earlier of both', () => {
    const { outside, time } = clocks();
    outside.note(NOW_MS);
    time.now += CLOCK_OFF_MS_MAX;
    expect([outside.fault(), outside.passedMs()]).toEqual([null, NOW_MS]);
    time.now -= 2 * CLOCK_OFF_MS_MAX;
    expect([outside.fault(), outside.passedMs()]).toEqual([null, time.now]);
  });
});
