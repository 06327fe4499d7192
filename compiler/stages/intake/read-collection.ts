import type { z } from 'zod';
import { decodeUtf8, JsonError, type JsonValue, parseJson } from '../../contract/strict-json.ts';
import { aheadOfClock } from './ahead-of-clock.ts';
import type { Problem } from './compile-error.ts';
import { FAULT_WORDS, jsonFaultText, SECOND_HEADER } from './fault-words.ts';
import type { SnapshotFile } from './list-snapshots.ts';
import { FILE_PROBLEMS_MAX } from './quarantine.ts';
import { LINE_BYTES_MAX, type Line, readLines } from './read-lines.ts';
import { wordFaults } from './stored-words.ts';

/** Most rows that one collection may hold; rosters are thousands, not millions. */
export const COLLECTION_ROWS_MAX = 500_000;

/** A stored row with the place it came from. */
export interface StoredRow<Row> {
  readonly row: Row;
  /** Name of the write batch. */
  readonly batch: string;
  /** Path that problems name. */
  readonly file: string;
  readonly line: number;
}

/** The files of one collection, and the instant that the compile speaks about, ISO-8601 UTC. */
export interface StoredCollection {
  readonly files: readonly SnapshotFile[];
  readonly asOf: string;
}

/** Every row says when it was read. */
interface Collected {
  readonly collected_at: string;
}

export interface CollectionRows<Row> {
  /** Oldest batch first, then as stored. */
  readonly rows: readonly StoredRow<Row>[];
  readonly problems: readonly Problem[];
}

/**
 * Reads every row of a collection. A first line `{"header": {…}}` gives members that all rows of its file
 * inherit, as in the files of signals. Bad lines are gathered, not thrown, and no share of them is left out: a roster says
 * who is gone by who is absent, and a list of filings says that it is whole.
 */
export function readCollection<Row extends Collected>(
  { files, asOf }: StoredCollection,
  schema: z.ZodType<Row>,
): CollectionRows<Row> {
  const ahead = aheadOfClock(asOf);
  const rows: StoredRow<Row>[] = [];
  const problems: Problem[] = [];
  for (const file of files) {
    const reader = new RowReader(file, schema, ahead);
    for (const line of readLines(file.path)) {
      const row = reader.read(line);
      if (row !== null) rows.push({ row, batch: file.batch, file: file.name, line: line.number });
      if (rows.length > COLLECTION_ROWS_MAX) return { rows, problems: [tooMany(file)] };
    }
    problems.push(...reader.problems);
  }
  return { rows, problems };
}

function tooMany({ name }: SnapshotFile): Problem {
  const message = `more than ${COLLECTION_ROWS_MAX} rows in all batches; drop the oldest batches`;
  return { code: 'too_many_readings', file: name, message };
}

/** Reads one file: keeps its header and what was wrong with its lines. */
class RowReader<Row extends Collected> {
  readonly problems: Problem[] = [];
  readonly #file: SnapshotFile;
  readonly #schema: z.ZodType<Row>;
  readonly #ahead: ReturnType<typeof aheadOfClock>;
  #header: Readonly<Record<string, JsonValue>> = {};

  constructor(file: SnapshotFile, schema: z.ZodType<Row>, ahead: ReturnType<typeof aheadOfClock>) {
    this.#file = file;
    this.#schema = schema;
    this.#ahead = ahead;
  }

  read(line: Line): Row | null {
    if (line.bytes?.length === 0) return null;
    const value = this.#parse(line);
    if (value === undefined) return null;
    const header = headerOf(value);
    if (header !== null) {
      if (line.number === 1) this.#header = header;
      else this.#fault(line, 'header', SECOND_HEADER);
      return null;
    }
    const parsed = this.#schema.safeParse(
      isObject(value) ? { ...this.#header, ...value } : value,
      FAULT_WORDS,
    );
    const issues = parsed.success ? wordFaults(parsed.data) : parsed.error.issues;
    for (const issue of issues) this.#fault(line, issue.path.join('.') || 'line', issue.message);
    return parsed.success && issues.length === 0 ? this.#inTime(line, parsed.data) : null;
  }

  #inTime(line: Line, row: Row): Row | null {
    const message = this.#ahead(row.collected_at);
    if (message === null) return row;
    this.#fault(line, 'collected_at', message);
    return null;
  }

  #parse(line: Line): JsonValue | undefined {
    if (line.bytes === null) {
      this.#fault(line, 'line', `longer than ${LINE_BYTES_MAX} bytes; store one row a line`);
      return undefined;
    }
    try {
      return parseJson(decodeUtf8(line.bytes));
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      this.#fault(line, error.path === '' ? 'line' : error.path, jsonFaultText(error));
      return undefined;
    }
  }

  #fault(line: Line, field: string, message: string): void {
    if (this.problems.length >= FILE_PROBLEMS_MAX) return;
    const code = field === 'line' ? 'bad_line' : 'bad_field';
    this.problems.push({ code, file: this.#file.name, line: line.number, field, message });
  }
}

function headerOf(value: JsonValue): Readonly<Record<string, JsonValue>> | null {
  if (!isObject(value) || Object.keys(value).length !== 1) return null;
  const { header } = value;
  return isObject(header) ? header : null;
}

function isObject(value: JsonValue | undefined): value is Readonly<Record<string, JsonValue>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
