import type { CITY_ADD_ONS } from '../products/cities.ts';
import {
  byTime,
  cityDecisions,
  joinedProvenance,
  type LegReading,
  type LineagePart,
  nameAmong,
} from './bundle.ts';
import type { Line, Signal } from './catalog/line.ts';
import type { Statement } from './citation.ts';
import { defined } from './defined.ts';
import { positionIn } from './reading-text.ts';
import type { Bundle, CensusBody, CensusRow, SignalRecord } from './record.ts';
import { nestedProvenance } from './request-time.ts';
import {
  CENSUS_LINEAGE,
  CENSUS_VERIFIABLE,
  CITY_NOTES,
  GRADE,
  LIT_NOTE,
  NATURE,
  READINGS_LINEAGE,
  SCOPE,
} from './words.ts';

/** What a census takes from one entity. */
export interface CensusEntry {
  readonly row: CensusRow;
  readonly part: LineagePart;
  readonly collected_at: string;
}

/** The entry of a record and of the leg that it makes. */
export function censusEntry(
  record: Pick<SignalRecord, Exclude<keyof CensusRow, 'band' | 'data_age_hours'>>,
  leg: LegReading,
): CensusEntry {
  const { signal_id, entity, entity_name, snapshot_date, observed_at, current } = record;
  const { lifecycle, sources, source_ref, source_tier, hash_core_version, record_hash } = record;
  const { cadence, data_age_hours, band, validation_status, lineage, collected_at } = leg;
  return {
    row: {
      signal_id,
      entity,
      entity_name,
      ...positionIn(record),
      snapshot_date,
      observed_at,
      data_age_hours,
      current,
      band,
      lifecycle,
      sources,
      source_ref,
      source_tier,
      hash_core_version,
      record_hash,
    },
    part: { cadence, observed_at, data_age_hours, validation_status, lineage },
    collected_at,
  };
}

/** All entities of one signal at their latest reading; needs at least one. */
export function censusBody(
  signal: Signal,
  entries: readonly CensusEntry[],
): Omit<CensusBody, '_citation'> {
  const parts = entries.map(({ part }) => part);
  const ends = [...parts].sort((a, b) => byTime(a.observed_at, b.observed_at));
  const named = new Set([ends[0], ends.at(-1)].filter((part) => part !== undefined));
  const [oldest] = ends;
  if (oldest === undefined) throw new RangeError(`Cannot count "${signal.id}": no entities`);
  return {
    nature: NATURE,
    signal_id: signal.id,
    measures: signal.measures,
    count: entries.length,
    observed_at: oldest.observed_at,
    rows: entries.map(({ row }) => row),
    record_hash_verifiable: CENSUS_VERIFIABLE,
    provenance: joinedProvenance([...named], { lineage_note: CENSUS_LINEAGE }),
    grade: GRADE,
    scope: SCOPE,
  };
}

/** What the citation of a census says; throws a RangeError for one of nothing. */
export function censusStatement(signal: Signal, entries: readonly CensusEntry[]): Statement {
  const observed = entries.map(({ row }) => row.observed_at).sort(byTime);
  const collected = entries.map((entry) => entry.collected_at).sort(byTime);
  const [oldest, newest, retrieved_at] = [observed[0], observed.at(-1), collected.at(-1)];
  if (oldest === undefined || newest === undefined || retrieved_at === undefined) {
    throw new RangeError(`Cannot state a census of ${signal.id}: no entities`);
  }
  return {
    claim: `census of ${signal.measures}`,
    fact: `${signal.id}: ${entries.length} entities, read from ${oldest} to ${newest}`,
    target: `/gauge/census?signal_id=${signal.id}`,
    observed_at: oldest,
    retrieved_at,
  };
}

/** A record body beside what joined bodies need of it. */
export interface CityReading {
  readonly record: SignalRecord;
  readonly leg: LegReading;
}

/** `/gauge/air` or `/gauge/precip` of one city, among all cities that have readings, from whole records; needs at least one. */
export function cityBody(
  addon: keyof typeof CITY_ADD_ONS,
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

/** The signals that tell of life cycles, in the order of the lines. */
export function lifecycleSignals({
  lines,
}: {
  readonly lines: readonly Line[];
}): readonly string[] {
  return lines.flatMap(({ id, states }) => (states === undefined ? [] : [`${id}.lifecycle`]));
}

/**
 * `/gauge/lifecycle` of one subject. An id that several lines follow is answered by the first line
 * of the table; the others are listed beside it.
 */
export function lifecycleBody(subjects: readonly LegReading[]) {
  const [first, ...others] = subjects;
  if (first === undefined) throw new RangeError('Cannot describe a life cycle: no reading');
  const also = others.map(({ signal_id, observed_at, lifecycle, record_hash }) => {
    return { signal_id, observed_at, lifecycle, record_hash };
  });
  return {
    nature: NATURE,
    dim: 'lifecycle',
    signal_id: first.signal_id,
    entity: first.entity,
    entity_name: first.entity_name,
    observed_at: first.observed_at,
    lifecycle: first.lifecycle,
    ...(others.length === 0 ? {} : { also }),
    record_hash: first.record_hash,
    provenance: joinedProvenance([first], { lineage_note: 'one official life-cycle record' }),
    grade: first.grade ?? GRADE,
    scope: first.scope ?? SCOPE,
  };
}
