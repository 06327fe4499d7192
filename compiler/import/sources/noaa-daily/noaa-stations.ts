import type { CITY_LOCS } from '../../../contract/entities.ts';

/** The station (GHCN-Daily id) that stands for each city: its airport or city station; the choice is ours. */
export const CITY_STATION: Readonly<Record<(typeof CITY_LOCS)[number], string>> = {
  'us-stlouis': 'USW00013994',
  'us-memphis': 'USW00013893',
  'us-losangeles': 'USW00093134',
  'us-fresno': 'USW00093193',
  'us-phoenix': 'USW00023183',
  'us-denver': 'USW00003017',
  'us-saltlakecity': 'USW00024127',
  'us-houston': 'USW00012960',
  'us-newyork': 'USW00094728',
  'us-chicago': 'USW00094846',
  'us-seattle': 'USW00024233',
  'us-portland': 'USW00024229',
};

/** City names of the cleaned table. */
export const CITY_NAMES: ReadonlyMap<string, string> = new Map([
  ['Seattle', 'us-seattle'],
  ['New York', 'us-newyork'],
]);
