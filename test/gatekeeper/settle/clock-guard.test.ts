import { describe, expect, it } from 'vitest';
import { OutsideTime } from '../../../gatekeeper/settle/clock-guard.ts';
import { NOW_MS } from '../payer.ts';

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
