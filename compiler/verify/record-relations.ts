import { ENDPOINTS, type Endpoint, type EndpointPath, endpointAt } from '../contract/endpoints.ts';
import { signalOf } from '../contract/lines.ts';
import { filePath, parseFilePath } from '../contract/path.ts';
import { readingStatement, type Worded } from '../contract/reading-text.ts';
import type { SignalRecord } from '../contract/record.ts';
import {
  historyAddOn,
  historyPreview,
  type PercentileTable,
  rawBody,
  recordAddOns,
  thinCalibrated,
} from '../contract/record-views.ts';
import type { FileEntry } from '../contract/release.ts';
import type { SeriesRow } from '../contract/series.ts';
import type { JsonValue } from '../contract/strict-json.ts';
import type { FileList } from './file-list.ts';
import { isObject, type JsonObject } from './object-nodes.ts';
import { checkMade, cited, differing, type Related, rowsOf } from './relation.ts';

const RECORD: EndpointPath = '/gauge';
const SERIES: EndpointPath = '/gauge/history-series';
const PREVIEW: EndpointPath = '/gauge/history-preview';
/** Members that a series has of its own under a name of the record. */
const SERIES_OWN = new Set(['tier', 'record_hash_verifiable', '_citation']);
/** Bodies that a record alone is made into, by their operation, the folder of another form in front. */
const MADE: Readonly<Record<string, (record: SignalRecord, view: JsonObject) => object | null>> = {
  '/gauge/raw': rawBody,
  '/gauge/ruler': (record) => recordAddOns(record)['/gauge/ruler'] ?? null,
  '/gauge/calibrated': (record) => recordAddOns(record)['/gauge/calibrated'] ?? null,
  'thin/gauge/calibrated': thinCalibrated,
  '/gauge/strata': (record) => recordAddOns(record)['/gauge/strata'] ?? null,
  '/gauge/history': (record, { history }) => historyAddOn(record, percentilesOf(history)),
};

/** Operations whose file is of one signal and entity, each with the folder in front of its other forms. */
const VIEWS = (ENDPOINTS as readonly Endpoint[])
  .filter(({ file }) => /^[a-z/-]+\/\{signal_id\}\/\{entity\}\.json$/.test(file ?? ''))
  .flatMap((endpoint) => [
    { endpoint, folder: '' },
    ...Object.values(endpoint.params)
      .flatMap(({ variant }) => Object.values(variant ?? {}))
      .map((name) => ({ endpoint, folder: `${name}/` })),
  ]);

/** The path of the record that a file is a view of; null for a file that is none, its own for a record. */
export function recordOf(path: string): string | null {
  for (const { endpoint, folder } of VIEWS) {
    if (!path.startsWith(folder)) continue;
    const values = valuesOf(endpoint, path.slice(folder.length));
    if (values !== null) return filePath(endpointAt(RECORD), values);
  }
  return null;
}

function valuesOf(endpoint: Endpoint, path: string) {
  try {
    return parseFilePath(endpoint, path);
  } catch {
    return null;
  }
}

/** The listed views of a record, itself left out. */
export function viewsOf(record: string, list: FileList): FileEntry[] {
  const values = valuesOf(endpointAt(RECORD), record);
  if (values === null) return [];
  return VIEWS.flatMap(({ endpoint, folder }) => {
    const path = `${folder}${filePath(endpoint, values)}`;
    const entry = path === record ? null : list.find(path);
    return entry === null ? [] : [entry];
  });
}

/** Compares what a record says in words with its members. */
export function checkRecord(record: Related): void {
  const made = record.body as unknown as SignalRecord;
  checkMade(record, () => stated(made, record, { path: RECORD }));
}

/** Compares a view of a record with what the record makes of it; a preview is compared with the series. */
export function checkView(view: Related, record: JsonObject): void {
  const { path, body, fault } = view;
  view.count('views');
  const place = VIEWS.find(({ endpoint, folder }) => isOf(endpoint, folder, path));
  if (place === undefined || place.endpoint.path === PREVIEW) return;
  if (place.endpoint.path === SERIES) {
    for (const name of differing(body, record, SERIES_OWN)) fault(name, 'differs from the record');
    return;
  }
  const { endpoint, folder } = place;
  const made = MADE[folder.slice(0, -1) + endpoint.path];
  const signed = record as unknown as SignalRecord;
  checkMade(view, () => {
    const right = made?.(signed, body) ?? null;
    if (right === null || endpoint.priceUsd === null) return right;
    const more = folder === '' ? '' : `&format=${folder.slice(0, -1)}`;
    return stated(right, { ...view, record: signed }, { path: endpoint.path, more });
  });
}

interface Stated extends Related {
  readonly record?: SignalRecord;
}

/** What was made, with the words that its citation has to say of the record. */
function stated(
  made: object,
  { body, ownTables, record = body as unknown as SignalRecord }: Stated,
  of: { readonly path: string; readonly more?: string },
): object {
  const signal = signalOf(record.signal_id);
  const collected_at = record._citation?.retrieved_at;
  if (!ownTables || signal === undefined || collected_at === undefined) {
    return { ...made, _citation: body._citation };
  }
  const reading = { ...record, collected_at } as Worded;
  return cited(made, body, readingStatement(signal, reading, of));
}

function percentilesOf(history: JsonValue | undefined): PercentileTable {
  return (isObject(history) ? history.percentile_table : []) as unknown as PercentileTable;
}

/** Compares a record's preview, and its last fact, with its series. */
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
    for (const name of differing(row, stored, NONE)) {
      record.fault(at + name, 'differs from the series');
    }
  };
  // A difference of the record itself is named at the series.
  compare(record.body, '', false);
  if (isObject(record.body.last_fact)) compare(record.body.last_fact, 'last_fact.', true);
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

const NONE: ReadonlySet<string> = new Set();

/** Which rows a series surely holds: long ones are cut at their start. */
function reachOf(retained: JsonValue | undefined): (row: JsonObject) => boolean {
  if (!isObject(retained)) return () => false;
  const { older_rows, from } = retained;
  return ({ snapshot_date: date }) =>
    typeof date === 'string' && (older_rows === 0 || date > (typeof from === 'string' ? from : ''));
}

/** What a view is to its record. */
export function viewKind(path: string): 'series' | 'preview' | 'other' {
  if (isOf(endpointAt(SERIES), '', path)) return 'series';
  return isOf(endpointAt(PREVIEW), '', path) ? 'preview' : 'other';
}

function isOf(endpoint: Endpoint, folder: string, path: string): boolean {
  return path.startsWith(folder) && valuesOf(endpoint, path.slice(folder.length)) !== null;
}
