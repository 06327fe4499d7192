import type { OtherKind } from '../../other-kinds.ts';

const INSTEAD = 'import the values (iv or dv, format=json)';
/** Tab-delimited answers: what they hold is no value at a time. */
export const OTHER_TEXTS: readonly OtherKind[] = [
  {
    begins: /^#[\s\S]*USGS Daily Statistics/,
    is: `percentiles of the days of a year over all years, which are no readings; a record takes its percentile from the stored history; ${INSTEAD}`,
  },
  {
    begins: /^#[\s\S]*annual peak streamflow/,
    is: `the largest flow of each year, by a local time without zone; beside daily values it would look like another value of its day; ${INSTEAD}`,
  },
  {
    begins: /^#[\s\S]*The Site File stores/,
    is: `names and positions of sites, without a value; ${INSTEAD}`,
  },
  { begins: /^#/, is: `a tab-delimited answer; ${INSTEAD}` },
];
/** Collections of the newer service that hold no values at a time, by a member of their features. */
export const OTHER_FEATURES: ReadonlyMap<string, string> = new Map([
  ['water_year', `the largest values of each year, mostly without a time of day; ${INSTEAD}`],
  ['monitoring_location_number', `names and positions of sites, without a value; ${INSTEAD}`],
  ['data', `statistics of the days of a year over all years, which are no readings; ${INSTEAD}`],
]);
