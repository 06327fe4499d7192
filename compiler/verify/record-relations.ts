import type { FileEntry } from '../format/release.ts';
import { isObject, type JsonObject, type JsonValue } from '../format/strict-json.ts';
import { TABLE, type TablePath } from '../products/products.ts';
import { RECORD_VIEWS } from '../products/record-products.ts';
import { byTime } from '../products/shapes/bundle.ts';
import type { PercentileTable, TableRow } from '../products/shapes/product.ts';
import { readingStatement, type Worded } from '../products/shapes/reading-text.ts';
import type { SignalRecord } from '../products/shapes/record.ts';
import { historyPreview, pastMembers, withoutStatus } from '../products/shapes/record-views.ts';
import type { SeriesRow } from '../products/shapes/series.ts';
import type { FileList } from './file-list.ts';
import { checkMade, cited, differing, isSame, type Related, rowsOf } from './relation.ts';

const RECORD = '/gauge' satisfies TablePath;
export const SERIES = '/gauge/history-series' satisfies TablePath;
export const PREVIEW = '/gauge/history-preview' satisfies TablePath;
/** Members that a series has of its own under a name of the record. */
const SERIES_OWN = new Set(['tier', 'record_hash_verifiable', '_citation']);
/** An operation, or another form of it, whose file is of one signal and entity. */
interface View {
  readonly endpoint: TableRow;
  /** What its paths begin with; the folder of the form is in front. */
  readonly start: string;
  /** Another form than the usual one, or ''. */
  readonly form: string;
}

const VIEWS: readonly View[] = TABLE.flatMap((endpoint: TableRow) => {
  const [, start] = /^([a-z/-]+\/)\{signal_id\}\/\{entity\}\.json$/.exec(endpoint.file ?? '') ?? [];
  if (start === undefined) return [];
  const forms = Object.values(endpoint.params).flatMap(({ variant }) =>
    Object.values(variant ?? {}),
  );
  return [
    { endpoint, start, form: '' },
    ...forms.map((form) => ({ endpoint, start: `${form}/${start}`, form })),
  ];
});
const START = 'record/';

/** The path of the record that a file is a view of; null for a file that is none, its own for a record. */
export function recordOf(path: string): string | null {
  const view = VIEWS.find(({ start }) => path.startsWith(start));
  return view === undefined ? null : START + path.slice(view.start.length);
}

export function viewsOf(record: string, list: FileList): (View & { readonly entry: FileEntry })[] {
  return VIEWS.flatMap((view) => {
    if (view.start === START) return [];
    const entry = list.find(view.start + record.slice(START.length));
    return entry === null ? [] : [{ ...view, entry }];
  });
}

export function checkRecord(record: Related): void {
  const made = record.body as unknown as SignalRecord;
  checkMade(record, () => stated(made, record, { path: RECORD }));
}

/** Compares a view of a record with what the record makes of it; a preview is compared with the series. */
export function checkView(view: Related, record: JsonObject, { endpoint, form }: View): void {
  const { body, fault } = view;
  view.count('views');
  if (endpoint.path === PREVIEW) return;
  if (endpoint.path === SERIES) {
    const { provenance } = record as unknown as SignalRecord;
    const own = { ...record, provenance: withoutStatus(provenance) } as unknown as JsonObject;
    for (const name of differing(body, own, SERIES_OWN)) fault(name, 'differs from the record');
    return;
  }
  const signed = record as unknown as SignalRecord;
  checkMade(view, () => {
    const known = RECORD_VIEWS.find(({ product, form: of }) => product === endpoint && of === form);
    const percentile_table = percentilesOf(body.history);
    const made = known?.ofRecord(signed, { percentile_table }) ?? null;
    if (known === undefined || made === null || !endpoint.paid) return made;
    const { more } = known;
    return stated(made, { ...view, record: signed }, { path: endpoint.path, more });
  });
}

/** What was made, with the words that its citation has to say of the record. */
function stated(
  made: object,
  {
    body,
    catalog,
    ownTables,
    record = body as unknown as SignalRecord,
  }: Related & { readonly record?: SignalRecord },
  of: { readonly path: string; readonly more?: string },
): object {
  const signal = catalog.entryById.get(record.signal_id)?.signal;
  const collected_at = record._citation?.retrieved_at;
  if (!ownTables || signal === undefined || collected_at === undefined) {
    return { ...made, _citation: body._citation };
  }
  const reading = { ...record, collected_at } as Worded;
  return cited(made, body, readingStatement(signal, reading, of));
}

function percentilesOf(history: JsonValue | undefined): PercentileTable | null {
  return (isObject(history) ? history.percentile_table : null) as PercentileTable | null;
}

export function checkRows(
  { record, preview }: { readonly record: Related; readonly preview: Related | null },
  { rows: listed, retained }: JsonObject,
): void {
  const rows = rowsOf(listed);
  const byHash = new Map(rows.map((row) => [row.record_hash, row]));
  const isDelivered = reachOf(retained);
  const compare = (row: JsonObject, at: string, shown: boolean): void => {
    const stored = byHash.get(row.record_hash ?? null);
    if (stored === undefined && isDelivered(row)) {
      record.fault(`${at}record_hash`, 'is of no row of the series');
    }
    if (stored === undefined || !shown) return;
    for (const name of differing(row, stored)) {
      record.fault(at + name, 'differs from the series');
    }
  };
  // A difference of the record itself is named at the series.
  compare(record.body, '', false);
  if (isObject(record.body.last_fact)) compare(record.body.last_fact, 'last_fact.', true);
  checkPast(record, rows as unknown as SeriesRow[], retained);
  if (preview === null) return;
  const older = rowsOf(preview.body.rows).filter((row) => {
    return !isDelivered(row) && !byHash.has(row.record_hash ?? null);
  });
  checkMade(preview, () => {
    const known = [...older, ...rows] as unknown as SeriesRow[];
    return historyPreview(record.body as unknown as SignalRecord, known);
  });
  preview.count('preview_rows', rowsOf(preview.body.rows).length);
}

/** Compares what a record says of the readings before it with the rows of its series, where these reach back so far. */
function checkPast(
  { body, catalog, ownTables, fault }: Related,
  rows: readonly SeriesRow[],
  retained: JsonValue | undefined,
): void {
  const { signal_id, trend_7d } = body as unknown as SignalRecord;
  const signal = catalog.entryById.get(signal_id)?.signal;
  const isWhole = isObject(retained) && retained.older_rows === 0;
  const reaches = isWhole || rows.length >= (trend_7d ?? []).length;
  if (!ownTables || signal === undefined || rows.length === 0 || !reaches) return;
  const inOrder = [...rows].sort((a, b) => byTime(a.observed_at, b.observed_at));
  const made = pastMembers(signal, inOrder) as unknown as JsonObject;
  for (const name of Object.keys(made)) {
    if (!isSame(body[name], made[name])) fault(name, 'differs from the series');
  }
}

/** Which rows a series surely holds: long ones are cut at their start. */
function reachOf(retained: JsonValue | undefined): (row: JsonObject) => boolean {
  if (!isObject(retained)) return () => false;
  const { older_rows, from } = retained;
  return ({ snapshot_date: date }) =>
    typeof date === 'string' && (older_rows === 0 || date > (typeof from === 'string' ? from : ''));
}
