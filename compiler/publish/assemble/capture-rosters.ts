import type { Statement } from '../../format/citation.ts';
import { defined } from '../../format/errors.ts';
import { grouped } from '../../format/lists.ts';
import { HASH_CORE_VERSION } from '../../format/record-hash.ts';
import {
  type CapturedCollection,
  DEMAND_FIELDS,
  MCP_SERVERS,
  serviceId,
  TRUST_SERVICES,
  trustModel,
} from '../../products/collections.ts';
import { endpointAt } from '../../products/products.ts';
import { listsOf } from '../../products/rosters.ts';
import { filePath } from '../../products/shapes/path.ts';
import { NATURE } from '../../products/shapes/words.ts';
import { readCollection, type StoredRow } from '../../readings/collection-rows.ts';
import { disclosures, hoursBetween } from '../../readings/figures.ts';
import {
  type CaptureRow,
  type McpServerRow,
  mcpServerRowSchema,
  type TrustServiceRow,
  trustServiceRowSchema,
} from '../../readings/roster-rows.ts';
import type { Press } from '../../release/press.ts';
import type { InputFault } from '../../system/compile-error.ts';
import {
  type HashedRow,
  type IsStored,
  noteOf,
  previewHead,
  previewValues,
  putHashes,
  putRoster,
  type ReadPart,
  rowProvenance,
  type SettledRoster,
  settleRoster,
  verifiableFile,
} from './settle-rows.ts';

export interface Subject<Row extends CaptureRow> {
  readonly id: string;
  /** One row a capture day, oldest first. */
  readonly rows: readonly HashedRow<Row>[];
  readonly newest: HashedRow<Row>;
  readonly first_seen: string;
  readonly last_seen: string;
  /** Capture days since it was last seen, oldest first; empty while it is there. */
  readonly absences: readonly string[];
}

interface CaptureRoster<Row extends CaptureRow> extends SettledRoster<Row> {
  /** Days on which anything was captured, oldest first. */
  readonly days: readonly string[];
  /** In the order of their ids. */
  readonly subjects: readonly Subject<Row>[];
}

type SubjectText = Pick<Statement, 'claim' | 'fact'>;

interface CaptureViews<Row extends CaptureRow> {
  /** What the body of a subject says before and after the members that every subject has. */
  membersOf(subject: Subject<Row>): readonly [before: object, after: object];
  /** Life cycle of a subject; absence on its first confirmed day by default. */
  lifecycleOf?(subject: Subject<Row>): object;
  /** What lists read of a subject beside its body. */
  listedOf?(subject: Subject<Row>): object;
  textOf(subject: Subject<Row>): SubjectText;
  /** The value that asks for a subject, its id by default; null for one that another answers for. */
  askedBy?(subject: Subject<Row>): string | null;
  /** Order of the lists that are ranked. */
  byRank?(a: Subject<Row>, b: Subject<Row>): number;
  readonly counts: object;
}

/** How a collection tells of subjects by the day on which they were captured. */
interface CaptureTable<Row extends CaptureRow> {
  readonly of: CapturedCollection & { readonly id: keyof Parameters<ReadPart>[0] };
  readonly schema: Parameters<typeof readCollection<Row>>[1];
  idOf(row: Row): string;
  /** The members of a row as they are served, among them all of its core. */
  factsOf(row: Row): Readonly<Record<string, unknown>>;
  faultsOf?(roster: CaptureRoster<Row>): readonly InputFault[];
  views(roster: CaptureRoster<Row>, isStored: IsStored): CaptureViews<Row>;
  /** How bodies spell the version of the hash core. */
  readonly version?: string | number;
}

/** Reads and writes a collection of captured subjects: a body for each, the lists of them and a preview. */
export function capturePart<Row extends CaptureRow>(capture: CaptureTable<Row>): ReadPart {
  return (collections, asOf) => {
    const { id: kind } = capture.of;
    const { rows, faults } = readCollection({ files: collections[kind], asOf }, capture.schema);
    const roster = captureRoster(rows, capture);
    return {
      faults: [...faults, ...roster.faults, ...(capture.faultsOf?.(roster) ?? [])],
      rows: rows.length,
      write(press, isStored) {
        writeCaptured(press, roster, { capture, views: capture.views(roster, isStored) });
      },
    };
  };
}

interface SubjectBody<Row extends CaptureRow> {
  readonly subject: Subject<Row>;
  readonly body: object;
  /** What asks for the body; null where nothing does. */
  readonly value: string | null;
}

function writeCaptured<Row extends CaptureRow>(
  press: Press,
  roster: CaptureRoster<Row>,
  { capture, views }: { readonly capture: CaptureTable<Row>; readonly views: CaptureViews<Row> },
): void {
  const { of } = capture;
  const { askedBy = ({ id }: Subject<Row>): string | null => id } = views;
  const described = roster.subjects.map((subject) => {
    const body = subjectBody(subject, capture, views);
    return { subject, body, value: askedBy(subject) };
  });
  for (const each of described)
    putSubject(press, of, { ...each, text: views.textOf(each.subject) });
  const lastDay = roster.days.at(-1);
  if (lastDay !== undefined) putLists(press, of, described, { ...views, lastDay });
  const counts = { ...views.counts, ...captureCounts(roster) };
  const values = described.flatMap(({ value }) => value ?? []).sort();
  const preview = { ...previewHead(press, of, counts), ...previewValues(of.subject.path, values) };
  press.put(of.preview, {}, preview);
  putHashes(press, of.id, capturedHashes(roster, described, capture));
}

