import { type Citation, citedTarget } from '../format/citation.ts';
import { defined } from '../format/errors.ts';
import type { FileEntry } from '../format/release.ts';
import { isObject, type JsonObject, type JsonValue } from '../format/strict-json.ts';
import { BUNDLE_FOLDER } from '../products/bundle.ts';
import { censusEntry } from '../products/census.ts';
import {
  type CapturedCollection,
  MCP_SERVERS,
  STABLE_COINS,
  TRUST_SERVICES,
} from '../products/collections.ts';
import { endpointAt, productOf, TABLE, type TablePath } from '../products/products.ts';
import { RECORD_VIEWS } from '../products/record-products.ts';
import { listsOf, type RosterProduct } from '../products/rosters.ts';
import { byTime, legOf } from '../products/shapes/bundle.ts';
import { parseFreshnessBasis } from '../products/shapes/freshness.ts';
import { encodeSegment, filePath } from '../products/shapes/path.ts';
import type {
  JoinedSource,
  PercentileTable,
  Product,
  TableRow,
} from '../products/shapes/product.ts';
import { readingStatement, type Worded } from '../products/shapes/reading-text.ts';
import type { Provenance, SignalRecord } from '../products/shapes/record.ts';
import { historyPreview, pastMembers, withoutStatus } from '../products/shapes/record-views.ts';
import {
  coinDeathRow,
  coinRow,
  type RosterMember,
  type RosterRow,
  rosterBody,
  rosterStatement,
  rosterVerifiable,
} from '../products/shapes/roster-views.ts';
import type { SeriesRow } from '../products/shapes/series.ts';
import type { FileList } from './file-list.ts';
import {
  checkMade,
  cited,
  differing,
  isSame,
  type Related,
  rowsOf,
  storedBody,
  storedRecord,
} from './relation.ts';
import { type FilePlace, placeOf } from './release-index.ts';
import type { StoredBodies } from './stored-bodies.ts';

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

const ROSTER = /^(verifiable\/)?roster\//;
const VERIFIABLE = 'verifiable/';

interface SubjectRoster {
  readonly of: CapturedCollection;
  readonly product: RosterProduct;
}

/** The lists of collections in which each subject has a body, by their file. */
const ROSTERS: ReadonlyMap<string | null, SubjectRoster> = new Map(
  [TRUST_SERVICES, MCP_SERVERS].flatMap((of: CapturedCollection) =>
    listsOf(of.id).map((product) => [filePath(product, {}), { of, product }] as const),
  ),
);

/** Compares a roster with the bodies of its subjects, or its form with pre-images with the usual one. */
export function checkRoster(roster: Related): void {
  const { path, ownTables } = roster;
  if (!ROSTER.test(path) || !ownTables) return;
  const known = ROSTERS.get(path);
  if (path.startsWith(VERIFIABLE)) checkMade(roster, () => withCores(roster));
  else if (known !== undefined) checkMade(roster, () => madeRoster(roster, known));
  else checkMade(roster, () => withCoins(roster));
}

/** The usual form with the pre-images of the other one, which are judged with the hashes. */
function withCores({ path, body, bodies, count }: Related): object | null {
  const usual = storedBody(bodies, path.slice(VERIFIABLE.length));
  if (usual === null) return null;
  const member = memberOf(usual);
  const given = rowsOf(body[member]);
  const rows = rowsOf(usual[member]);
  const shown = rows.map((row, at) => {
    return {
      ...row,
      _hash_core: row.record_hash === null ? null : (given[at]?._hash_core ?? null),
    };
  });
  count('forms');
  const citation = citationOf(usual);
  const { claim, fact, retrieved_at, source } = citation;
  const target = `${citedTarget(citation)}?verifiable=1`;
  const says = { claim, fact, retrieved_at, target, observed_at: source.published_at ?? '' };
  const record_hash_verifiable = rosterVerifiable(rows, true);
  return cited({ ...usual, [member]: shown, record_hash_verifiable }, body, says);
}

/** Every body of this format states a claim. */
function citationOf({ _citation }: JsonObject): Required<Citation> {
  return _citation as unknown as Required<Citation>;
}

function memberOf(roster: JsonObject): RosterMember {
  const member = (['rows', 'deaths', 'records'] as const).find((name) => roster[name]);
  if (member === undefined) throw new TypeError('it has no rows');
  return member;
}

function madeRoster({ body, bodies, count }: Related, { of, product }: SubjectRoster): object {
  const { list, path: target } = product;
  const { member } = list;
  const row = defined(list.row, 'the row of a subject');
  const { claim } = citationOf(body);
  const rows = subjectsIn(bodies, of).flatMap(([, subject], index) => {
    const shown = row(subject as never, index + 1);
    return shown === null ? [] : [rowOf(subject, shown)];
  });
  count('roster_rows', rows.length);
  // Which notes its sources have stands in no subject.
  const noted = rows.map((row) => ({
    ...row,
    source_note: body.source_note as string | undefined,
  }));
  const says = rosterStatement({ member, claim, target }, rows);
  return cited(rosterBody(member, noted, false), body, says);
}

function subjectsIn(
  bodies: StoredBodies,
  { subject: { path, param, id } }: CapturedCollection,
): [string, JsonObject][] {
  const folder = endpointAt(path).file?.split(`{${param}}`)[0];
  const found = [...bodies.list.paths(defined(folder, 'the folder of the subjects'))].flatMap(
    (path): [string, JsonObject][] => {
      const body = storedBody(bodies, path);
      return body === null ? [] : [[String(body[id]), body]];
    },
  );
  return found.sort(([a], [b]) => (a < b ? -1 : 1));
}

