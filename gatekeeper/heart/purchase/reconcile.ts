import { messageOf } from '../../../compiler/format/errors.ts';
import type { Journal, OpenPayment } from '../../settle/journal.ts';
import { BoundedMap } from '../../wire/maps.ts';
import type { PurchaseService } from './purchase-service.ts';

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

/** Looks again and again for the end of open payments, and once more at settled ones. It moves no money. */
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
function watcherOf(options: ReconcileOptions): Reconciler | null {
  const { journal, purchases, clock, log, finalAfterMs } = options;
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

/** Open payments that one pass sees; the next pass goes on behind them. */
const RECONCILE_ROWS_MAX = 10_000;
/** Of these, payments that one pass asks somebody about. */
const RECONCILE_ASKS_MAX = 1000;
/** Asked about side by side, so that one that hangs does not hold up the others. */
const RECONCILE_PARALLEL = 8;
/** A pass asks about no further payment after this time; what it began ends with the timeouts of its calls. */
const RECONCILE_PASS_MS = 30_000;
/** A payment that stays in doubt rests, at first until the next pass, then twice as long each time, up to the second. */
const RECONCILE_REST_MS = [20_000, 600_000] as const;
/** Rests that are remembered; the oldest make room, which only means to ask earlier. */
const RECONCILE_RESTS_MAX = 20_000;

export interface ReconcilerOptions {
  readonly journal: Pick<Journal, 'unresolved'>;
  readonly purchases: Pick<PurchaseService, 'look'>;
  readonly clock: () => number;
}

/** Goes round the open payments: each pass begins where the last one ended, so every one gets its turn. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #rests = new BoundedMap<string, { sinceMs: number; forMs: number }>(RECONCILE_RESTS_MAX);
  #place = 0;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  async pass(
    isOver: () => boolean = () => false,
  ): Promise<{ open: number; asked: number; resolved: number; errors: unknown[] }> {
    const { clock } = this.#options;
    const seen = await this.#next();
    const due = seen.filter(({ key }) => this.#isDue(key)).slice(0, RECONCILE_ASKS_MAX);
    const tally = { open: seen.length, asked: 0, resolved: 0, errors: [] as unknown[] };
    const endMs = clock() + RECONCILE_PASS_MS;
    const work = async (): Promise<void> => {
      while (tally.asked < due.length && clock() < endMs && !isOver()) {
        const payment = due[tally.asked++] as OpenPayment;
        this.#place = payment.place;
        if (await this.#ask(payment.key, tally.errors)) tally.resolved += 1;
      }
    };
    await Promise.all(Array.from({ length: RECONCILE_PARALLEL }, work));
    const isThrough = tally.asked === due.length && due.length < RECONCILE_ASKS_MAX;
    if (isThrough) this.#place = seen.at(-1)?.place ?? 0;
    return tally;
  }

  /** The open payments behind the last turn, then those from the beginning. */
  async #next(): Promise<readonly OpenPayment[]> {
    const { journal } = this.#options;
    const behind = await journal.unresolved(this.#place, RECONCILE_ROWS_MAX);
    const room = RECONCILE_ROWS_MAX - behind.length;
    if (room === 0 || this.#place === 0) return behind;
    const first = await journal.unresolved(0, room);
    return [...behind, ...first.filter(({ place }) => place <= this.#place)];
  }

  /** A clock that was set back must not make a rest longer. */
  #isDue(key: string): boolean {
    const rest = this.#rests.get(key);
    return rest === undefined || Math.abs(this.#options.clock() - rest.sinceMs) >= rest.forMs;
  }

  async #ask(key: string, errors: unknown[]): Promise<boolean> {
    let isKnown = false;
    try {
      isKnown = await this.#options.purchases.look(key);
    } catch (error) {
      errors.push(error);
    }
    if (isKnown) {
      this.#rests.delete(key);
      return true;
    }
    const [first, longest] = RECONCILE_REST_MS;
    const last = this.#rests.get(key)?.forMs;
    const forMs = last === undefined ? first : Math.min(2 * last, longest);
    this.#rests.set(key, { sinceMs: this.#options.clock(), forMs });
    return false;
  }
}
