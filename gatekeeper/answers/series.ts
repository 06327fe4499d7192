import { SERIES_DAYS_DEFAULT } from '../../compiler/contract/endpoints.ts';
import {
  SERIES_COLUMNS,
  SERIES_CSV_HEADER,
  type SeriesCut,
  seriesFrom,
  stateAt,
} from '../../compiler/contract/series.ts';
import { CSV_MEDIA_TYPE, JSON_MEDIA_TYPE, mediaTypeOf } from '../http/media-type.ts';
import { BoundedCache } from '../release/bounded-cache.ts';
import type { Body } from '../release/release-index.ts';
import { requestFile } from '../release/request-file.ts';
import { spliceRequestTime } from '../release/request-time.ts';
import { type Answered, IS_THERE, MISS, type Question, type Service } from '../service.ts';

const NEWLINE = 0x0a;
const CUTS = '"cuts":';
/** Of RFC 4180. */
const LINE_END = '\r\n';
/** What a spreadsheet would run instead of showing. */
const FORMULA = /^[=+\-@\t\r]/;

/** Where the lines of a stored series stand: the head, the cuts, then the rows, then the citation. */
interface SeriesLayout {
  /** End of the head, behind its line end. */
  readonly headEnd: number;
  readonly cuts: readonly SeriesCut[];
  /** Offset of every row, and behind the last of them that of the closing line. */
  readonly rows: readonly number[];
}

const layouts = new WeakMap<Body, SeriesLayout>();
/** Bytes of series that are kept as CSV, each about as long as its body. */
const TABLES_BYTES_MAX = 16 * 1024 * 1024;
const tables = new BoundedCache<Body, CsvTable>(TABLES_BYTES_MAX);

/** `/gauge/history-series`: the end of the stored rows, as long as `days` reach, as JSON or CSV. */
export async function series(question: Question, service: Service): Promise<Answered> {
  const { route, isProbe, spend } = question;
  const { values, endpoint, target } = route;
  const { signal_id, entity } = values;
  const path = signal_id && entity ? requestFile(endpoint, { signal_id, entity }) : null;
  if (!service.release.has(path)) return MISS;
  const body = await service.release.body(path, spend);
  if (isProbe) return IS_THERE;
  const days = Number(values.days ?? SERIES_DAYS_DEFAULT);
  if (mediaTypeOf(endpoint, target) === CSV_MEDIA_TYPE) {
    return content(csvCut(body, days), `${CSV_MEDIA_TYPE}; charset=utf-8`);
  }
  return content(jsonCut(body, { days, now: service.clock() }), JSON_MEDIA_TYPE);
}

function content(body: Buffer, contentType: string): Answered {
  return { kind: 'content', content: { body, contentType, keepMs: 0 } };
}

/** The stored bytes with fewer rows: the chain state in front of them is listed in the file. */
function jsonCut(body: Body, { days, now }: { days: number; now: number }): Buffer {
  const layout = layoutOf(body);
  const before = stateAt(layout.cuts, cutPlace(layout, days));
  const count = layout.rows.length - 1 - before.rows;
  const members = `${JSON.stringify({ days, count, before }).slice(1, -1)},"rows":[\n`;
  const head = body.bytes.subarray(0, layout.headEnd);
  return Buffer.concat([
    spliceRequestTime(head, body.points, now),
    Buffer.from(members),
    body.bytes.subarray(layout.rows[before.rows]),
  ]);
}

/** Place of the first cut that `days` reach, counted back from the newest snapshot. */
function cutPlace({ cuts }: SeriesLayout, days: number): number {
  const newest = cuts.at(-1);
  if (newest === undefined) throw new RangeError('Cannot cut a series: it lists no snapshot');
  const from = seriesFrom(newest[0], days);
  return cuts.findIndex(([snapshot_date]) => snapshot_date >= from);
}

function layoutOf(body: Body): SeriesLayout {
  const known = layouts.get(body);
  if (known !== undefined) return known;
  const made = readLayout(body.bytes);
  layouts.set(body, made);
  return made;
}

function readLayout(bytes: Buffer): SeriesLayout {
  const headEnd = bytes.indexOf(NEWLINE) + 1;
  const cutsEnd = bytes.indexOf(NEWLINE, headEnd);
  const cuts: SeriesCut[] = JSON.parse(
    bytes.toString('utf8', headEnd + CUTS.length, cutsEnd).slice(0, -1),
  );
  const rows: number[] = [];
  let at = bytes.indexOf(NEWLINE, cutsEnd + 1);
  for (; at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) rows.push(at + 1);
  return { headEnd, cuts, rows };
}

/** The whole series as CSV, and where each of its rows begins. */
interface CsvTable {
  readonly bytes: Buffer;
  readonly rows: readonly number[];
}

function csvCut(body: Body, days: number): Buffer {
  const layout = layoutOf(body);
  const table = csvTable(body, layout);
  const { rows } = stateAt(layout.cuts, cutPlace(layout, days));
  return Buffer.concat([
    Buffer.from(SERIES_CSV_HEADER + LINE_END),
    table.bytes.subarray(table.rows[rows]),
  ]);
}

/** Made once for a stored body: many ask for the end of the same rows. */
function csvTable(body: Body, layout: SeriesLayout): CsvTable {
  const known = tables.get(body);
  if (known !== undefined) return known;
  const rows: number[] = [];
  const lines: Buffer[] = [];
  let size = 0;
  for (const [index, start] of layout.rows.slice(0, -1).entries()) {
    const line = Buffer.from(csvRow(body.bytes.toString('utf8', start, layout.rows[index + 1])));
    rows.push(size);
    lines.push(line);
    size += line.length;
  }
  const made = { bytes: Buffer.concat(lines), rows };
  tables.set(body, made, body.bytes.length + made.bytes.length);
  return made;
}

/** One stored row line; its metrics are copied as the JSON that they are, never read. */
function csvRow(line: string): string {
  const current = line.indexOf('"current":') + '"current":'.length;
  // A quotation mark inside a text is escaped, so these words can only be members of the row.
  const hash = line.lastIndexOf(',"record_hash":');
  const band = line.lastIndexOf(',"band":', hash);
  const row = JSON.parse(
    `${line.slice(0, current)}null${line.slice(band, line.lastIndexOf('}') + 1)}`,
  );
  const cells = SERIES_COLUMNS.map((name) =>
    cell(name === 'current' ? line.slice(current, band) : row[name]),
  );
  return cells.join(',') + LINE_END;
}

/** A cell after RFC 4180; null is empty, and a text that a spreadsheet would run gets an apostrophe in front. */
function cell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const shown = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}