function subjectBody<Row extends CaptureRow>(
  subject: Subject<Row>,
  { of, factsOf, version = HASH_CORE_VERSION }: CaptureTable<Row>,
  { membersOf, lifecycleOf = presenceOf }: CaptureViews<Row>,
) {
  const { row, record_hash } = subject.newest;
  const [before, after] = membersOf(subject);
  return {
    nature: NATURE,
    ...factsOf(row),
    ...before,
    lifecycle: lifecycleOf(subject),
    data_age_hours: hoursBetween(row.observed_at, row.collected_at),
    record_hash,
    hash_core_version: record_hash === null ? null : version,
    ...after,
    provenance: rowProvenance(of, subject.newest),
    ...disclosures(row),
  };
}

function putSubject<Row extends CaptureRow>(
  press: Press,
  { subject: { path, param } }: CapturedCollection,
  { subject, body, value, text }: SubjectBody<Row> & { readonly text: SubjectText },
): void {
  if (value === null) return;
  const { observed_at, collected_at: retrieved_at } = subject.newest.row;
  const target = `${path}?${param}=${encodeURIComponent(value)}`;
  const sealed = press.sealer.seal(body, { ...text, target, observed_at, retrieved_at });
  press.put(path, { [param]: value }, sealed);
}

function putLists<Row extends CaptureRow>(
  press: Press,
  of: CapturedCollection,
  described: readonly SubjectBody<Row>[],
  { lastDay, byRank, listedOf }: CaptureViews<Row> & { readonly lastDay: string },
): void {
  const ranked =
    byRank === undefined ? described : [...described].sort((a, b) => byRank(a.subject, b.subject));
  for (const product of listsOf(of.id)) {
    const { list } = product;
    const row = defined(list.row, 'the row of a subject');
    const rows = (list.ranked ? ranked : described).flatMap(({ subject, body }, index) => {
      const shown = row({ ...body, ...listedOf?.(subject) } as never, index + 1);
      return shown === null ? [] : [{ shown, from: subject.newest }];
    });
    putRoster(press, of, { product, lastDay, rows });
  }
}

