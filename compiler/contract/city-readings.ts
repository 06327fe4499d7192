import { cityDecisions } from './decision-points.ts';
import { freshnessRule } from './freshness.ts';
import { joinedProvenance } from './joined-provenance.ts';
import { type LegReading, nameAmong } from './leg.ts';
import { isLit } from './lit-legs.ts';
import type { CITY_ADD_ONS } from './products.ts';
import type { SignalRecord } from './record.ts';
import { CITY_NOTES, GRADE, LIT_NOTE, NATURE, READINGS_LINEAGE, SCOPE } from './words.ts';

/** A record body beside what joined bodies need of it. */
export interface CityReading {
  readonly record: SignalRecord;
  readonly leg: LegReading;
}

/** A city with its readings, among all cities that have some. */
interface City {
  readonly loc: string;
  readonly readings: readonly CityReading[];
  readonly locs: readonly string[];
}

/** `/gauge/air` or `/gauge/precip` of one city, from whole records; needs at least one. */
export function cityBody(addon: keyof typeof CITY_ADD_ONS, { loc, readings, locs }: City) {
  const legs = readings.map((reading) => reading.leg);
  return {
    nature: NATURE,
    addon,
    location: loc,
    name: nameAmong(legs, loc),
    line: 'environment',
    readings: readings.map(({ record, leg }) => ({
      ...record,
      lit: isLit(leg.signal_id, leg.band),
    })),
    note: `${CITY_NOTES[addon]}; ${LIT_NOTE}`,
    provenance: joinedProvenance(legs, {
      lineage_note: READINGS_LINEAGE,
      freshness_rule: freshnessRule(legs.length, 'readings'),
    }),
    decision_points: cityDecisions(addon, loc, locs),
    grade: legs[0]?.grade ?? GRADE,
    scope: legs[0]?.scope ?? SCOPE,
  };
}
