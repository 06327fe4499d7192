import { ImportError } from './import-error.ts';
import type { Imported } from './payload.ts';
import {
  type BatchDisk,
  type BatchFile,
  type BatchRow,
  batchName,
  batchText,
} from './write-batch.ts';

/**
 * Adds what was imported to the files of its batch, for a source that answers about one subject at a time. Nothing
 * stored is replaced: throws an ImportError, and then wrote nothing, where a stored reading says something else.
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
  for (const row of [...(stored === null ? [] : storedRows(stored)), ...rows]) {
    const key = readingKey(row);
    const current = JSON.stringify(row.current);
    if (key !== null && (readings.get(key) ?? current) !== current) {
      const state = `the reading of ${key} is stored there with other values; keep one payload of this hour`;
      throw new ImportError({ subject: path, state });
    }
    if (key !== null) readings.set(key, current);
    byText.set(sortText(row), row);
  }
  const sorted = [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  const text = batchText(sorted);
  return { path, text, written: text !== stored };
}

/** Rows as they were before what they share went into the header. */
function storedRows(text: string): BatchRow[] {
  const [first = '{}', ...lines] = text.trimEnd().split('\n');
  const { header } = JSON.parse(first) as { readonly header: BatchRow };
  return lines.map((line) => ({ ...header, ...JSON.parse(line) }));
}

function readingKey({ entity, observed_at, current }: BatchRow): string | null {
  return current === undefined ? null : `${String(entity)} at ${String(observed_at)}`;
}

/** Members in one order, so that a stored row equals itself imported again. */
function sortText(row: BatchRow): string {
  const members = Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([row.entity ?? row.cik, row.kind, row.filing_date, members]);
}
