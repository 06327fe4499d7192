// Fixed words of bodies that repeat others: a verifier has to know them to make such a body again. A release names their
// digest beside that of the tables, so words that are changed are no fault of an older release.

export const NATURE =
  'descriptive record of official readings: no forecast, no judgement, no recommendation, no advice';
/** The same in a short form. */
export const NATURE_SHORT = 'descriptive only';
export const GRADE = 'screening-level, not decision-grade';
export const SCOPE =
  'a stored snapshot of what the source published; it is not fetched when it is asked for';
export const SERVED_FROM =
  'stored snapshot, compiled and signed offline; no upstream call at request time';
export const VALIDATION = 'not backtested';
export const UNCERTAINTY = 'not published by the source';

/** How to read the legs; `lit` is derived from their classes. */
export const LEGS_NOTE =
  'legs in causal order; lit is true where the class of a leg is not the mildest of its list, and null without a list or ' +
  'a reading; legs_lit counts the legs that are lit: a count, never a score';
export const LAST_FACT_NOTE =
  'the newest official reading of a leg, later than every reading of a degraded leg';

const AGE_LINEAGE =
  'each judged by its own cadence; age and basis here are those of the oldest, freshness_leg names the worst';
export const LEGS_LINEAGE = `as fresh as the worst leg, ${AGE_LINEAGE}`;
export const READINGS_LINEAGE = `as fresh as the worst reading, ${AGE_LINEAGE}`;

export const CITY_NOTES = {
  air: 'US AQI and its category, and fine particles, each with its own time',
  precip: 'rainfall of the last complete day and the 30-day wet-dry context',
} as const;

export const LIT_NOTE =
  'lit is true where the class of a reading is not the mildest of its list, and null without a list or a value';

export const CENSUS_LINEAGE =
  'as fresh as the oldest row; the lineage names the oldest and the newest row, and each row its own source';
export const CENSUS_VERIFIABLE = {
  mode: 'offline',
  note: 'each row carries the whole hash core of its reading, so its record hash recomputes from the row alone',
} as const;

export const ROSTER_LINEAGE =
  'as fresh as its oldest row; one link for each source, with the oldest row of it; each row has its own record hash';
/** How the hashes of a roster are checked. */
export const ROSTER_NOTES = {
  online:
    'look a hash up free at /gauge/verify?hash=<record_hash>; verifiable=1 adds the pre-image of each row as _hash_core',
  offline:
    'record_hash is sha256 over the canonical JSON of _hash_core; no call to the service is needed',
  none: 'these rows were imported without hashes; the citation signs them as they are',
} as const;
