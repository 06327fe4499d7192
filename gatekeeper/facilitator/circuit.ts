/** Failures in a row after which a service is left alone. */
export const FAILURES_MAX = 5;
/** First and longest time that it is left alone; each failed trial doubles the time. */
export const REST_MS = 1000;
export const REST_MS_MAX = 30_000;

/** How soon one payer's failures count again: what hangs on its payments must not close the service to others. */
export const PAYER_COUNTS_AGAIN_MS = 30_000;
/** Payers that are told apart; whoever fails beyond them counts for nothing. */
const PAYERS_MAX = 1000;

/** Remembers whether a service works, so that nobody waits for one that does not. */
export interface Circuit {
  /** Whether it may be asked now; after each rest one caller gets to try. */
  readonly mayAsk: () => boolean;
  /** Notes how a call that was let through went; `payer` where its payment may be why it failed. */
  readonly note: (succeeded: boolean, payer?: string) => void;
}

export function circuit(clock: () => number): Circuit {
  const payers = new FailedPayers(clock);
  let failures = 0;
  let restMs = REST_MS;
  let untilMs = 0;
  let isTrial = false;
  const lengthen = (): void => {
    isTrial = false;
    untilMs = clock() + restMs;
    restMs = Math.min(restMs * 2, REST_MS_MAX);
  };
  const succeed = (): void => {
    failures = 0;
    restMs = REST_MS;
    payers.forget();
  };
  return {
    mayAsk() {
      if (failures < FAILURES_MAX) return true;
      if (clock() < untilMs) return false;
      // The others wait for what this one finds out, but not for ever.
      untilMs = clock() + restMs;
      isTrial = true;
      return true;
    },
    note(succeeded, payer) {
      if (succeeded) return succeed();
      if (payer !== undefined && !payers.count(payer)) {
        // Nothing was found out, so the next one tries.
        if (isTrial) untilMs = clock();
        return;
      }
      failures += 1;
      // Calls that were on their way already when it was left alone say nothing new.
      if (failures === FAILURES_MAX || isTrial) lengthen();
    },
  };
}

/** Payers whose calls failed since the last one that did not. */
class FailedPayers {
  readonly #clock: () => number;
  readonly #countedAt = new Map<string, number>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Whether another failure of this payer says anything new. */
  count(payer: string): boolean {
    const [now, before] = [this.#clock(), this.#countedAt.get(payer)];
    if (before === undefined && this.#countedAt.size >= PAYERS_MAX) return false;
    if (before !== undefined && Math.abs(now - before) < PAYER_COUNTS_AGAIN_MS) return false;
    this.#countedAt.set(payer, now);
    return true;
  }

  forget(): void {
    this.#countedAt.clear();
  }
}
