import type { CaptureRow } from '../../intake/row-origin.ts';
import type { CaptureRoster, Subject } from './capture-roster.ts';
import type { HashPlaces } from './put-roster.ts';
import type { HashedRow } from './settle-rows.ts';

/** Subjects that the newest capture did not find; one that comes back is not among them. */
export function absentSubjects<Row extends CaptureRow>({ subjects }: CaptureRoster<Row>) {
  return subjects.filter(({ absences }) => absences.length > 0);
}

/** The newest row of each subject is served; those of earlier days and revised ones are not. */
export function capturedHashes<Row extends CaptureRow>(
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
