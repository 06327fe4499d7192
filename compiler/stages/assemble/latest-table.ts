import { KnownEntities, type Shelves } from '../remember/known-entities.ts';
import type { Latest } from './latest.ts';

/** The latest reading of every entity of the release: all that joins entities is read off it. */
export class LatestTable {
  readonly #shelvesOf: (signalId: string) => Shelves | null;
  readonly #known = new Map<string, KnownEntities>();
  readonly #whole = new Map<string, ReadonlyMap<string, Latest>>();

  constructor(shelvesOf: (signalId: string) => Shelves | null) {
    this.#shelvesOf = shelvesOf;
  }

  get(signalId: string, entity: string): Latest | null {
    const whole = this.#whole.get(signalId);
    return whole === undefined ? this.#of(signalId).latest(entity) : (whole.get(entity) ?? null);
  }

  /** Every entity of a signal, in no order, one after the other. */
  all(signalId: string): Iterable<Latest> {
    return this.#of(signalId).all();
  }

  /** The same by entity, kept for whoever asks next. */
  whole(signalId: string): ReadonlyMap<string, Latest> {
    const known = this.#whole.get(signalId);
    if (known !== undefined) return known;
    const rows = new Map<string, Latest>();
    for (const latest of this.all(signalId)) rows.set(latest.reading.entity, latest);
    this.#whole.set(signalId, rows);
    return rows;
  }

  #of(signalId: string): KnownEntities {
    const known = this.#known.get(signalId);
    if (known !== undefined) return known;
    const opened = new KnownEntities(this.#shelvesOf(signalId));
    this.#known.set(signalId, opened);
    return opened;
  }
}
