import { isObject, parseJson } from '../format/strict-json.ts';
import { ImportError, type Imported } from './kit/payload.ts';

/**
 * Adds what was imported to the files of its batch, for a source that answers about some of its subjects at a time.
 * Nothing stored is replaced: throws an ImportError, and then wrote nothing, where a stored reading says something else
 * or the stored file cannot be read. A reading that differs in its fetch or its notes alone stands beside the stored one.
 */
export function mergeBatch(imported: Imported, fetchedAt: string, disk: BatchDisk): BatchFile[] {
  const batch = batchName(fetchedAt);
  const files = [...imported.readings, ...(imported.rows ?? [])]
    .filter(([, rows]) => rows.length > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, rows]) => merged(`${batch}/${id}.ndjson`, rows as readonly BatchRow[], disk));
  for (const file of files) if (file.written) disk.write(file.path, file.text);
  return files.map(({ path, written }) => ({ path, written }));
}

function merged(path: string, rows: readonly BatchRow[], disk: BatchDisk) {
  const stored = disk.read(path);
  const byText = new Map<string, BatchRow>();
  const readings = new Map<string, string>();
  for (const row of [...(stored === null ? [] : storedRows(path, stored)), ...rows]) {
    const key =
      row.current === undefined ? null : `${String(row.entity)} at ${String(row.observed_at)}`;
    const current = JSON.stringify(row.current);
    if (key !== null && (readings.get(key) ?? current) !== current) {
      const state = `the reading of ${key} is already stored with other values; keep one payload of this hour`;
      throw new ImportError({ subject: path, state });
    }
    if (key !== null) readings.set(key, current);
    const text = sortText(row);
    // The stored spelling stays, so that the bytes do when a payload comes again.
    if (!byText.has(text)) byText.set(text, row);
  }
  const sorted = [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  const text = batchText(sorted);
  return { path, text, written: text !== stored };
}

/** Rows as they were before what they share went into the header; a file that was written by hand may have none. */
export function storedRows(path: string, text: string): BatchRow[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const [first, ...others] = lines.map((line) => {
    const state = 'a stored line is not a JSON object; correct it, or move the file away';
    try {
      const row = parseJson(line);
      if (isObject(row)) return row;
    } catch (cause) {
      throw new ImportError({ subject: path, state }, { cause });
    }
    throw new ImportError({ subject: path, state });
  });
  if (first === undefined) return [];
  const { header } = first;
  if (!isObject(header) || Object.keys(first).length > 1) return [first, ...others];
  return others.map((row) => ({ ...header, ...row }));
}

/** Members in one order, so that a stored row equals itself imported again; readings by entity and time. */
export function sortText(row: BatchRow): string {
  const members = Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1));
  const time = row.current === undefined ? null : row.observed_at;
  return JSON.stringify([row.entity ?? row.cik, row.kind, row.filing_date, time, members]);
}

/** The disk of an import: paths are below the snapshots folder, with `/`. */
export interface BatchDisk {
  /** The text of a file, or null when there is none. */
  read(path: string): string | null;
  /** Writes a whole file or nothing. */
  write(path: string, text: string): void;
}

/** One file of a batch; `written` is false when it was there already with the same bytes. */
export interface BatchFile {
  readonly path: string;
  readonly written: boolean;
}

/** These differ from reading to reading, so they always stand in the line. */
const LINE_FIELDS: readonly string[] = ['entity', 'observed_at', 'current', 'kind'];

/** Name of the batch of a fetch: its UTC day and hour. */
export function batchName(fetchedAt: string): string {
  return `${new Date(fetchedAt).toISOString().slice(0, 13)}Z`;
}

export type BatchRow = Readonly<Record<string, unknown>>;

/** Text of a snapshot file: what all readings share goes into the header line, then one a line. */
export function batchText(rows: readonly BatchRow[]): string {
  const [first] = rows;
  if (first === undefined) throw new RangeError('Cannot write a batch file: no readings');
  const shared = Object.entries(first).filter(([name, value]) => {
    const text = JSON.stringify(value);
    const same = (row: BatchRow) => JSON.stringify(row[name]) === text;
    return !LINE_FIELDS.includes(name) && rows.every(same);
  });
  const names = new Set(shared.map(([name]) => name));
  const lines = rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !names.has(name))),
  );
  const header = { header: Object.fromEntries(shared) };
  return `${[header, ...lines].map((line) => JSON.stringify(line)).join('\n')}\n`;
}
