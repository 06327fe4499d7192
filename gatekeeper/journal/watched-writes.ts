import type { Journal } from '../money/journal.ts';

/**
 * How long a failed write counts if none was tried since: without buyers the journal cannot show that it has recovered.
 */
const WRITE_FAILURE_MS = 30_000;

interface WatchedJournal {
  readonly journal: Journal;
  /** Whether the last write, not long ago, failed. */
  isFailing(): boolean;
}

/** Notices whether payments can be written down; `clock` in milliseconds since the epoch. */
export function watchingWrites(journal: Journal, clock: () => number): WatchedJournal {
  let failedAt: number | null = null;
  const watched = async <T>(written: Promise<T>): Promise<T> => {
    try {
      const result = await written;
      failedAt = null;
      return result;
    } catch (error) {
      failedAt = clock();
      throw error;
    }
  };
  return {
    journal: { ...journal, claim: (claim) => watched(journal.claim(claim)) },
    isFailing: () => failedAt !== null && Math.abs(clock() - failedAt) < WRITE_FAILURE_MS,
  };
}
