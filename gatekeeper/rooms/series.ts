import { csvLine } from '../../compiler/contract/csv-line.ts';
import { SERIES_DAYS_DEFAULT } from '../../compiler/contract/endpoints.ts';
import type { Values } from '../../compiler/contract/path.ts';
import {
  type ChainState,
  CORE_COLUMNS,
  SERIES_COLUMNS,
  type StoredSegment,
  segmentPath,
  seriesFrom,
  stateBefore,
} from '../../compiler/contract/series.ts';
import { SIGNED_CSV, signedCsvHead } from '../../compiler/contract/series-csv.ts';
import { type Answered, IS_THERE, MISS, type Question, type Service } from '../answers/service.ts';
import { JSON_MEDIA_TYPE } from '../http/reply.ts';
import { CSV_MEDIA_TYPE, mediaTypeOf } from '../offer/media-type.ts';
import { requestFile } from '../release/release-index.ts';
import { spliceRequestTime } from '../release/request-time.ts';
import { layoutOf, type SeriesLayout, type Stretch, segmentLayout } from './series-layout.ts';
import { type Cut, type Form, storedRows, tableCut, tablesOf } from './series-tables.ts';

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
  const tables = { subject, tables: tablesOf(service.release), spend };
  const inForm = (form: Form) => tableCut(cut, form, tables);
  const asked = { days, now: service.clock() };
  if (mediaTypeOf(endpoint, target) !== CSV_MEDIA_TYPE) {
    return content(jsonParts({ layout, cut, asked, inForm }, values), JSON_MEDIA_TYPE);
  }
  const parts = csvParts({ layout, cut, asked, inForm }, values);
  return content(parts, `${CSV_MEDIA_TYPE}; charset=utf-8`);
}

/** What an answer is put together of. */
interface Making {
  readonly layout: SeriesLayout;
  readonly cut: Cut;
  readonly asked: Asked;
  /** The delivered rows in a form that is not the stored one. */
  readonly inForm: (form: Form) => readonly Buffer[];
}

function csvParts({ layout, cut, asked, inForm }: Making, values: Values): readonly Buffer[] {
  const head = values.format === SIGNED_CSV ? signedHead(layout, cut, asked) : '';
  const hasCores = values.verifiable !== undefined;
  const columns = csvLine(hasCores ? CORE_COLUMNS : SERIES_COLUMNS);
  return [Buffer.from(head + columns), ...inForm(hasCores ? 'csv-cores' : 'csv')];
}

function jsonParts({ layout, cut, asked, inForm }: Making, values: Values): readonly Buffer[] {
  const rows =
    values.verifiable === undefined
      ? storedRows(cut)
      : [...inForm('json-cores'), behindRows(layout)];
  return [...beforeRows(layout, cut.before, asked), ...rows];
}

function content(parts: readonly Buffer[], contentType: string): Answered {
  const body = Buffer.concat(parts);
  return { kind: 'content', content: { body, contentType, keepMs: 0 } };
}

type OpenSegment = (segment: StoredSegment) => Promise<Stretch>;

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

function behindRows({ body, rows }: SeriesLayout): Buffer {
  return body.bytes.subarray(rows.at(-1));
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
  const answer = Buffer.concat([...beforeRows(layout, before, asked), behindRows(layout)]);
  return signedCsvHead(answer.toString('utf8').replaceAll('\n', ''));
}
