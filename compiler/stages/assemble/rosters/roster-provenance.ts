import { joinedProvenance, type LineagePart } from '../../../contract/bundle.ts';
import type { Cadence } from '../../../contract/freshness.ts';
import type { Provenance } from '../../../contract/record.ts';
import { UNCERTAINTY } from '../../../contract/words.ts';
import { hoursBetween } from '../../derive/age.ts';
import type { CaptureRow } from '../../intake/roster-rows.ts';
import type { HashedRow } from './settle-rows.ts';

/** What the rows of a collection are about. */
export interface RosterSubject {
  /** Id of the collection. */
  readonly id: string;
  readonly dimension: string;
  readonly cadence: Cadence;
}

/** A row as a part of a body that joins rows. */
export function rosterPart(about: RosterSubject, { row, record_hash }: HashedRow): LineagePart {
  const { observed_at, collected_at, source_ref, uncertainty, validation_status } = row;
  const { evidence } = row;
  return {
    cadence: about.cadence,
    observed_at,
    data_age_hours: hoursBetween(observed_at, collected_at),
    validation_status: validation_status ?? null,
    lineage: {
      signal: about.id,
      independent_dimension: about.dimension,
      traceable_to: measurers(row),
      uncertainty: uncertainty ?? UNCERTAINTY,
      observed_at,
      record_hash,
      source_ref,
      ...(evidence === undefined ? {} : { evidence }),
    },
  };
}

/** Provenance of a body about one row. */
export function rowProvenance(about: RosterSubject, row: HashedRow): Provenance {
  return joinedProvenance([rosterPart(about, row)], {});
}

/** Who measured a row: its sources, or whom they relay. */
export function measurers({ sources }: Pick<HashedRow['row'], 'sources'>): string {
  return [...new Set(sources.map((source) => source.relay_of ?? source.name))].join(', ');
}

/** How a captured row came here, for people. */
export function noteOf(row: CaptureRow): string {
  return row.source_note ?? `captured on ${row.capture_date} by ${measurers(row)}`;
}
