import { ENDPOINTS, type Endpoint, type EndpointPath, endpointAt } from '../contract/endpoints.ts';
import { filePath, parseFilePath } from '../contract/path.ts';
import type { FileEntry } from '../contract/release.ts';
import type { FileList } from './file-list.ts';
import { isObject, type JsonObject } from './object-nodes.ts';
import { bandOf, differing, isSame, type Related, rowsOf } from './relation.ts';

const RECORD: EndpointPath = '/gauge';
const SERIES: EndpointPath = '/gauge/history-series';
const PREVIEW: EndpointPath = '/gauge/history-preview';
/** Members that a view has of its own under a name of the record. */
const OWN = new Set(['tier', 'record_hash_verifiable', 'decision_points', '_citation', 'rows']);
/** What a view repeats under another name than the record. */
const RENAMED: Readonly<Record<string, string>> = {
  ruler: 'standard_ruler',
  calibrated: 'standard_ruler',
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

/** Compares a view of a record with it, and its rows with the series. */
export function checkView(view: Related, record: JsonObject): void {
  const { body, fault } = view;
  for (const name of differing(body, record, { except: OWN })) {
    fault(name, 'differs from the record');
  }
  for (const [name, source] of Object.entries(RENAMED)) {
    const [own, whole] = [body[name], record[source]];
    if (isObject(own) && (!isObject(whole) || differing(own, whole).length > 0)) {
      fault(name, `differs from "${source}" of the record`);
    }
  }
  if (body.band !== undefined && !isSame(body.band, bandOf(record))) {
    fault('band', 'differs from the band of the record');
  }
  view.count('views');
}

/** Compares the rows of a record's preview, and its last fact, with its series. */
export function checkRows(
  { record, preview }: { readonly record: Related; readonly preview: Related | null },
  series: JsonObject,
): void {
  const rows = new Map(rowsOf(series.rows).map((row) => [row.record_hash, row]));
  const within = reachOf(series);
  const compare = (row: JsonObject, { fault }: Related, where: string): void => {
    const stored = rows.get(row.record_hash ?? null);
    if (stored === undefined) {
      if (within(row.snapshot_date)) fault(`${where}record_hash`, 'is of no row of the series');
    } else {
      for (const name of differing(row, stored)) fault(where + name, 'differs from the series');
    }
  };
  compare(record.body, { ...record, fault: hashOnly(record) }, '');
  if (isObject(record.body.last_fact)) compare(record.body.last_fact, record, 'last_fact.');
  if (preview === null) return;
  const shown = rowsOf(preview.body.rows);
  for (const [at, row] of shown.entries()) compare(row, preview, `rows.${at}.`);
  preview.count('preview_rows', shown.length);
  if (shown.at(-1)?.record_hash !== record.body.record_hash) {
    preview.fault('rows', 'does not end with the reading of the record');
  }
}

/** Of a record only the hash is compared here: a difference in anything else is named at the series. */
function hashOnly({ fault }: Related): Related['fault'] {
  return (where, detail) => {
    if (where === 'record_hash') fault(where, detail);
  };
}

/** Which snapshot dates a series surely holds: long ones are cut at their start. */
function reachOf({ retained }: JsonObject): (date: unknown) => boolean {
  if (!isObject(retained)) return () => false;
  const { older_rows, from } = retained;
  return (date) =>
    typeof date === 'string' && (older_rows === 0 || date > (typeof from === 'string' ? from : ''));
}

/** What a view is to its record. */
export function viewKind(path: string): 'series' | 'preview' | 'other' {
  const of = (operation: EndpointPath) => valuesOf(endpointAt(operation), path) !== null;
  if (of(SERIES)) return 'series';
  return of(PREVIEW) ? 'preview' : 'other';
}
