import type { Reading } from '../stages/intake/reading.ts';
import { ImportError } from './import-error.ts';
import { type Imported, type Payload, SkipCount, type Skipped } from './payload.ts';

/** Reasons that a message names. */
const REASONS_MAX = 5;

/** Collects the readings of one payload by signal, and what gave none. */
export class ReadingList {
  readonly skips = new SkipCount();
  readonly #bySignal = new Map<string, Reading[]>();

  add(signal: string, reading: Reading): void {
    const list = this.#bySignal.get(signal);
    if (list === undefined) this.#bySignal.set(signal, [reading]);
    else list.push(reading);
  }

  get count(): number {
    return [...this.#bySignal.values()].reduce((sum, list) => sum + list.length, 0);
  }

  get skipped(): readonly Skipped[] {
    return this.skips.list();
  }

  /** The same for a payload that must give something; throws an ImportError with the reasons where it gave nothing. */
  someOf({ subject }: Payload, remarks: readonly string[] = []): Imported {
    if (this.count > 0) return this.imported(remarks);
    const reasons = this.skipped.map((item) => `${item.subject}: ${item.reason}`);
    const why = reasons.length === 0 ? 'it is empty' : reasons.slice(0, REASONS_MAX).join('; ');
    throw new ImportError({ subject, state: `it gives no reading (${why}); fetch another one` });
  }

  /** What was collected, each list by entity and time. */
  imported(remarks: readonly string[] = []): Imported {
    const readings = new Map(
      [...this.#bySignal].map(([signal, list]) => [signal, list.sort(byEntityAndTime)] as const),
    );
    return { readings, skipped: this.skipped, remarks };
  }
}

function byEntityAndTime(a: Reading, b: Reading): number {
  if (a.entity !== b.entity) return a.entity < b.entity ? -1 : 1;
  return Date.parse(a.observed_at) - Date.parse(b.observed_at);
}
