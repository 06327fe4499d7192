import type { RosterKind } from '../../../contract/roster-core.ts';
import type { Problem } from '../../intake/compile-error.ts';
import { readCollection, type StoredRow } from '../../intake/read-collection.ts';
import type { CaptureRow } from '../../intake/row-origin.ts';
import type { Press } from '../../publish/press.ts';
import type { IsStored, ReadPart } from '../part.ts';
import { type HashPlaces, putHashes, type ShownRow } from './put-roster.ts';
import { type HashedRow, type Identity, type SettledRows, settleRows } from './settle-rows.ts';

/** A subject with everything that was captured of it. */
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

/** A collection of rows by subject and capture day. */
export interface CaptureRoster<Row extends CaptureRow> extends SettledRows<Row> {
  /** Days on which anything was captured, oldest first. */
  readonly days: readonly string[];
  /** In the order of their ids. */
  readonly subjects: readonly Subject<Row>[];
}

/** A kind of collection that tells of subjects by the day on which they were captured. */
interface CaptureKind<Row extends CaptureRow> {
  readonly kind: RosterKind & keyof Parameters<ReadPart>[0];
  readonly schema: Parameters<typeof readCollection<Row>>[1];
  idOf(row: Row): string;
  /** The members of a row as they are served, among them all of its core. */
  factsOf(row: Row): Readonly<Record<string, unknown>>;
  /** What is wrong with the collection as a whole. */
  problemsOf?(roster: CaptureRoster<Row>): readonly Problem[];
  /** Writes every body of the collection. Returns the file that the hash of a subject can be recomputed from. */
  write(
    press: Press,
    roster: CaptureRoster<Row>,
    isStored: IsStored,
  ): (subject: Subject<Row>) => string | null;
}

/** Reads and writes a collection of captured subjects. */
export function capturePart<Row extends CaptureRow>(of: CaptureKind<Row>): ReadPart {
  return (collections, asOf) => {
    const { kind, schema, idOf, factsOf } = of;
    const { rows, problems } = readCollection({ files: collections[kind], asOf }, schema);
    const roster = captureRoster(rows, { kind, idOf, factsOf });
    return {
      problems: [...problems, ...roster.problems, ...(of.problemsOf?.(roster) ?? [])],
      rows: rows.length,
      write(press, isStored) {
        const fileOf = of.write(press, roster, isStored);
        putHashes(press, capturedHashes(roster, { signal: kind, idOf, fileOf }));
      },
    };
  };
}

/** Subjects as a roster shows them, without those that it does not. */
export function shownSubjects<Row extends CaptureRow>(
  subjects: readonly Subject<Row>[],
  show: (subject: Subject<Row>) => object | null,
): ShownRow[] {
  return subjects.flatMap((subject) => {
    const shown = show(subject);
    return shown === null ? [] : [{ shown, from: subject.newest }];
  });
}

/** Reads presence off successive captures: who was there on which day, and who was not. */
function captureRoster<Row extends CaptureRow>(
  stored: readonly StoredRow<Row>[],
  identity: Omit<Identity<Row>, 'keyOf'> & { idOf(row: Row): string },
): CaptureRoster<Row> {
  const keyOf = (row: Row): string => `${identity.idOf(row)}\n${row.capture_date}`;
  const settled = settleRows(stored, { ...identity, keyOf });
  const days = [...new Set(settled.kept.map(({ row }) => row.capture_date))].sort();
  const byId = new Map<string, HashedRow<Row>[]>();
  for (const item of settled.kept) {
    const id = identity.idOf(item.row);
    const own = byId.get(id);
    if (own === undefined) byId.set(id, [item]);
    else own.push(item);
  }
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
export function presenceOf({ first_seen, last_seen, absences }: Subject<CaptureRow>) {
  const [end_at = null] = absences;
  const state = end_at === null ? ('operating' as const) : ('absent' as const);
  return { state, first_seen, last_seen, end_at };
}

/** Subjects that the newest capture did not find; one that comes back is not among them. */
export function absentSubjects<Row extends CaptureRow>({ subjects }: CaptureRoster<Row>) {
  return subjects.filter(({ absences }) => absences.length > 0);
}

/** The newest row of each subject is served; those of earlier days and revised ones are not. */
function capturedHashes<Row extends CaptureRow>(
  roster: CaptureRoster<Row>,
  of: {
    readonly signal: string;
    readonly idOf: (row: Row) => string;
    readonly fileOf: (subject: Subject<Row>) => string | null;
  },
): HashPlaces {
  const current = roster.subjects.map((subject) => {
    return { from: subject.newest as HashedRow, entity: subject.id, file: of.fileOf(subject) };
  });
  const earlier = roster.subjects.flatMap(({ id, rows, newest }) =>
    rows.filter((row) => row !== newest).map((from) => ({ from: from as HashedRow, entity: id })),
  );
  const revised = roster.revised.map((from) => {
    return { from: from as HashedRow, entity: of.idOf(from.row) };
  });
  return { signal: of.signal, current, superseded: [...earlier, ...revised] };
}

/** How many subjects and days there are, for a preview. */
export function captureCounts({ subjects, days }: CaptureRoster<CaptureRow>) {
  return {
    capture_days: days.length,
    oldest_capture_date: days[0] ?? null,
    newest_capture_date: days.at(-1) ?? null,
    with_hash: subjects.filter(({ newest }) => newest.record_hash !== null).length,
  };
}
