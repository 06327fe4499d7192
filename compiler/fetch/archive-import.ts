import { defined } from '../contract/defined.ts';
import { HOUR_MS, isoTime } from '../contract/iso-time.ts';
import { readPayload } from '../import/import-command.ts';
import { type BatchDisk, type BatchFile, batchName } from '../import/merge-batch.ts';
import { ImportError, type Imported, type Skipped } from '../import/payload.ts';
import type { Source } from '../import/source.ts';
import { sourceOf } from '../import/sources.ts';
import { type Archive, type Archived, ArchiveError, fetchNoteOf, notePath } from './archive.ts';
import { addToBatch, factKey, type IdRow, newsOf, rowsOf, valueText } from './merge-news.ts';

/** What became of one fetch. */
export interface TakenFetch {
  readonly archived: Archived;
  readonly files: readonly BatchFile[];
  /** Rows that were new in their batch or stood there already. */
  readonly rows: number;
  /** Rows that wait for the next hour, because the batch of this one says something else. */
  readonly waiting: number;
  readonly skipped: readonly Skipped[];
  readonly remarks: readonly string[];
}

/** Rows that had waited and were stored in the batch of their next hour. */
interface StoredRows {
  readonly rows: number;
  /** Rows of which that batch says something else too: somebody else stored that. */
  readonly dropped: number;
}

interface WaitingRows {
  readonly batch: string;
  readonly opensAt: number;
  readonly rows: Map<string, IdRow>;
}

interface ImportContext {
  readonly archive: Pick<Archive, 'payload' | 'at'>;
  /** The folder of batches. */
  readonly disk: BatchDisk;
  /** A source by its name where it is not one of the table. */
  readonly known?: (id: string) => Source | null;
}

/**
 * Turns archived fetches into batches. What it writes follows from the fetches alone, taken in the order of
 * `Archive.fetches()`, so that the archive can be imported again to the same bytes.
 *
 *  - A fetch goes into the batch of its hour, and only with what its address did not say in the fetch before. The newest
 *    reading of each entity is always told, since it says that somebody looked.
 *  - An agency may revise a reading within the hour. A batch says one thing only, so the revision waits for the batch of
 *    the next hour. If the source takes it back before, nothing waits any longer.
 */
export class ArchiveImport {
  readonly #by: ImportContext;
  /** By source: the addresses of some name the time at which they are asked. */
  readonly #waiting = new Map<string, WaitingRows>();

  constructor(by: ImportContext) {
    this.#by = by;
  }

  /** How many rows wait, of all sources or some. */
  waiting(isOf: (source: string) => boolean = () => true): number {
    const lists = [...this.#waiting].filter(([source]) => isOf(source));
    return lists.reduce((sum, [, { rows }]) => sum + rows.size, 0);
  }

  /** Imports a fetch. Throws an ImportError or ArchiveError, and then wrote nothing of it. */
  take(archived: Archived): TakenFetch {
    const { source, fetched_at, held } = archived;
    this.settle(Date.parse(fetched_at));
    if (held !== undefined) return { archived, ...NOTHING, remarks: [`held back: ${held}`] };
    const imported = this.#read(archived);
    const all = rowsOf(imported);
    refuseContradiction(all, notePath(archived));
    this.#forget(source, all);
    const news = newsOf(all, this.#before(archived));
    const { files, other } = addToBatch(news, batchName(fetched_at), this.#by.disk);
    this.#await(archived, other);
    const { skipped, remarks } = imported;
    const rows = news.length - other.length;
    return { archived, files, rows, waiting: other.length, skipped, remarks };
  }

  /** Stores what waited for an hour that has begun; `now` in epoch milliseconds. */
  settle(now: number): StoredRows {
    let [rows, dropped] = [0, 0];
    for (const [source, { batch, opensAt, rows: waited }] of this.#waiting) {
      if (opensAt > now) continue;
      const added = addToBatch([...waited.values()], batch, this.#by.disk);
      // Forgotten only once it is stored: a disk that fails must not lose a revision.
      this.#waiting.delete(source);
      rows += waited.size - added.other.length;
      dropped += added.other.length;
    }
    return { rows, dropped };
  }

  #read(archived: Archived): Imported {
    const { archive, known } = this.#by;
    const payload = {
      bytes: archive.payload(archived),
      note: fetchNoteOf(archived),
      subject: notePath(archived),
    };
    return readPayload(known?.(archived.source) ?? sourceOf(archived.source), payload);
  }

  /** What the address said before; nothing where that could not be read. */
  #before({ after }: Archived): IdRow[] {
    if (after === undefined) return [];
    try {
      return rowsOf(this.#read(this.#by.archive.at(after)));
    } catch (error) {
      if (error instanceof ImportError || error instanceof ArchiveError) return [];
      throw error;
    }
  }

  /** What waits is no longer true where its source says something else now. */
  #forget(source: string, rows: readonly IdRow[]): void {
    const waiting = this.#waiting.get(source);
    if (waiting === undefined) return;
    for (const one of rows) {
      const key = factKey(one);
      if (key === null) continue;
      const waits = waiting.rows.get(key);
      if (waits !== undefined && valueText(waits) !== valueText(one)) waiting.rows.delete(key);
    }
  }

  #await({ source, fetched_at }: Archived, other: readonly IdRow[]): void {
    if (other.length === 0) return;
    const opensAt = Math.floor(Date.parse(fetched_at) / HOUR_MS) * HOUR_MS + HOUR_MS;
    const batch = batchName(isoTime(opensAt));
    const waiting = this.#waiting.get(source) ?? { batch, opensAt, rows: new Map() };
    for (const one of other) {
      const key = defined(factKey(one), 'what the row is about');
      if (!waiting.rows.has(key)) waiting.rows.set(key, one);
    }
    this.#waiting.set(source, waiting);
  }
}

const NOTHING = { files: [], rows: 0, waiting: 0, skipped: [] } as const;

/** A payload that says two things of one reading is not an honest revision. */
function refuseContradiction(rows: readonly IdRow[], subject: string): void {
  const values = new Map<string, string>();
  for (const one of rows) {
    const key = factKey(one);
    if (key === null) continue;
    const value = valueText(one);
    if ((values.get(key) ?? value) !== value) {
      const state = `it says two things of ${key.slice(0, 200)}; fetch it again`;
      throw new ImportError({ subject, state });
    }
    values.set(key, value);
  }
}
