import { describe, expect, it } from 'vitest';
import { runLoop } from '../../../compiler/sources/fetch/fetch-cli.ts';
import { systemClock } from '../../../compiler/system/clock.ts';
import { VirtualClock } from './virtual-clock.ts';

const NO_STATUS = {
  version: 1 as const,
  updated_at: null,
  imported_through: null,
  compile: { is_due: true, last_success: null, last_error: null, release: null },
  sources: {},
  warned_on: null,
};
const REPORT = { sources: [], settled: 0, release: null, warnings: [], status: NO_STATUS };

/** A runner whose next work comes after so many milliseconds; a step may fail. */
function played(clock: VirtualClock, waits: readonly (number | Error)[]) {
  const stop = new AbortController();
  const faults: unknown[] = [];
  let step = 0;
  const runner = {
    step: async () => {
      const wait = waits[step];
      step += 1;
      if (step === waits.length) stop.abort();
      if (wait instanceof Error) throw wait;
      return REPORT;
    },
    nextWake: () => clock.now() + Number(waits[step - 1]),
  };
  const by = {
    clock,
    signal: stop.signal,
    onStep: () => {},
    onFault: (e: unknown) => faults.push(e),
  };
  return { run: () => runLoop(runner, by), faults, steps: () => step };
}

describe('runLoop()', () => {
  it('waits until something is due, looks now and then, and ends when it is told to', async () => {
    const clock = new VirtualClock('2026-11-20T11:00:00Z');
    const { run, steps } = played(clock, [30_000, 7_200_000, -5, 1]);
    await run();
    expect(steps()).toBe(4);
    expect(clock.waits).toEqual([30_000, 600_000, 1000]);
  });

  it('goes on after a step that failed', async () => {
    const clock = new VirtualClock('2026-11-20T11:00:00Z');
    const { run, faults } = played(clock, [new Error('no space left'), 1]);
    await run();
    expect(faults).toMatchObject([{ message: 'no space left' }]);
    expect(clock.waits).toEqual([300_000]);
  });
});

describe('systemClock()', () => {
  it('wakes up when it is told to end, and does not sleep after that', async () => {
    const stop = new AbortController();
    const clock = systemClock(Date.now, Math.random);
    const slept = clock.sleep(3_600_000, stop.signal);
    stop.abort();
    await slept;
    await clock.sleep(3_600_000, stop.signal);
    await clock.sleep(1);
  });
});
