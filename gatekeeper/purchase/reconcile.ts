import type { Journal } from '../money/journal.ts';
import { messageOf } from '../system/message-of.ts';
import type { PurchaseService } from './purchase-service.ts';
import { Reconciler, type ReconcilerOptions } from './reconciler.ts';

/** Time between two passes: a doubt mostly ends with the next few blocks. */
const RECONCILE_INTERVAL_MS = 30_000;

interface ReconcileOptions extends ReconcilerOptions {
  readonly journal: Pick<Journal, 'unresolved' | 'unfinal'>;
  readonly purchases: Pick<PurchaseService, 'look' | 'watch'>;
  /** After how long a transfer should be there for good; without a chain node nobody can look. */
  readonly finalAfterMs?: number | undefined;
  readonly log: (entry: Readonly<Record<string, unknown>>) => void;
  readonly intervalMs?: number;
}

/**
 * Looks in the background for the end of every payment whose end nobody noted, and once more at what is settled, when its
 * transfer should be there for good; at once, and then again and again. It only looks: money moves for a request that waits.
 */
export function reconcileInBackground(options: ReconcileOptions): { close(): void } {
  const { log, intervalMs = RECONCILE_INTERVAL_MS } = options;
  const reconciler = new Reconciler(options);
  const watcher = watcherOf(options);
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const pass = async (): Promise<void> => {
    try {
      const { open, asked, resolved, errors } = await reconciler.pass(() => isClosed);
      if (asked > 0) log({ event: 'payments_reconciled', open, asked, resolved });
      const watched = await watcher?.pass(() => isClosed);
      const failures = [...errors, ...(watched?.errors ?? [])];
      if (failures.length > 0) logFailure(log, failures);
    } catch (error) {
      if (!isClosed) logFailure(log, [error]);
    }
    if (!isClosed) timer = setTimeout(pass, intervalMs).unref();
  };
  void pass();
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** Goes round what is settled in the same way; null where nobody can look. */
function watcherOf({
  journal,
  purchases,
  clock,
  log,
  finalAfterMs,
}: ReconcileOptions): Reconciler | null {
  if (finalAfterMs === undefined) return null;
  return new Reconciler({
    clock,
    journal: {
      unresolved: (after, limit) => journal.unfinal(after, limit, clock() - finalAfterMs),
    },
    purchases: {
      async look(key) {
        const state = await purchases.watch(key);
        const [network = ''] = key.split('|');
        if (state === 'gone') log({ event: 'payment_reorganised', network });
        // One that moved is looked at again in the next pass.
        return state !== 'open';
      },
    },
  });
}

function logFailure(log: ReconcileOptions['log'], errors: readonly unknown[]): void {
  log({ event: 'reconcile_failed', times: errors.length, error: messageOf(errors[0]) });
}
