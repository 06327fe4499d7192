import { csvLine } from '../../compiler/format/csv-line.ts';
import { defined } from '../../compiler/format/errors.ts';
import { HASH_CORE_VERSION } from '../../compiler/format/record-hash.ts';
import { SERIES_DAYS_DEFAULT } from '../../compiler/products/series.ts';
import { deliveredText } from '../../compiler/products/shapes/request-time.ts';
import {
  type ChainState,
  CORE_COLUMNS,
  eachOrigin,
  type OriginRun,
  SERIES_COLUMNS,
  type SeriesCut,
  type SeriesSubject,
  type StoredSegment,
  segmentPath,
  seriesFrom,
  stateBefore,
} from '../../compiler/products/shapes/series.ts';
import { SIGNED_CSV, signedCsvHead } from '../../compiler/products/shapes/series-csv.ts';
import {
  type Answered,
  IS_THERE,
  MISS,
  type Question,
  type Service,
} from '../heart/answers/service.ts';
import { CSV_MEDIA_TYPE, mediaTypeOf } from '../heart/offer/shown.ts';
import { lineStarts } from '../heart/release/listed-files.ts';
import { type Body, perRelease, requestFile } from '../heart/release/release-index.ts';
import type { Spend } from '../wire/cost.ts';
import { BoundedMap } from '../wire/maps.ts';
import { JSON_MEDIA_TYPE } from '../wire/reply.ts';

/** `/gauge/history-series`: the last `days` of rows. Computed, because it is cut from segments that all releases share. */
export async function series(question: Question, service: Service): Promise<Answered> {
  const { route, isProbe, spend } = question;
  const { values, endpoint, target } = route;
  const { signal_id, entity } = values;
  if (signal_id === undefined || entity === undefined) return MISS;
  const subject = { signal_id, entity };
  const path = requestFile(endpoint, subject);
  if (!service.release.has(path)) return MISS;
  const body = await service.release.body(path, spend);
  const layout = body.own.once(layoutOf, body);
  if (isProbe) return IS_THERE;
  const days = Number(values.days ?? SERIES_DAYS_DEFAULT);
  const open: OpenSegment = async (segment) => {
    const [start, count] = segment;
    const file = segmentPath(subject, { start, count });
    const held = await service.release.body(file, spend);
    return { ...held.own.once(segmentLayout, held), start };
  };
  const before = await beginning(layout, days, open);
  const reached = layout.segments.filter(([start, count]) => start + count > before.rows);
  const cut = { before, stretches: [...(await Promise.all(reached.map(open))), layout] };
  const tables = { subject, tables: tablesOf(service.release), spend };
  const inForm = (form: Form) => rowsOf(cut, (stretch) => tableIn(form, stretch, tables));
  const asked = { days, now: service.clock() };
  const hasCores = values.verifiable !== undefined;
  if (mediaTypeOf(endpoint, target) !== CSV_MEDIA_TYPE) {
    const rows = hasCores
      ? [...inForm('json-cores'), behindRows(layout)]
      : rowsOf(cut, ({ body: { bytes }, rows }) => ({ bytes, rows }));
    return content([beforeRows(layout, before, asked), ...rows], JSON_MEDIA_TYPE);
  }
  let head = '';
  if (values.format === SIGNED_CSV) {
    // The line in front of a signed table: the JSON answer without its rows. No text of JSON holds a line end.
    const answer = Buffer.concat([beforeRows(layout, before, asked), behindRows(layout)]);
    head = signedCsvHead(answer.toString('utf8').replaceAll('\n', ''));
  }
  const columns = csvLine(hasCores ? CORE_COLUMNS : SERIES_COLUMNS);
  const parts = [Buffer.from(head + columns), ...inForm(hasCores ? 'csv-cores' : 'csv')];
  return content(parts, `${CSV_MEDIA_TYPE}; charset=utf-8`);
}

function content(parts: readonly Buffer[], contentType: string): Answered {
  const body = Buffer.concat(parts);
  return { kind: 'content', content: { body, contentType, keepMs: 0 } };
}

type OpenSegment = (segment: StoredSegment) => Promise<Stretch>;

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

function behindRows({ body, rows }: SeriesLayout): Buffer {
  return body.bytes.subarray(rows.at(-1));
}

function beforeRows(
  { body, headEnd, end }: SeriesLayout,
  before: ChainState,
  { days, now }: { days: number; now: number },
): Buffer {
  const count = end - before.rows;
  const members = `${JSON.stringify({ days, count, before }).slice(1, -1)},"rows":[\n`;
  // The head is an object that goes on: a comma and a line end stand where its brace would.
  const stored = `${body.bytes.toString('utf8', 0, headEnd).slice(0, -2)}}`;
  const head = `${deliveredText(stored, now).slice(0, -1)},\n`;
  return Buffer.from(head + members);
}

