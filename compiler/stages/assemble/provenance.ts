import { freshnessBasis } from '../../contract/freshness.ts';
import { lineOf, type Signal } from '../../contract/lines.ts';
import type { Provenance } from '../../contract/record.ts';
import { dataAgeHours } from '../derive/age.ts';
import type { Reading } from '../intake/reading.ts';

export const NATURE =
  'descriptive record of official readings: no forecast, no judgement, no recommendation, no advice';
export const GRADE = 'screening-level, not decision-grade';
export const SCOPE =
  'a stored snapshot of what the source published; it is not fetched when it is asked for';
export const SERVED_FROM =
  'stored snapshot, compiled and signed offline; no upstream call at request time';
export const VALIDATION = 'not backtested';
export const UNCERTAINTY = 'not published by the source';

/** One reading as a link of the lineage behind a body. */
export function lineageOf(signal: Signal, reading: Reading, record_hash: string) {
  const measurers = reading.sources.map((source) => source.relay_of ?? source.name);
  return {
    signal: signal.id,
    independent_dimension: lineOf(signal.id)?.industry ?? signal.id,
    traceable_to: [...new Set(measurers)].join(', ') || null,
    uncertainty: reading.uncertainty ?? UNCERTAINTY,
    observed_at: reading.observed_at,
    record_hash,
    source_ref: reading.source_ref,
  };
}
export type Lineage = ReturnType<typeof lineageOf>;

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

/** What a joined body needs to know of each of its readings. */
export interface LineagePart {
  readonly cadence: Signal['cadence'];
  readonly observed_at: string;
  readonly data_age_hours: number;
  readonly validation_status: string | null;
  readonly lineage: Lineage;
}

/** One reading as a part of a body that joins readings. */
export function lineagePart(signal: Signal, reading: Reading, record_hash: string): LineagePart {
  return {
    cadence: signal.cadence,
    observed_at: reading.observed_at,
    data_age_hours: dataAgeHours(reading),
    validation_status: reading.validation_status ?? null,
    lineage: lineageOf(signal, reading, record_hash),
  };
}

const AGE_LINEAGE =
  'each judged by its own cadence; age and basis here are those of the oldest, freshness_leg names the worst';
export const LEGS_LINEAGE = `as fresh as the worst leg, ${AGE_LINEAGE}`;
export const READINGS_LINEAGE = `as fresh as the worst reading, ${AGE_LINEAGE}`;

/** What a body that joins readings says of how they are joined. */
interface Joined {
  readonly lineage_note: string;
  /** Of a body whose parts are judged each by its own cadence; without it the oldest part decides. */
  readonly freshness_rule?: string;
}

/** Provenance of a body that joins readings; its age is that of the oldest of them. */
export function joinedProvenance(
  parts: readonly LineagePart[],
  { lineage_note, freshness_rule }: Joined,
): Provenance {
  const byAge = [...parts].sort((a, b) => byTime(a.observed_at, b.observed_at));
  const oldest = byAge[0];
  const newest = byAge.at(-1);
  if (oldest === undefined || newest === undefined) {
    throw new RangeError('Cannot join provenance: no readings');
  }
  return {
    served_from: SERVED_FROM,
    data_as_of: newest.observed_at,
    oldest_leg_as_of: oldest.observed_at,
    data_age_hours: oldest.data_age_hours,
    ...(freshness_rule === undefined ? {} : { freshness_rule }),
    freshness_basis: freshnessBasis(oldest.cadence),
    data_lineage: parts.map((part) => part.lineage),
    validation_status: oldest.validation_status ?? VALIDATION,
    lineage_note,
  };
}

/** Order of two ISO-8601 UTC times; as text, half a second would sort before the whole one. */
export function byTime(a: string, b: string): number {
  return Date.parse(a) - Date.parse(b);
}
