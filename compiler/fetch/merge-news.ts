import { grouped } from '../contract/grouped.ts';
import {
  type BatchDisk,
  type BatchFile,
  type BatchRow,
  batchText,
  sortText,
  storedRows,
} from '../import/merge-batch.ts';
import type { Imported } from '../import/payload.ts';

/** A row of a signal or collection. */
export interface IdRow {
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

/** All rows of what was imported. */
export function rowsOf({ readings, rows }: Imported): IdRow[] {
  return [...readings, ...(rows ?? [])].flatMap(([id, list]) =>
    list.map((row) => ({ id, row: row as unknown as BatchRow })),
  );
}

/** What a row is about; null for one that stands for itself, such as a list. */
export function factKey({ id, row }: IdRow): string | null {
  const names = row.current === undefined ? ROW_KEYS[id] : ['entity', 'observed_at'];
  const values = (names ?? []).map((name) => row[name]);
  if (values.length === 0 || values.some((value) => value === undefined)) return null;
  return JSON.stringify([id, ...values]);
}

/** What a batch may say once only: the values of a reading, the whole of any other row. */
export function valueText({ row }: IdRow): string {
  return row.current === undefined ? factText({ row }) : JSON.stringify(row.current);
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
 * Rows that say something else than `before`, the answer of the same address before this one. The newest reading of each
 * entity always stays, because it tells that somebody looked; so does every list and every row of a roster, because what
 * they leave out counts.
 */
export function newsOf(imported: readonly IdRow[], before: readonly IdRow[]): IdRow[] {
  const known = new Map(before.map((one) => [factKey(one), factText(one)] as const));
  const newest = new Map<string, number>();
  for (const { id, row } of imported) {
    const series = `${id} ${String(row.entity)}`;
    const time = Date.parse(String(row.observed_at));
    if (time > (newest.get(series) ?? Number.NEGATIVE_INFINITY)) newest.set(series, time);
  }
  return imported.filter((one) => {
    const { id, row } = one;
    const key = factKey(one);
    if (key === null || known.get(key) !== factText(one)) return true;
    if (row.current === undefined) return row.kind !== 'filing';
    return Date.parse(String(row.observed_at)) === newest.get(`${id} ${String(row.entity)}`);
  });
}

/** What became of rows that were added to a batch. */
interface Added {
  readonly files: readonly BatchFile[];
  /** Rows of which the batch says something else already; they are not in it. */
  readonly other: readonly IdRow[];
}

/**
 * Adds rows to the files of a batch. What the batch says already is not said again, and what it says otherwise is handed
 * back: nothing stored is replaced. Throws an ImportError where a stored file cannot be read.
 */
export function addToBatch(rows: readonly IdRow[], batch: string, disk: BatchDisk): Added {
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
    if (fresh.length > 0) disk.write(path, batchText(inOrder([...stored, ...fresh])));
    files.push({ path, written: fresh.length > 0 });
  }
  return { files, other };
}

/** What a file of a batch says. */
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

function inOrder(rows: readonly BatchRow[]): BatchRow[] {
  return rows
    .map((row) => [sortText(row), row] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, row]) => row);
}
