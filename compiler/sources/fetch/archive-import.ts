import { defined } from '../../format/errors.ts';
import { HOUR_MS, isoTime } from '../../format/iso-time.ts';
import { grouped } from '../../format/lists.ts';
import { readPayload } from '../import-command.ts';
import { ImportError, type Imported, type Skipped } from '../kit/payload.ts';
import type { Source } from '../kit/source.ts';
import {
  type BatchDisk,
  type BatchFile,
  type BatchRow,
  batchName,
  batchText,
  sortText,
  storedRows,
} from '../merge-batch.ts';
import { sourceOf } from '../sources.ts';
import { type Archive, type Archived, ArchiveError, fetchNoteOf, notePath } from './archive.ts';

interface IdRow {
  readonly id: string;
  readonly row: BatchRow;
}

/** Members that say how a fact was come by, not what it is. */
const FETCH_MEMBERS: readonly string[] = ['collected_at', 'evidence'];

/** What tells the rows of a collection apart; two rows alike in these are about one thing. */
const ROW_KEYS: Readonly<Record<string, readonly string[]>> = {
  'filing.submission': ['accession', 'source'],
  'mcp.server': ['capture_date', 'server_id'],
  'stable.coin': ['capture_date', 'coin_id'],
  'stablecoin.death': ['symbol', 'confirmed_dead_at'],
  'trust.service': ['capture_date', 'host'],
};

function rowsOf({ readings, rows }: Imported): IdRow[] {
  return [...readings, ...(rows ?? [])].flatMap(([id, list]) =>
    list.map((row) => ({ id, row: row as unknown as BatchRow })),
  );
}

/** What a row is about; null for one that stands for itself, such as a list. */
function factKey({ id, row }: IdRow): string | null {
  const names = row.current === undefined ? ROW_KEYS[id] : ['entity', 'observed_at'];
  const values = (names ?? []).map((name) => row[name]);
  if (values.length === 0 || values.some((value) => value === undefined)) return null;
  return JSON.stringify([id, ...values]);
}

/** What makes two readings of one instant the same fact, as intake judges them: it takes no two others from one batch. */
const CORE_MEMBERS: readonly string[] = [
  'current',
  'source_ref',
  'source_tier',
  'sources',
  'lifecycle',
];

/** What a batch may say once only: the fact of a reading, the whole of any other row. */
function valueText({ row }: IdRow): string {
  if (row.current === undefined) return factText({ row });
  return JSON.stringify(CORE_MEMBERS.map((name) => row[name] ?? null));
}

/** All that a row says, however it was come by. */
function factText({ row }: Pick<IdRow, 'row'>): string {
  const members = Object.entries(row).filter(([name]) => !FETCH_MEMBERS.includes(name));
  return rowText(Object.fromEntries(members));
}

/** A row as text, whatever the order of its members. */
function rowText(row: BatchRow): string {
  return JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Adds rows to the files of a batch. What the batch says already is not said again, and what it says otherwise is handed
 * back: nothing stored is replaced. Throws an ImportError where a stored file cannot be read.
 */
function addToBatch(
  rows: readonly IdRow[],
  batch: string,
  disk: BatchDisk,
): { files: readonly BatchFile[]; other: readonly IdRow[] } {
  const other: IdRow[] = [];
  const files: BatchFile[] = [];
  const lists = [...grouped(rows, ({ id }) => id)].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [id, own] of lists) {
    const path = `${batch}/${id}.ndjson`;
    const before = disk.read(path);
    const stored = before === null ? [] : storedRows(path, before);
    const known = new KnownFacts(stored.map((row) => ({ id, row })));
    const verdicts = own.map((one) => [one, known.add(one)] as const);
    const fresh = verdicts.flatMap(([{ row }, verdict]) => (verdict === 'new' ? [row] : []));
    for (const [one, verdict] of verdicts) if (verdict === 'other') other.push(one);
    if (fresh.length > 0)
      disk.write(
        path,
        batchText(
          [...stored, ...fresh]
            .map((row) => [sortText(row), row] as const)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([, row]) => row),
        ),
      );
    files.push({ path, written: fresh.length > 0 });
  }
  return { files, other };
}

class KnownFacts {
  readonly #values = new Map<string, string>();
  readonly #facts = new Set<string>();

  constructor(stored: readonly IdRow[]) {
    for (const one of stored) this.add(one);
  }

  /** Takes a row in, unless the file says it already, or says something other. */
  add(one: IdRow): 'new' | 'known' | 'other' {
    const key = factKey(one);
    const values = valueText(one);
    if (key !== null && (this.#values.get(key) ?? values) !== values) return 'other';
    // A row that stands for itself is the same only where its fetch is the same too.
    const facts = key === null ? rowText(one.row) : factText(one);
    if (this.#facts.has(facts)) return 'known';
    if (key !== null) this.#values.set(key, values);
    this.#facts.add(facts);
    return 'new';
  }
}

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

interface Waiting {
  batch: string;
  opensAt: number;
  rows: Map<string, IdRow>;
}

interface ImportContext {
  readonly archive: Pick<Archive, 'payload' | 'at'>;
  readonly disk: BatchDisk;
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
  readonly #waiting = new Map<string, Waiting>();

  constructor(by: ImportContext) {
    this.#by = by;
  }

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
    // A payload that says two things of one reading is not an honest revision.
    const subject = notePath(archived);
    const values = new Map<string, string>();
    for (const one of all) {
      const key = factKey(one);
      if (key === null) continue;
      const value = valueText(one);
      if ((values.get(key) ?? value) !== value) {
        const state = `it says two things of ${key.slice(0, 200)}; fetch it again`;
        throw new ImportError({ subject, state });
      }
      values.set(key, value);
    }
    this.#forget(source, all);
    // Rows that say something else than `before`, the answer of the same address before this one. The newest reading of each
    // entity always stays, because it tells that somebody looked; so does every list and every row of a roster, because what
    // they leave out counts.
    const known = new Map(
      this.#before(archived).map((one) => [factKey(one), factText(one)] as const),
    );
    const newest = new Map<string, number>();
    for (const { id, row } of all) {
      const series = `${id} ${String(row.entity)}`;
      const time = Date.parse(String(row.observed_at));
      if (time > (newest.get(series) ?? Number.NEGATIVE_INFINITY)) newest.set(series, time);
    }
    const news = all.filter((one) => {
      const { id, row } = one;
      const key = factKey(one);
      if (key === null || known.get(key) !== factText(one)) return true;
      if (row.current === undefined) return row.kind !== 'filing';
      return Date.parse(String(row.observed_at)) === newest.get(`${id} ${String(row.entity)}`);
    });
    const { files, other } = addToBatch(news, batchName(fetched_at), this.#by.disk);
    this.#await(archived, other);
    const { skipped, remarks } = imported;
    const rows = news.length - other.length;
    return { archived, files, rows, waiting: other.length, skipped, remarks };
  }

  /** Stores what waited for an hour that has begun; `now` in epoch milliseconds. */
  settle(now: number): { rows: number; dropped: number } {
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
