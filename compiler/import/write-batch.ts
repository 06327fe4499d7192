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

/** A reading or a row of a collection. */
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
