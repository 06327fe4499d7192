import { z } from 'zod';
import { isObject } from '../../contract/strict-json.ts';
import { batchTimes, type JudgeTime } from './batch-times.ts';
import type { InputFault } from './compile-error.ts';
import { FAULT_WORDS } from './fault-words.ts';
import {
  closing,
  HeaderFaults,
  type HeaderRead,
  headerIn,
  isBrokenHeader,
  type Members,
  unreadableFile,
} from './file-header.ts';
import type { SnapshotFile } from './list-snapshots.ts';
import { someMembers } from './member-names.ts';
import { FILE_FAULTS_MAX } from './quarantine.ts';
import { parseLine, readLines, type TextLine, type UnparsedLine } from './read-lines.ts';
import type { LineFault } from './reading.ts';
import { wordFaults } from './stored-words.ts';

/** Most rows that one collection may hold; rosters are thousands, not millions. */
const COLLECTION_ROWS_MAX = 500_000;

/** A stored row with the place it came from. */
export interface StoredRow<Row> {
  readonly row: Row;
  /** Name of the write batch. */
  readonly batch: string;
  /** Path that faults name. */
  readonly file: string;
  readonly line: number;
}

/** The files of one collection, and the instant that the compile speaks about, ISO-8601 UTC. */
interface StoredCollection {
  readonly files: readonly SnapshotFile[];
  readonly asOf: string;
}

/** Every row says when it was read. */
interface Collected {
  readonly collected_at: string;
}

interface CollectionRows<Row> {
  /** Oldest batch first, then as stored. */
  readonly rows: readonly StoredRow<Row>[];
  readonly faults: readonly InputFault[];
}

/**
 * Reads every row of a collection. A first line `{"header": {…}}` gives members that all rows of its file inherit, as
 * in the files of signals. Bad lines are gathered, not thrown, and no share of them is left out: in a roster an absent
 * row means that the subject is gone, and a list of filings claims to be complete.
 */
export function readCollection<Row extends Collected>(
  { files, asOf }: StoredCollection,
  schema: z.ZodType<Row>,
): CollectionRows<Row> {
  const rows: StoredRow<Row>[] = [];
  const faults: InputFault[] = [];
  for (const file of files) {
    const reader = new RowReader(file, schema, batchTimes(asOf, file.batch));
    for (const line of readLines(file.path)) {
      const row = reader.read(line);
      if (row !== null) rows.push({ row, batch: file.batch, file: file.name, line: line.number });
      if (rows.length > COLLECTION_ROWS_MAX) return { rows, faults: [tooMany(file)] };
    }
    faults.push(...reader.faults);
  }
  return { rows, faults };
}

function tooMany({ name }: SnapshotFile): InputFault {
  const message = `more than ${COLLECTION_ROWS_MAX} rows in all batches; drop the oldest batches`;
  return { code: 'too_many_readings', file: name, message };
}

/** Reads one file: keeps its header and what was wrong with its lines. */
class RowReader<Row extends Collected> {
  readonly faults: InputFault[] = [];
  readonly #file: SnapshotFile;
  readonly #schema: z.ZodType<Row>;
  readonly #judgeTime: JudgeTime;
  #header: Members = {};
  #headerFaults = new HeaderFaults({});
  /** Further lines cannot be judged: the fault of the file was already reported. */
  #isClosed = false;

  constructor(file: SnapshotFile, schema: z.ZodType<Row>, judgeTime: JudgeTime) {
    this.#file = file;
    this.#schema = schema;
    this.#judgeTime = judgeTime;
  }

  read(line: TextLine): Row | null {
    if (this.#isClosed || line.bytes?.length === 0) return null;
    const parsedLine = parseLine(line, 'row');
    if ('message' in parsedLine) return this.#unparsed(line, parsedLine);
    const { ok: value } = parsedLine;
    const header = headerIn(value, line.number === 1);
    if (header !== null) return this.#readHeader(line, header);
    const parsed = this.#schema.safeParse(
      isObject(value) ? { ...this.#header, ...value } : value,
      FAULT_WORDS,
    );
    const faults = parsed.success
      ? [...faultsOf(wordFaults(parsed.data)), ...this.#timeFaults(parsed.data)]
      : faultsOf(parsed.error.issues);
    this.#report(line, this.#headerFaults.placed(faults, value));
    return parsed.success && faults.length === 0 ? parsed.data : null;
  }

  #readHeader(line: TextLine, read: HeaderRead): null {
    if ('fault' in read) return this.#close(line, [read.fault]);
    const { members: header } = read;
    const parsed = z
      .strictObject({ header: someMembers(this.#schema) })
      .safeParse({ header }, FAULT_WORDS);
    if (!parsed.success) return this.#close(line, faultsOf(parsed.error.issues));
    this.#header = read.members;
    this.#headerFaults = new HeaderFaults(read.members);
    return null;
  }

  #timeFaults(row: Row): LineFault[] {
    const fault = this.#judgeTime(row.collected_at);
    return fault === null ? [] : [faultOf('collected_at', fault.message)];
  }

  #unparsed(line: TextLine, { field, message }: UnparsedLine): null {
    const fault = faultOf(field, message);
    const isFirst = line.number === 1;
    const whole = isFirst ? unreadableFile(line) : null;
    this.#isClosed = whole !== null || (isFirst && isBrokenHeader(line));
    this.#report(line, this.#isClosed ? closing([whole ?? fault]) : [fault]);
    return null;
  }

  #close(line: TextLine, faults: readonly LineFault[]): null {
    this.#isClosed = true;
    this.#report(line, closing(faults));
    return null;
  }

  #report({ number: line }: TextLine, faults: readonly LineFault[]): void {
    const room = FILE_FAULTS_MAX - this.faults.length;
    for (const fault of faults.slice(0, room)) {
      this.faults.push({ line, ...fault, file: this.#file.name });
    }
  }
}

function faultsOf(
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
): LineFault[] {
  return issues.map(({ path, message }) => faultOf(path.join('.') || 'line', message));
}

function faultOf(field: string, message: string): LineFault {
  return { code: field === 'line' ? 'bad_line' : 'bad_field', field, message };
}
