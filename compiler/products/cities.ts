import type { Statement } from '../format/citation.ts';
import {
  cityDecisions,
  joinedProvenance,
  type LegReading,
  nameAmong,
  timesOf,
} from './shapes/bundle.ts';
import { cityLoc, type JoinedMaker, paid } from './shapes/product.ts';
import { readingsBodySchema, type SignalRecord } from './shapes/record.ts';
import { nestedProvenance } from './shapes/request-time.ts';
import { CITY_NOTES, GRADE, LIT_NOTE, NATURE, READINGS_LINEAGE, SCOPE } from './shapes/words.ts';

type CityAddOn = 'air' | 'precip';

export const CITIES = [
  paid('/gauge/air', {
    params: { loc: cityLoc },
    ...city('air', ['airquality.aqi', 'airquality.pm25']),
    summary: 'air quality readings of a city',
    guide:
      'Answers how the air of a city is now: index and fine particles with class. Not rain or rivers, and only for the listed cities.',
    body: readingsBodySchema,
  }),
  paid('/gauge/precip', {
    params: { loc: cityLoc },
    ...city('precip', ['precipitation.daily', 'precipitation.wetness30d']),
    summary: 'daily rainfall and 30-day wet-dry context of a city',
    guide:
      'Answers how much it rained in a city on the last complete day and over 30 days. No forecast, and only for the listed cities.',
    body: readingsBodySchema,
  }),
] as const;

/** A record body beside what joined bodies need of it. */
interface CityReading {
  readonly record: SignalRecord;
  readonly leg: LegReading;
}

/** What follows from the name of a city add-on and the signals that it reads. */
function city(addon: CityAddOn, signals: readonly [string, ...string[]]) {
  const file = `${addon}/{loc}.json`;
  const ofJoined: JoinedMaker = (loc, { leg: legOf, record: recordOf, subjects }) => {
    const readings = signals.flatMap((signalId): CityReading[] => {
      const leg = legOf(signalId, loc);
      const record = leg === undefined ? null : recordOf(signalId, loc);
      return leg === undefined || record === null ? [] : [{ leg, record }];
    });
    if (readings.length === 0) return null;
    const body = cityBody(addon, { loc, readings, locs: subjects() });
    return { body, statement: cityStatement(addon, loc, readings) };
  };
  return { file, kind: 'cities and lifecycles', signals, ofJoined };
}

/** `/gauge/air` or `/gauge/precip` of one city, among all cities that have readings, from whole records; needs at least one. */
function cityBody(
  addon: CityAddOn,
  {
    loc,
    readings,
    locs,
  }: {
    readonly loc: string;
    readonly readings: readonly CityReading[];
    readonly locs: readonly string[];
  },
) {
  const legs = readings.map((reading) => reading.leg);
  return {
    nature: NATURE,
    addon,
    location: loc,
    name: nameAmong(legs, loc),
    line: 'environment',
    readings: readings.map(({ record, leg }) => {
      return { ...record, provenance: nestedProvenance(record.provenance), lit: leg.lit };
    }),
    note: `${CITY_NOTES[addon]}; ${LIT_NOTE}`,
    provenance: joinedProvenance(legs, { lineage_note: READINGS_LINEAGE, joins: 'readings' }),
    decision_points: cityDecisions(addon, loc, locs),
    grade: legs[0]?.grade ?? GRADE,
    scope: legs[0]?.scope ?? SCOPE,
  };
}

/** What the citation of a city add-on says. */
function cityStatement(addon: CityAddOn, loc: string, readings: readonly CityReading[]): Statement {
  const legs = readings.map((reading) => reading.leg);
  const facts = legs.map((leg) => `${leg.signal_id} read ${leg.text} at ${leg.observed_at}`);
  return {
    claim: `${addon === 'air' ? 'air quality' : 'precipitation'} readings of ${loc}`,
    fact: facts.join('; '),
    target: `/gauge/${addon}?loc=${loc}`,
    ...timesOf(legs),
  };
}
