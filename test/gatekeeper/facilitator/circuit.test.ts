import { describe, expect, it } from 'vitest';
import {
  circuit,
  FAILURES_MAX,
  PAYER_COUNTS_AGAIN_MS,
  REST_MS,
  REST_MS_MAX,
} from '../../../gatekeeper/facilitator/circuit.ts';

function failing() {
  const time = { now: 0 };
  const { mayAsk, note } = circuit(() => time.now);
  const fail = (times: number): void => {
    for (let at = 0; at < times; at++) note(false);
  };
  return { time, mayAsk, note, fail };
}

describe('circuit()', () => {
  it('circuit() leaves a service alone after failures in a row, not after some', () => {
    const { mayAsk, note, fail } = failing();
    fail(FAILURES_MAX - 1);
    note(true);
    fail(FAILURES_MAX - 1);
    expect(mayAsk()).toBe(true);
    fail(1);
    expect(mayAsk()).toBe(false);
  });

  it('circuit() lets one caller try after the rest, and everybody after a success', () => {
    const { time, mayAsk, note, fail } = failing();
    fail(FAILURES_MAX);
    time.now = REST_MS;
    expect([mayAsk(), mayAsk()]).toEqual([true, false]);
    note(true);
    expect([mayAsk(), mayAsk()]).toEqual([true, true]);
  });

  it('circuit() rests longer after each failed trial, up to a limit', () => {
    const { time, mayAsk, fail } = failing();
    fail(FAILURES_MAX);
    time.now = REST_MS;
    expect(mayAsk()).toBe(true);
    fail(1);
    time.now += REST_MS * 2 - 1;
    expect(mayAsk()).toBe(false);
    time.now += 1;
    expect(mayAsk()).toBe(true);
    for (let trial = 0; trial < 20; trial++) {
      fail(1);
      time.now += REST_MS_MAX;
      expect(mayAsk()).toBe(true);
    }
  });

  it('circuit() does not rest longer because many were waiting when it broke', () => {
    const { time, mayAsk, fail } = failing();
    fail(FAILURES_MAX + 100);
    time.now = REST_MS;
    expect(mayAsk()).toBe(true);
  });

  it('I4: circuit() is not opened by the failures of one payer, but by those of several', () => {
    const { mayAsk, note } = failing();
    for (let at = 0; at < 100; at++) note(false, 'mallory');
    expect(mayAsk()).toBe(true);
    for (let at = 1; at < FAILURES_MAX - 1; at++) note(false, `payer ${at}`);
    expect(mayAsk()).toBe(true);
    note(false, 'the last one');
    expect(mayAsk()).toBe(false);
  });

  it('circuit() counts one payer again after a while, so that a lone one does not wait for ever', () => {
    const { time, mayAsk, note } = failing();
    for (let at = 0; at < FAILURES_MAX; at++) {
      expect(mayAsk()).toBe(true);
      note(false, 'alone');
      note(false, 'alone');
      time.now += PAYER_COUNTS_AGAIN_MS;
    }
    time.now -= PAYER_COUNTS_AGAIN_MS;
    expect(mayAsk()).toBe(false);
  });

  it('I4: circuit() gives the trial to the next one when a payer fails whose failures are known', () => {
    const { time, mayAsk, note } = failing();
    for (let at = 0; at < FAILURES_MAX; at++) note(false, `payer ${at}`);
    time.now = REST_MS;
    for (let at = 0; at < 10; at++) {
      expect([mayAsk(), mayAsk()]).toEqual([true, false]);
      note(false, 'payer 0');
    }
    expect(mayAsk()).toBe(true);
    note(false, 'somebody new');
    time.now += REST_MS * 2 - 1;
    expect(mayAsk()).toBe(false);
    time.now += 1;
    expect(mayAsk()).toBe(true);
  });

  it('circuit() forgets who failed after a success', () => {
    const { mayAsk, note } = failing();
    for (let round = 0; round < 3; round++) {
      for (let at = 1; at < FAILURES_MAX; at++) note(false, `payer ${at}`);
      expect(mayAsk()).toBe(true);
      note(true);
    }
  });
});
