import type { Line } from './catalog/line.ts';
import type { Statement } from './citation.ts';
import { cityDecisions } from './decision-points.ts';
import { defined } from './defined.ts';
import { freshnessRule } from './freshness.ts';
import { byTime, joinedProvenance } from './joined-provenance.ts';
import { type LegReading, nameAmong } from './leg.ts';
import type { CITY_ADD_ONS } from './products.ts';
import type { Bundle, SignalRecord } from './record.ts';
import { CITY_NOTES, GRADE, LIT_NOTE, NATURE, READINGS_LINEAGE, SCOPE } from './words.ts';

/** A record body beside what joined bodies need of it. */
export interface CityReading {
  readonly record: SignalRecord;
  readonly leg: LegReading;
}

/** A city with its readings, among all cities that have some. */
interface CityWithReadings {
  readonly loc: string;
  readonly readings: readonly CityReading[];
  readonly locs: readonly string[];
}

/** `/gauge/air` or `/gauge/precip` of one city, from whole records; needs at least one. */
export function cityBody(
  addon: keyof typeof CITY_ADD_ONS,
  { loc, readings, locs }: CityWithReadings,
) {
  const legs = readings.map((reading) => reading.leg);
  return {
    nature: NATURE,
    addon,
    location: loc,
    name: nameAmong(legs, loc),
    line: 'environment',
    readings: readings.map(({ record, leg }) => ({
      ...record,
      lit: leg.lit,
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

/** What the citation of a bundle says. */
export function bundleStatement(
  line: Line,
  bundle: Bundle,
  legs: readonly LegReading[],
): Statement {
  const { path, param } = defined(line.bundle, 'the bundle of the line');
  const subject = defined(bundle.location ?? bundle.entity, 'the subject of the bundle');
  return {
    claim: `${line.title}: joined readings of ${subject}, in causal order`,
    fact: bundle.cross_line_narrative,
    target: `${path}?${param}=${encodeURIComponent(subject)}`,
    ...timesOf(legs),
  };
}

/** What the citation of the short form says; the legs themselves say what they read. */
export function thinBundleStatement(
  line: Line,
  bundle: Bundle,
  legs: readonly LegReading[],
): Statement {
  const { target, ...statement } = bundleStatement(line, bundle, legs);
  const { count, of } = bundle.legs_lit;
  return {
    ...statement,
    claim: `joined readings of ${bundle.location ?? bundle.entity}`,
    fact: `${count} of ${of} legs lit`,
    target: `${target}&format=thin`,
  };
}

/** What the citation of a city add-on says. */
export function cityStatement(
  addon: 'air' | 'precip',
  loc: string,
  readings: readonly CityReading[],
): Statement {
  const legs = readings.map((reading) => reading.leg);
  const facts = legs.map((leg) => `${leg.signal_id} read ${leg.text} at ${leg.observed_at}`);
  return {
    claim: `${addon === 'air' ? 'air quality' : 'precipitation'} readings of ${loc}`,
    fact: facts.join('; '),
    target: `/gauge/${addon}?loc=${loc}`,
    ...timesOf(legs),
  };
}

/** What the citation of a life-cycle answer says. */
export function lifecycleStatement(entity: string, subjects: readonly LegReading[]): Statement {
  const states = subjects.map(
    (leg) => `${leg.signal_id} state ${leg.lifecycle?.state ?? 'unknown'}`,
  );
  return {
    claim: `life-cycle state of ${entity}`,
    fact: states.join('; '),
    target: `/gauge/lifecycle?entity=${encodeURIComponent(entity)}`,
    ...timesOf(subjects.slice(0, 1)),
  };
}

function timesOf(legs: readonly LegReading[]): Pick<Statement, 'observed_at' | 'retrieved_at'> {
  const observed = legs.map((leg) => leg.observed_at).sort(byTime);
  const collected = legs.map((leg) => leg.collected_at).sort(byTime);
  return {
    observed_at: defined(observed[0], 'the oldest leg'),
    retrieved_at: defined(collected.at(-1), 'the leg collected last'),
  };
}
