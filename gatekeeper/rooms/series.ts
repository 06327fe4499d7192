import { csvLine } from '../../compiler/contract/csv-line.ts';
import { SERIES_DAYS_DEFAULT } from '../../compiler/contract/endpoints.ts';
import {
  type ChainState,
  SERIES_COLUMNS,
  seriesFrom,
  stateBefore,
} from '../../compiler/contract/series.ts';
import { SIGNED_CSV, signedCsvHead } from '../../compiler/contract/series-csv.ts';
import { type StoredSegment, segmentPath } from '../../compiler/contract/series-segments.ts';
import { type Answered, IS_THERE, MISS, type Question, type Service } from '../answers/service.ts';
import { JSON_MEDIA_TYPE } from '../http/reply.ts';
import { CSV_MEDIA_TYPE, mediaTypeOf } from '../offer/media-type.ts';
import { oncePerRelease } from '../release/per-release.ts';
import { type Body, requestFile } from '../release/release-index.ts';
import { spliceRequestTime } from '../release/request-time.ts';
import { BoundedMap } from '../system/bounded-map.ts';
import { layoutOf, type SeriesLayout, type Stretch, segmentLayout } from './series-layout.ts';

/** Bytes of series that are kept as CSV, each about as long as its body. */
const TABLES_BYTES_MAX = 16 * 1024 * 1024;
type Tables = BoundedMap<Body, CsvTable>;
const tablesOf = oncePerRelease(
  (): Tables => new BoundedMap({ bytes: TABLES_BYTES_MAX, isByUse: true }),
);

/**
 * `/gauge/history-series`: the end of the stored rows, as long as `days` reach, as JSON or CSV. Computed, because a look-back is cut
 * from segments that all releases share.
 */
export async function series(question: Question, service: Service): Promise<Answered> {
  const { route, isProbe, spend } = question;
  const { values, endpoint, target } = route;
  const { signal_id, entity } = values;
  if (signal_id === undefined || entity === undefined) return MISS;
  const subject = { signal_id, entity };
  const path = requestFile(endpoint, subject);
  if (!service.release.has(path)) return MISS;
  const layout = layoutOf(await service.release.body(path, spend));
  if (isProbe) return IS_THERE;
  const days = Number(values.days ?? SERIES_DAYS_DEFAULT);
  const open: OpenSegment = async (segment) => {
    const [start, count] = segment;
    const file = segmentPath(subject, { start, count });
    return segmentLayout(await service.release.body(file, spend), start);
  };
  const cut = await cutOf(layout, days, open);
  if (mediaTypeOf(endpoint, target) === CSV_MEDIA_TYPE) {
    const isSigned = values.format === SIGNED_CSV;
    const head = isSigned ? signedHead(layout, cut, { days, now: service.clock() }) : '';
    const table = csvCut(cut, tablesOf(service.release), head);
    return content(table, `${CSV_MEDIA_TYPE}; charset=utf-8`);
  }
  return content(jsonCut(layout, cut, { days, now: service.clock() }), JSON_MEDIA_TYPE);
}

function content(body: Buffer, contentType: string): Answered {
  return { kind: 'content', content: { body, contentType, keepMs: 0 } };
}

type OpenSegment = (segment: StoredSegment) => Promise<Stretch>;

/** What is delivered: the state in front of the first row, and the files that hold it and those behind it. */
interface Cut {
  readonly before: ChainState;
  readonly stretches: readonly Stretch[];
}

async function cutOf(layout: SeriesLayout, days: number, open: OpenSegment): Promise<Cut> {
  const before = await beginning(layout, days, open);
  const reached = layout.segments.filter(([start, count]) => start + count > before.rows);
  const stretches = await Promise.all(reached.map(open));
  return { before, stretches: [...stretches, layout] };
}

/** The state in front of the first row that `days` reach, counted back from the newest snapshot. */
async function beginning(
  { segments, cuts, before }: SeriesLayout,
  days: number,
  open: OpenSegment,
): Promise<ChainState> {
  const ends = segments.flatMap(([, , first_date, last_date]) => [first_date, last_date]);
  const [first] = cuts;
  if (first === undefined) throw new RangeError('Cannot cut a series: it lists no snapshot');
  const [begin] = first;
  const newest = [...ends, ...cuts.map(([date]) => date)].reduce((a, b) => (a > b ? a : b));
  const from = seriesFrom(newest, days);
  if (begin >= from) return before;
  const segment = segments.find(([, , , last_date]) => last_date >= from);
  const near = segment === undefined ? cuts : (await open(segment)).cuts;
  const cut = near.find(([date]) => date >= from);
  if (cut === undefined) throw new RangeError('Cannot cut a series: its dates do not fit its rows');
  return stateBefore(cut, [begin, ...ends, ...near.map(([date]) => date)]);
}

/** What was asked for, and the time of the request in milliseconds. */
interface Asked {
  readonly days: number;
  readonly now: number;
}

/** The stored bytes with fewer rows: the chain state in front of them is listed in the files. */
function jsonCut(layout: SeriesLayout, { before, stretches }: Cut, asked: Asked): Buffer {
  return Buffer.concat([
    ...beforeRows(layout, before, asked),
    ...stretches.map((stretch) =>
      stretch.body.bytes.subarray(offsetIn(stretch.rows, stretch, before)),
    ),
  ]);
}

function beforeRows(
  { body, headEnd, end }: SeriesLayout,
  before: ChainState,
  { days, now }: Asked,
): readonly Buffer[] {
  const count = end - before.rows;
  const members = `${JSON.stringify({ days, count, before }).slice(1, -1)},"rows":[\n`;
  return [
    spliceRequestTime(body.bytes.subarray(0, headEnd), body.points, now),
    Buffer.from(members),
  ];
}

/** The line in front of a signed table: the JSON answer without its rows. No text of JSON holds a line end. */
function signedHead(layout: SeriesLayout, { before }: Cut, asked: Asked): string {
  const behindRows = layout.body.bytes.subarray(layout.rows.at(-1));
  const answer = Buffer.concat([...beforeRows(layout, before, asked), behindRows]);
  return signedCsvHead(answer.toString('utf8').replaceAll('\n', ''));
}

/** Where the rows behind a state begin, out of the offsets of all rows of a stretch. */
function offsetIn(
  offsets: readonly number[],
  { start }: Stretch,
  { rows }: ChainState,
): number | undefined {
  return offsets[Math.max(0, rows - start)];
}

/** Rows of one file as CSV, and where each of them begins. */
interface CsvTable {
  readonly bytes: Buffer;
  readonly rows: readonly number[];
}

function csvCut({ before, stretches }: Cut, tables: Tables, head: string): Buffer {
  const parts = stretches.map((stretch) => {
    const { bytes, rows } = csvTable(stretch, tables);
    return bytes.subarray(offsetIn(rows, stretch, before));
  });
  return Buffer.concat([Buffer.from(head + csvLine(SERIES_COLUMNS)), ...parts]);
}

/** Made once for a stored body: many ask for the end of the same rows. */
function csvTable({ body, rows: offsets }: Stretch, tables: Tables): CsvTable {
  const known = tables.get(body);
  if (known !== undefined) return known;
  const rows: number[] = [];
  const lines: Buffer[] = [];
  let size = 0;
  for (const [index, start] of offsets.slice(0, -1).entries()) {
    const line = Buffer.from(csvRow(body.bytes.toString('utf8', start, offsets[index + 1])));
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
  return csvLine(
    SERIES_COLUMNS.map((name) => (name === 'current' ? line.slice(current, band) : row[name])),
  );
}
