import { describe, expect, it } from 'vitest';
import { CallWatch } from '../../../gatekeeper/state/call-watch.ts';

const SLOW_COUNTS_MS = 30_000;

function watch() {
  const time = { now: 0 };
  const calls = new CallWatch({ slowMs: 1000, now: () => time.now });
  const ends: (() => void)[] = [];
  const begin = () => calls.watched(() => new Promise<void>((done) => ends.push(done)));
  return { time, calls, begin, ends, fault: () => calls.fault('a call') };
}

describe('CallWatch', () => {
  it('notices a call that hangs while it runs, and none that is quick', async () => {
    const { time, begin, ends, fault } = watch();
    const running = begin();
    time.now = 999;
    expect(fault()).toBeNull();
    time.now = 1000;
    expect(fault()).toBe('a call takes more than 1 s');
    ends[0]?.();
    await running;
    time.now += SLOW_COUNTS_MS - 1;
    expect(fault()).not.toBeNull();
    time.now += 1;
    expect(fault()).toBeNull();
  });

  it('notices a slow call that ended before anybody looked, also one that failed', async () => {
    const { time, calls, fault } = watch();
    const failing = calls.watched(async () => {
      time.now += 1000;
      throw new Error('down');
    });
    await expect(failing).rejects.toThrow('down');
    expect(fault()).not.toBeNull();
  });

  it('goes by the oldest call, and forgets when it is told to', async () => {
    const { time, calls, begin, ends, fault } = watch();
    const first = begin();
    time.now = 600;
    const second = begin();
    ends[0]?.();
    await first;
    time.now = 1500;
    expect(fault()).toBeNull();
    time.now = 1600;
    expect(fault()).not.toBeNull();
    calls.forget();
    expect(fault()).toBeNull();
    time.now = 9000;
    ends[1]?.();
    await second;
    expect(fault()).toBeNull();
  });
});
