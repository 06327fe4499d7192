import type { Journal } from '../journal/journal.ts';
import type { Reconciler } from './payment.ts';

/** Payments in doubt that are looked at in one pass. */
export const RECONCILE_ROWS_MAX = 1000;
/** Looked at side by side, so that one that hangs does not hold up the others. */
export const RECONCILE_PARALLEL = 8;
/** Time between two passes: a doubt mostly ends with the next few blocks. */
export const RECONCILE_INTERVAL_MS = 30_000;

export interface ReconcileOptions {
  readonly journal: Journal;
  readonly desk: Reconciler;
  readonly log: (entry: Readonly<Record<string, unknown>>) => void;
  readonly intervalMs?: number;
}

/** Looks in the background for the end of every payment whose end nobody noted, at once and then again and again. */
export function reconcileInBackground(options: ReconcileOptions): { close(): void } {
  const { log, intervalMs = RECONCILE_INTERVAL_MS } = options;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const pass = async (): Promise<void> => {
    try {
      const { open, resolved } = await reconcileOnce(options, () => isClosed);
      if (open > 0) log({ event: 'payments_reconciled', open, resolved });
    } catch (error) {
      if (!isClosed) log({ event: 'reconcile_failed', error: String(error) });
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

/** One pass; tells how many payments were open and how many of them are not any more. */
export async function reconcileOnce(
  { journal, desk }: Pick<ReconcileOptions, 'journal' | 'desk'>,
  isOver: () => boolean = () => false,
): Promise<{ readonly open: number; readonly resolved: number }> {
  const keys = [...(await journal.unresolved(RECONCILE_ROWS_MAX))];
  const open = keys.length;
  let resolved = 0;
  const work = async (): Promise<void> => {
    for (let key = keys.shift(); key !== undefined && !isOver(); key = keys.shift()) {
      if (await desk.reconcile(key)) resolved += 1;
    }
  };
  await Promise.all(Array.from({ length: RECONCILE_PARALLEL }, work));
  return { open, resolved };
}
