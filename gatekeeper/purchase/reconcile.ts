import { messageOf } from '../system/message-of.ts';
import { Reconciler, type ReconcilerOptions } from './reconciler.ts';

/** Time between two passes: a doubt mostly ends with the next few blocks. */
const RECONCILE_INTERVAL_MS = 30_000;

interface ReconcileOptions extends ReconcilerOptions {
  readonly log: (entry: Readonly<Record<string, unknown>>) => void;
  readonly intervalMs?: number;
}

/** Looks in the background for the end of every payment whose end nobody noted, at once and then again and again. It only looks: money moves for a request that waits. */
export function reconcileInBackground(options: ReconcileOptions): { close(): void } {
  const { log, intervalMs = RECONCILE_INTERVAL_MS } = options;
  const reconciler = new Reconciler(options);
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const pass = async (): Promise<void> => {
    try {
      const { open, asked, resolved, errors } = await reconciler.pass(() => isClosed);
      if (asked > 0) log({ event: 'payments_reconciled', open, asked, resolved });
      if (errors.length > 0) logFailure(log, errors);
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

function logFailure(log: ReconcileOptions['log'], errors: readonly unknown[]): void {
  log({ event: 'reconcile_failed', times: errors.length, error: messageOf(errors[0]) });
}
