import { describe, expect, it } from 'vitest';
import { Circuit } from '../../../gatekeeper/facilitator/circuit.ts';

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
