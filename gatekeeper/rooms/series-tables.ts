import { csvLine } from '../../compiler/contract/csv-line.ts';
import { defined } from '../../compiler/contract/defined.ts';
import { HASH_CORE_VERSION } from '../../compiler/contract/record-hash.ts';
import {
  type ChainState,
  eachOrigin,
  type OriginRun,
  SERIES_COLUMNS,
  type SeriesSubject,
} from '../../compiler/contract/series.ts';
import type { Spend } from '../http/cost.ts';
import { oncePerRelease } from '../release/per-release.ts';
import type { Body } from '../release/release-index.ts';
import { BoundedMap } from '../system/bounded-map.ts';
import type { Stretch } from './series-layout.ts';

// Rows of a series in another form than the stored one: as CSV, and with their hash cores.

/** Bytes of series that are kept in another form than the stored one. */
const TABLES_BYTES_MAX = 16 * 1024 * 1024;
/** Rows that cost as much as a request when they are put into another form. */
const TABLE_ROWS_A_UNIT = 8;

export type Form = 'csv' | 'csv-cores' | 'json-cores';
type Tables = BoundedMap<Body, Partial<Record<Form, Table>>>;
/** Those of a release. */
export const tablesOf = oncePerRelease(
  (): Tables => new BoundedMap({ bytes: TABLES_BYTES_MAX, isByUse: true }),
);

/** What is delivered: the state in front of the first row, and the files that hold it and those behind it. */
export interface Cut {
  readonly before: ChainState;
  readonly stretches: readonly Stretch[];
}

/** The stored bytes of the rows and what stands behind them: the chain state in front of them is listed in the files. */
export function storedRows({ before, stretches }: Cut): readonly Buffer[] {
  return stretches.map((stretch) =>
    stretch.body.bytes.subarray(offsetIn(stretch.rows, stretch, before)),
  );
}

/** Where the rows behind a state begin, out of the offsets of all rows of a stretch. */
function offsetIn(
  offsets: readonly number[],
  { start }: Stretch,
  { rows }: ChainState,
): number | undefined {
  return offsets[Math.max(0, rows - start)];
}

/** Rows of one file in some form, and where each of them begins. */
interface Table {
  readonly bytes: Buffer;
  readonly rows: readonly number[];
}

interface Source {
  readonly subject: SeriesSubject;
  readonly tables: Tables;
  /** Whoever makes rows be put into a form pays for it, before any money has moved. */
  readonly spend: Spend;
}

/** The delivered rows of a series in a form. */
export function tableCut(
  { before, stretches }: Cut,
  form: Form,
  source: Source,
): readonly Buffer[] {
  return stretches.map((stretch) => {
    const { bytes, rows } = tableIn(form, stretch, source);
    return bytes.subarray(offsetIn(rows, stretch, before));
  });
}

/** Made once for a stored body: many ask for the end of the same rows. */
function tableIn(form: Form, stretch: Stretch, { subject, tables, spend }: Source): Table {
  const known = tables.get(stretch.body);
  const kept = known?.[form];
  if (kept !== undefined) return kept;
  const table = makeTable(form, stretch, subject);
  spend(table.rows.length / TABLE_ROWS_A_UNIT);
  const forms = { ...known, [form]: table };
  const size = Object.values(forms).reduce((sum, { bytes }) => sum + bytes.length, 0);
  tables.set(stretch.body, forms, stretch.body.bytes.length + size);
  return table;
}

const ROW_IN: Readonly<Record<Form, (line: RowLine, core: string) => string>> = {
  csv: (line) => csvLine(cellsOf(line)),
  'csv-cores': (line, core) => csvLine([...cellsOf(line), core]),
  'json-cores': ({ line, end }, core) =>
    `${line.slice(0, end)},"_hash_core":${core}${line.slice(end)}`,
};

function makeTable(form: Form, { body, rows: offsets, origins }: Stretch, subject: SeriesSubject) {
  const rows: number[] = [];
  const lines: Buffer[] = [];
  const each = eachOrigin(textOfEach(origins));
  let size = 0;
  for (const [index, start] of offsets.slice(0, -1).entries()) {
    const row = rowLine(body.bytes.toString('utf8', start, offsets[index + 1]));
    const { value: origin } = each.next();
    const core = form === 'csv' ? '' : coreText(row, subject, defined(origin, 'a row origin'));
    const line = Buffer.from(ROW_IN[form](row, core));
    rows.push(size);
    lines.push(line);
    size += line.length;
  }
  return { bytes: Buffer.concat(lines), rows };
}

/** One stored row and where in its line something stands; its metrics are copied as the JSON that they are, never read. */
interface RowLine {
  readonly line: string;
  /** Offset of the comma in front of `data_age_hours`. */
  readonly age: number;
  readonly current: number;
  /** Offset behind the metrics. */
  readonly band: number;
  /** Offset of the brace that ends the row. */
  readonly end: number;
}

function rowLine(line: string): RowLine {
  // A quotation mark inside a text is escaped, so these words can only be members of the row.
  const hash = line.lastIndexOf(',"record_hash":');
  return {
    line,
    age: line.indexOf(',"data_age_hours":'),
    current: line.indexOf('"current":') + '"current":'.length,
    band: line.lastIndexOf(',"band":', hash),
    end: line.lastIndexOf('}'),
  };
}

function cellsOf({ line, current, band, end }: RowLine) {
  const row = JSON.parse(`${line.slice(0, current)}null${line.slice(band, end + 1)}`);
  return SERIES_COLUMNS.map((name) => (name === 'current' ? line.slice(current, band) : row[name]));
}

/** The hash core as JSON, its members in their order (`hashCore`). */
function coreText(row: RowLine, { signal_id, entity }: SeriesSubject, origin: string): string {
  const { line, age, current, band } = row;
  const subject = JSON.stringify({ hash_core_version: HASH_CORE_VERSION, signal_id, entity });
  const times = line.slice(1, age);
  const metrics = line.slice(current, band);
  return `${subject.slice(0, -1)},${times},"current":${metrics},${origin.slice(1)}`;
}

function textOfEach(runs: readonly OriginRun[]): OriginRun<string>[] {
  return runs.map(([rows, origin]) => [rows, JSON.stringify(origin)]);
}
