import type { Journal } from '../money/journal.ts';
import { CallWatch } from '../state/service-state.ts';
import { messageOf } from '../system/message-of.ts';

/**
 * How long a failed write counts if none was tried since: without buyers the journal cannot show that it has recovered.
 */
const WRITE_FAILURE_MS = 30_000;
/** What takes longer is slow: a buyer waits for several, one after the other. */
const SLOW_MS = 2000;

interface WatchOptions {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Whether the journal is out of reach, which is told elsewhere: what waits or fails then says nothing more. */
  readonly isLost: () => boolean;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

interface WatchedJournal {
  readonly journal: Journal;
  /** Why the last claim, not long ago, could not be written; null if it could. */
  failure(): string | null;
  /** That buyers wait too long for it; null if they do not. */
  slowness(): string | null;
}

/** Notices whether payments can be looked up and written down in time. */
export function watchingWrites(journal: Journal, options: WatchOptions): WatchedJournal {
  const { clock, isLost } = options;
  const calls = new CallWatch({ ...options, slowMs: SLOW_MS });
  const { shared } = journal;
  let failed: { readonly at: number; readonly error: string } | null = null;
  const watched = async <T>(write: () => Promise<T>): Promise<T> => {
    try {
      const result = await calls.watched(write);
      failed = null;
      return result;
    } catch (error) {
      failed = isLost() ? null : { at: clock(), error: messageOf(error) };
      throw error;
    }
  };
  return {
    journal: {
      ...journal,
      // A purchase waits for each of these.
      ...(shared === undefined
        ? {}
        : { shared: { ...shared, learn: (key) => calls.watched(() => shared.learn(key)) } }),
      find: (key) => calls.watched(() => journal.find(key)),
      claim: (claim) => watched(() => journal.claim(claim)),
      conclude: (conclusion) => calls.watched(() => journal.conclude(conclusion)),
    },
    failure() {
      if (failed === null || Math.abs(clock() - failed.at) >= WRITE_FAILURE_MS) return null;
      return failed.error;
    },
    slowness() {
      if (isLost()) calls.forget();
      return calls.fault('a look into the payment journal, or a write,');
    },
  };
}