// Where the lines of a stored series stand (AUDIT.md, section 3). Answers are cut out of these bytes.

const ROWS = ',"rows":[';

/** Rows that follow one another in one file. */
export interface Stretch {
  readonly body: Body;
  /** Number of the first row, counted from the first one ever. */
  readonly start: number;
  /** Offset of every row, and behind the last of them that of what follows. */
  readonly rows: readonly number[];
  readonly cuts: readonly SeriesCut[];
  readonly origins: readonly OriginRun[];
}

/** The file of a series: its head, its segments, where its rows can be cut, their origins, its rows, the citation. */
interface SeriesLayout extends Stretch {
  /** End of the head, behind its line end. */
  headEnd: number;
  segments: readonly StoredSegment[];
  /** In front of the first row that is delivered. */
  before: ChainState;
  /** Rows of the whole chain. */
  end: number;
}

function layoutOf(body: Body): SeriesLayout {
  const [, headEnd = 0, segmentsEnd = 0, cutsEnd = 0, originsEnd = 0, answerEnd = 0, ...more] =
    lineStarts(body.bytes);
  const line = (start: number, end: number): string => body.bytes.toString('utf8', start, end);
  const answer = `{${line(originsEnd, answerEnd).trimEnd().slice(0, -ROWS.length)}}`;
  const { before, count }: { before: ChainState; count: number } = JSON.parse(answer);
  const rows = [answerEnd, ...more];
  const end = before.rows + count;
  return {
    body,
    headEnd,
    segments: memberOf(line(headEnd, segmentsEnd)),
    cuts: memberOf(line(segmentsEnd, cutsEnd)),
    origins: memberOf(line(cutsEnd, originsEnd)),
    before,
    start: end - (rows.length - 1),
    end,
    rows,
  };
}

/** The layout of a segment: its cuts, its origins, then its rows. */
function segmentLayout(body: Body): Omit<Stretch, 'start'> {
  const [, cutsEnd = 0, originsEnd = 0, ...more] = lineStarts(body.bytes);
  const cuts: SeriesCut[] = JSON.parse(body.bytes.toString('utf8', 0, cutsEnd));
  const origins: OriginRun[] = JSON.parse(body.bytes.toString('utf8', cutsEnd, originsEnd));
  return { body, cuts, origins, rows: [originsEnd, ...more] };
}

/** The value of a line that is one member of an object: `"name":value,`. */
function memberOf<Value>(line: string): readonly Value[] {
  return JSON.parse(line.slice(line.indexOf(':') + 1, line.lastIndexOf(',')));
}

// Rows of a series in another form than the stored one: as CSV, and with their hash cores.

/** Bytes of series that are kept in another form than the stored one. */
const TABLES_BYTES_MAX = 16 * 1024 * 1024;
/** Rows that cost as much as a request when they are put into another form. */
const TABLE_ROWS_A_UNIT = 8;

type Form = 'csv' | 'csv-cores' | 'json-cores';
type Tables = BoundedMap<Body, Partial<Record<Form, Table>>>;
const tablesOf = perRelease(
  (): Tables => new BoundedMap({ bytes: TABLES_BYTES_MAX, isByUse: true }),
);

/**
 * What stands from the first delivered row on in each file, in some form: the chain state in front of it is listed in the
 * files.
 */
function rowsOf(
  { before, stretches }: { before: ChainState; stretches: readonly Stretch[] },
  formOf: (stretch: Stretch) => { bytes: Buffer; rows: readonly number[] },
): readonly Buffer[] {
  return stretches.map((stretch) => {
    const { bytes, rows } = formOf(stretch);
    return bytes.subarray(rows[Math.max(0, before.rows - stretch.start)]);
  });
}

type Table = ReturnType<typeof makeTable>;

interface Source {
  subject: SeriesSubject;
  tables: Tables;
  /** Whoever makes rows be put into a form pays for it, before any money has moved. */
  spend: Spend;
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

/** Rows of one file in some form, and where each of them begins. */
function makeTable(form: Form, { body, rows: offsets, origins }: Stretch, subject: SeriesSubject) {
  const rows: number[] = [];
  const lines: Buffer[] = [];
  const each = eachOrigin(origins.map(([rows, origin]) => [rows, JSON.stringify(origin)]));
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

type RowLine = ReturnType<typeof rowLine>;

/** One stored row and where in its line something stands; its metrics are copied as the JSON that they are, never read. */
function rowLine(line: string) {
  // A quotation mark inside a text is escaped, so these words can only be members of the row.
  const hash = line.lastIndexOf(',"record_hash":');
  return {
    line,
    /** Offset of the comma in front of `data_age_hours`. */
    age: line.indexOf(',"data_age_hours":'),
    current: line.indexOf('"current":') + '"current":'.length,
    /** Offset behind the metrics. */
    band: line.lastIndexOf(',"band":', hash),
    /** Offset of the brace that ends the row. */
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