function rowOf(subject: JsonObject, shown: object): RosterRow {
  const { observed_at, data_age_hours, record_hash, grade, scope } =
    subject as unknown as RosterRow;
  const provenance = subject.provenance as unknown as Provenance;
  const { retrieved_at: collected_at } = citationOf(subject);
  const cadence = parseFreshnessBasis(provenance.freshness_basis);
  const [lineage] = provenance.data_lineage;
  if (cadence === null || lineage === undefined) throw new TypeError('a subject has no lineage');
  const { validation_status } = provenance;
  const part = { cadence, observed_at, data_age_hours, validation_status, lineage };
  return { ...part, shown, core: null, record_hash, collected_at, grade, scope };
}

/** The rows of a roster as they stand, but those of coins with a body as that body has them. */
function withCoins({ path, body, bodies, count }: Related): object {
  const member = memberOf(body);
  const rows = rowsOf(body[member]);
  const coins = new Map(path.startsWith('roster/stable/') ? subjectsIn(bodies, STABLE_COINS) : []);
  const shown = (coin: JsonObject, row: JsonObject | null, rank: number) => {
    if (member === 'deaths') return coinDeathRow(coin as never);
    const depegged = isObject(row?.lifecycle) && row.lifecycle.depegged === true;
    return coinRow({ ...coin, depegged } as never, rank);
  };
  const made = rows.map((row, at) => {
    const coin = coins.get(String(row.entity));
    coins.delete(String(row.entity));
    if (coin === undefined) return row;
    count('roster_rows');
    return shown(coin, row, at + 1);
  });
  const missing = [...coins.values()].filter((coin) => shown(coin, null, 0) !== null);
  const record_hash_verifiable = rosterVerifiable(rows, false);
  const all = [...made, ...missing];
  return { ...body, count: all.length, [member]: all, record_hash_verifiable };
}

/** A sample is its record, made in the words of no table. */
const SAMPLE = 'free/sample/';

/** The folders of joined bodies, whatever their form: nothing else may lie there. */
const JOINED = new Set([
  BUNDLE_FOLDER,
  ...TABLE.flatMap(({ ofJoined, file }: Product) =>
    ofJoined === undefined || file === undefined ? [] : [file.slice(0, file.indexOf('/') + 1)],
  ),
]);

function isAmongJoined(path: string): boolean {
  const plain = path.replace(/^thin\//, '');
  return JOINED.has(plain.slice(0, plain.indexOf('/') + 1));
}

/** Compares a body that joins stored records with what these make. */
export function checkJoined(joined: Related): void {
  const { path, ownTables, catalog, bodies } = joined;
  if (path.startsWith(SAMPLE)) checkMade(joined, () => madeSample(joined));
  if (!ownTables) return;
  const place = placeOf(path, catalog);
  if (place === null) {
    if (isAmongJoined(path)) joined.fault('', 'answers no operation of the catalogue');
    return;
  }
  const { endpoint, values, form } = place;
  const { ofJoined, forms = {} } = productOf(endpoint, catalog.lines);
  const make = form === '' ? ofJoined : forms[form]?.ofJoined;
  if (make === undefined) return;
  const [subject = ''] = Object.values(values);
  checkMade(joined, () => {
    const usual = form === '' ? null : storedBody(bodies, path.slice(form.length + 1));
    const made = make(subject, { ...storedSource(joined, place), usual });
    return made && cited(made.body, joined.body, made.statement);
  });
  if (form !== '') joined.count('forms');
}

/** What a release holds, as what joined bodies are made of. */
function storedSource(joined: Related, { endpoint, form }: FilePlace): JoinedSource {
  const { path, catalog, bodies } = joined;
  const { lines, entryById, namedByLine } = catalog;
  const recordOf = (signal_id: string, entity: string) =>
    storedRecord(bodies, { signal_id, entity });
  const leg: JoinedSource['leg'] = (signalId, entity) => {
    const record = recordOf(signalId, entity);
    if (record === null) return undefined;
    if (form === '') joined.count('legs');
    return legOf(record, entryById.get(signalId)?.signal);
  };
  return {
    lines,
    entryById,
    namedByLine,
    usual: null,
    leg,
    record(signalId, entity) {
      const signed = recordOf(signalId, entity);
      if (signed === null) return null;
      const { _citation, ...record } = signed;
      return record;
    },
    census(signalId) {
      const folder = `record/${encodeSegment(signalId)}/`;
      return bodies.list.values(endpointAt('/gauge'), folder).flatMap((entity) => {
        const [record, read] = [recordOf(signalId, entity), leg(signalId, entity)];
        return record === null || read === undefined ? [] : [censusEntry(record, read)];
      });
    },
    subjects() {
      const listed = bodies.list.values(endpoint, path.slice(0, path.lastIndexOf('/') + 1));
      const { signals = [] } = productOf(endpoint, lines);
      if (signals.length === 0) return listed;
      const cities = signals.flatMap((id) => entryById.get(id)?.line.entities ?? []);
      const isListed = new Set(listed);
      return [...new Set(cities)].filter((one) => isListed.has(one));
    },
  };
}

function madeSample(joined: Related): object | null {
  const { sample } = joined.body;
  if (!isObject(sample)) return null;
  const { signal_id, entity } = sample;
  joined.count('views');
  const record = { signal_id: String(signal_id), entity: String(entity) };
  const stored = storedRecord(joined.bodies, record);
  return stored && { sample: stored };
}
