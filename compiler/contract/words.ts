// Fixed words of bodies that joined readings and rosters share. A release names the digest of all that a verifier would
// have to know by heart (`tables()`), so other words make other tables.

export const NATURE =
  'descriptive record of official readings: no forecast, no judgement, no recommendation, no advice';
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
