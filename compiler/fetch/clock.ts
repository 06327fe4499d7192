/** Time and chance, as parameters of everything that waits. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Waits; ends early, without an error, when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** From 0 to below 1. */
  random(): number;
}

/** Longest that a timer of Node can wait. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** The machine's own clock. */
export function systemClock(now: () => number, random: () => number): Clock {
  return {
    now,
    random,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) return resolve();
        const done = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', done);
          resolve();
        };
        const timer = setTimeout(done, Math.min(ms, TIMER_MS_MAX));
        signal?.addEventListener('abort', done);
      }),
  };
}
