import { type Cadence, freshnessBasis } from '../../../contract/freshness.ts';
import { byTime } from '../../../contract/joined-provenance.ts';
import type { Provenance } from '../../../contract/record.ts';
import { SERVED_FROM, UNCERTAINTY, VALIDATION } from '../../../contract/words.ts';
import { hoursBetween } from '../../derive/age.ts';
import type { HashedRow } from './settle-rows.ts';

/** What the rows of a collection are about. */
export interface RosterSubject {
  /** Id of the collection. */
  readonly signal: string;
  readonly dimension: string;
  readonly cadence: Cadence;
}

/** What a roster, however many rows it has, says of its provenance. */
export const ROSTER_LINEAGE =
  'as fresh as its oldest row; one link for each source, with the oldest row of it; each row has its own record hash';

/** The rows of a body, oldest first; rows of one time stay in their order. */
function byAge(rows: readonly HashedRow[]): HashedRow[] {
  return [...rows].sort((a, b) => byTime(a.row.observed_at, b.row.observed_at));
}

/** The oldest of some rows; throws a RangeError for none. */
export function oldestRow(rows: readonly HashedRow[]): HashedRow {
  const [oldest] = byAge(rows);
  if (oldest === undefined) throw new RangeError('Cannot join provenance: no rows');
  return oldest;
}

/** Provenance of one row, or of a whole roster, which may hold thousands. */
export function rosterProvenance(about: RosterSubject, rows: readonly HashedRow[]): Provenance {
  const { row: oldest } = oldestRow(rows);
  const newest = byAge(rows).at(-1)?.row ?? oldest;
  return {
    served_from: SERVED_FROM,
    data_as_of: newest.observed_at,
    oldest_leg_as_of: oldest.observed_at,
    data_age_hours: hoursBetween(oldest.observed_at, oldest.collected_at),
    freshness_basis: freshnessBasis(about.cadence),
    data_lineage: lineage(about, byAge(rows)),
    validation_status: oldest.validation_status ?? VALIDATION,
  };
}

function lineage(about: RosterSubject, oldestFirst: readonly HashedRow[]) {
  const links = new Map<string, Provenance['data_lineage'][number]>();
  for (const { row, record_hash } of oldestFirst) {
    const source = measurers(row);
    if (links.has(source)) continue;
    links.set(source, {
      signal: about.signal,
      independent_dimension: about.dimension,
      traceable_to: source,
      uncertainty: row.uncertainty ?? UNCERTAINTY,
      observed_at: row.observed_at,
      record_hash,
      source_ref: row.source_ref,
    });
  }
  return [...links.values()];
}

/** Who measured a row: its sources, or whom they relay. */
export function measurers({ sources }: Pick<HashedRow['row'], 'sources'>): string {
  return [...new Set(sources.map((source) => source.relay_of ?? source.name))].join(', ');
}