/** Reads presence off successive captures: who was there on which day, and who was not. */
function captureRoster<Row extends CaptureRow>(
  stored: readonly StoredRow<Row>[],
  { of, idOf, factsOf }: CaptureTable<Row>,
): CaptureRoster<Row> {
  const keyOf = (row: Row): string => `${idOf(row)}\n${row.capture_date}`;
  const settled = settleRoster(stored, { kind: of.id, keyOf, factsOf });
  const days = [...new Set(settled.kept.map(({ row }) => row.capture_date))].sort();
  const byId = grouped(settled.kept, ({ row }) => idOf(row));
  const subjects = [...byId].map(([id, rows]) => subjectOf(id, rows, days));
  return { ...settled, days, subjects: subjects.sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

function subjectOf<Row extends CaptureRow>(
  id: string,
  captured: readonly HashedRow<Row>[],
  days: readonly string[],
): Subject<Row> {
  const rows = [...captured].sort((a, b) => (a.row.capture_date < b.row.capture_date ? -1 : 1));
  const [first] = rows;
  const newest = rows.at(-1);
  if (first === undefined || newest === undefined) throw new RangeError(`No row of "${id}"`);
  const last_seen = newest.row.capture_date;
  const absences = days.slice(days.indexOf(last_seen) + 1);
  return { id, rows, newest, first_seen: first.row.capture_date, last_seen, absences };
}

/** Life cycle of a subject that is absent on its first confirmed absence. */
function presenceOf({ first_seen, last_seen, absences }: Subject<CaptureRow>) {
  const [end_at = null] = absences;
  const state = end_at === null ? ('operating' as const) : ('absent' as const);
  return { state, first_seen, last_seen, end_at };
}

function unavailable(unavailable_fields: readonly string[]) {
  const unavailable_reason = 'no source of these is stored; they are left out, not guessed';
  return { unavailable_fields, unavailable_reason };
}

/** Subjects that the newest capture did not find; one that comes back is not among them. */
function absentSubjects<Row extends CaptureRow>({ subjects }: CaptureRoster<Row>) {
  return subjects.filter(({ absences }) => absences.length > 0);
}

/** The newest row of each subject is served; those of earlier days and revised ones are not. */
function capturedHashes<Row extends CaptureRow>(
  { subjects, revised }: CaptureRoster<Row>,
  described: readonly SubjectBody<Row>[],
  { of, idOf }: CaptureTable<Row>,
) {
  const endpoint = endpointAt(of.subject.path);
  const list = defined(listsOf(of.id)[0], 'the first list');
  const fileOf = (value: string | null): string | null =>
    value === null ? verifiableFile(list.path) : filePath(endpoint, { [of.subject.param]: value });
  const place = (from: HashedRow<Row>, file: string | null) => {
    return { from: from as HashedRow, entity: idOf(from.row), file };
  };
  return [
    ...described.map(({ subject, value }) => place(subject.newest, fileOf(value))),
    ...subjects.flatMap(({ rows }) => rows.slice(0, -1).map((row) => place(row, null))),
    ...revised.map((row) => place(row, null)),
  ];
}

function captureCounts({ subjects, days }: CaptureRoster<CaptureRow>) {
  return {
    capture_days: days.length,
    oldest_capture_date: days[0] ?? null,
    newest_capture_date: days.at(-1) ?? null,
    with_hash: subjects.filter(({ newest }) => newest.record_hash !== null).length,
  };
}

/** Members that clients know and that nothing is stored of. */
const TRUST_UNAVAILABLE = ['tier', 'verified', 'action_hint', 'sub_scores', 'onchain_*'];
const ORDERING = 'score_total is an ordering key, not a rating';
const DEMAND_NOTE = `${ORDERING}; unique_payers_30d is a lower bound: the largest count of one endpoint, never a sum`;
const LEGACY_NOTE = `${ORDERING}; captured from a registry, before demand was measured`;

const idOf = ({ host }: TrustServiceRow): string => serviceId(host);

/** Everything about x402 services: precheck, scorecard, graveyard and their preview. */
export const trustPart = capturePart<TrustServiceRow>({
  of: TRUST_SERVICES,
  schema: trustServiceRowSchema,
  idOf,
  factsOf,
  faultsOf: sharedIds,
  version: String(HASH_CORE_VERSION),
  views: (roster) => ({
    membersOf: ({ newest }) => [notesOf(newest.row), unavailable(TRUST_UNAVAILABLE)],
    textOf,
    counts: { services: roster.subjects.length, absent: absentSubjects(roster).length },
  }),
});

/** Dots become hyphens, so two hosts could claim one id. */
function sharedIds({ subjects }: CaptureRoster<TrustServiceRow>): InputFault[] {
  return subjects.flatMap(({ id, rows, newest }) => {
    const other = rows.find(({ row }) => row.host !== newest.row.host);
    if (other === undefined) return [];
    const message = `"${other.row.host}" and "${newest.row.host}" share the id "${id}"; keep one of them`;
    return [{ code: 'conflict', file: other.file, line: other.line, message }];
  });
}

/** The members of a row as they are served, those of its model only. */
function factsOf(row: TrustServiceRow) {
  const model = trustModel(row.capture_date);
  const demand = Object.fromEntries(DEMAND_FIELDS.map((name) => [name, row[name] ?? null]));
  return {
    service_id: idOf(row),
    name: row.name ?? row.host,
    capture_date: row.capture_date,
    score_total: row.score_total,
    liveness_state: row.liveness_state,
    liveness_streak: row.liveness_streak,
    baseline_delta: row.baseline_delta,
    domain: row.host,
    first_endpoint: row.first_endpoint,
    observed_at: row.observed_at,
    source_ref: row.source_ref,
    source_tier: row.source_tier,
    model,
    ...(model === 'demand-v1' ? demand : {}),
  };
}

function textOf({ id, newest: { row } }: Subject<TrustServiceRow>) {
  const demand = row.demand_class === undefined ? '' : `, demand class ${row.demand_class}`;
  return {
    claim: `demand record of the x402 service ${id}`,
    fact: `${row.host} as captured on ${row.capture_date}: ordering key ${row.score_total}${demand}`,
  };
}

function notesOf(row: TrustServiceRow): object {
  if (trustModel(row.capture_date) === 'demand-v1') return { model_note: DEMAND_NOTE };
  return { source_note: noteOf(row), note: LEGACY_NOTE };
}

const SERVERS_UNAVAILABLE = ['prominence', 'maturity', 'stars', 'downloads'];

/** Everything about MCP servers: server, census, graveyard and their preview. */
export const mcpPart = capturePart<McpServerRow>({
  of: MCP_SERVERS,
  schema: mcpServerRowSchema,
  idOf: ({ server_id }) => server_id,
  factsOf(row) {
    const { server_id, capture_date, status, observed_at, source_ref, source_tier } = row;
    const name = row.name ?? null;
    return { server_id, name, capture_date, status, observed_at, source_ref, source_tier };
  },
  views: (roster) => ({
    membersOf: ({ absences, newest }) => [
      { missing_streak: absences.length },
      { ...unavailable(SERVERS_UNAVAILABLE), source_note: noteOf(newest.row) },
    ],
    textOf: ({ id, newest: { row } }) => ({
      claim: `registry record of the MCP server ${id}`,
      fact: `${id} as captured on ${row.capture_date}: status ${row.status}`,
    }),
    counts: { servers: roster.subjects.length, absent: absentSubjects(roster).length },
  }),
});
