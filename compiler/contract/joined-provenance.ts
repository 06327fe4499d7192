import { type Cadence, freshnessBasis } from './freshness.ts';
import type { Provenance } from './record.ts';
import { SERVED_FROM, VALIDATION } from './words.ts';

/** What a joined body needs to know of each of its readings. */
export interface LineagePart {
  readonly cadence: Cadence;
  readonly observed_at: string;
  readonly data_age_hours: number;
  readonly validation_status: string | null;
  readonly lineage: Provenance['data_lineage'][number];
}

/** What a body that joins readings says of how they are joined. */
interface JoinRules {
  readonly lineage_note?: string;
  /** Of a body whose parts are judged each by its own cadence; without it the oldest part decides. */
  readonly freshness_rule?: string;
}

/** Provenance of a body that joins readings; its age is that of the oldest of them. */
export function joinedProvenance(
  parts: readonly LineagePart[],
  { lineage_note, freshness_rule }: JoinRules,
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
    ...(lineage_note === undefined ? {} : { lineage_note }),
  };
}

/** Order of two ISO-8601 UTC times; as text, half a second would sort before the whole one. */
export function byTime(a: string, b: string): number {
  return Date.parse(a) - Date.parse(b);
}
