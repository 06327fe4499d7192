import type { Signal, SignalEntry } from '../../contract/catalog/line.ts';
import { freshnessBasis } from '../../contract/freshness.ts';
import type { Provenance } from '../../contract/record.ts';
import { SERVED_FROM, UNCERTAINTY, VALIDATION } from '../../contract/words.ts';
import { dataAgeHours } from '../derive/age.ts';
import type { Reading } from '../intake/reading.ts';

/** One reading as a link of the lineage behind a body. */
export function lineageOf({ signal, line }: SignalEntry, reading: Reading, record_hash: string) {
  const measurers = reading.sources.map((source) => source.relay_of ?? source.name);
  return {
    signal: signal.id,
    independent_dimension: line.industry,
    traceable_to: [...new Set(measurers)].join(', ') || null,
    uncertainty: reading.uncertainty ?? UNCERTAINTY,
    observed_at: reading.observed_at,
    record_hash,
    source_ref: reading.source_ref,
    ...(reading.evidence === undefined ? {} : { evidence: reading.evidence }),
  };
}
type Lineage = ReturnType<typeof lineageOf>;

/** Provenance of a body that rests on one reading. Member order is part of the format. */
export function provenanceOf(signal: Signal, reading: Reading, lineage: Lineage): Provenance {
  return {
    served_from: SERVED_FROM,
    data_as_of: reading.observed_at,
    oldest_leg_as_of: reading.observed_at,
    data_age_hours: dataAgeHours(reading),
    freshness_basis: freshnessBasis(signal.cadence),
    data_lineage: [lineage],
    validation_status: reading.validation_status ?? VALIDATION,
    ...(reading.qualifiers === undefined ? {} : { qualifiers: reading.qualifiers }),
  };
}
