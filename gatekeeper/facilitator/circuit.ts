/** Failures in a row after which a service is left alone. */
export const FAILURES_MAX = 5;
/** First and longest time that it is left alone; each failed trial doubles the time. */
export const REST_MS = 1000;
export const REST_MS_MAX = 30_000;

/** Remembers whether a service works, so that nobody waits for one that does not. */
export interface Circuit {
  /** Whether it may be asked now; after each rest one caller gets to try. */
  readonly mayAsk: () => boolean;
  /** Notes how a call that was let through went. */
  readonly note: (succeeded: boolean) => void;
}

export function circuit(clock: () => number): Circuit {
  let failures = 0;
  let restMs = REST_MS;
  let untilMs = 0;
  let isTrial = false;
  return {
    mayAsk() {
      if (failures < FAILURES_MAX) return true;
      if (clock() < untilMs) return false;
      // The others wait for what this one finds out, but not for ever.
      untilMs = clock() + restMs;
      isTrial = true;
      return true;
    },
    note(succeeded) {
      if (succeeded) {
        failures = 0;
        restMs = REST_MS;
        return;
      }
      failures += 1;
      // Calls that were on their way already when it was left alone say nothing new.
      if (failures !== FAILURES_MAX && !isTrial) return;
      isTrial = false;
      untilMs = clock() + restMs;
      restMs = Math.min(restMs * 2, REST_MS_MAX);
    },
  };
}
