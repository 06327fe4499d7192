import { describe, expect, it } from 'vitest';
import {
  circuit,
  FAILURES_MAX,
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
});
