import { type Line, legEntity, legMember } from './catalog/line.ts';
import { bundleDecisions } from './decision-points.ts';
import { defined } from './defined.ts';
import { freshness, freshnessBasis, freshnessRule } from './freshness.ts';
import { joinedProvenance } from './joined-provenance.ts';
import { type LegReading, nameAmong } from './leg.ts';
import { legsLit } from './lit-legs.ts';
import type { Bundle } from './record.ts';
import {
  GRADE,
  LAST_FACT_NOTE,
  LEGS_LINEAGE,
  LEGS_NOTE,
  NATURE,
  NATURE_SHORT,
  SCOPE,
} from './words.ts';

/** A leg of a bundle with its place in the causal chain. */
export interface PlacedLeg {
  readonly leg: string;
  readonly position: number;
  readonly signal_id: string;
  readonly reading: LegReading | undefined;
}

/** A subject of a line with its placed legs, among all subjects that have a bundle. */
interface BundleSubject {
  readonly subject: string;
  /** What the catalogue calls it. */
  readonly name: string | null;
  readonly placed: readonly PlacedLeg[];
  readonly subjects: readonly string[];
}

/** Looks up the latest reading of a signal at an entity. */
type FindLeg = (signalId: string, entity: string) => LegReading | undefined;

/** The readings behind a bundle, in causal order. */
export function legReadings(placed: readonly PlacedLeg[]): LegReading[] {
  return placed.flatMap((item) => (item.reading === undefined ? [] : [item.reading]));
}

/** The bundle of one subject, or null when none of its legs has a reading. */
export function bundleBody(
  line: Line,
  { subject, name, placed, subjects }: BundleSubject,
): Bundle | null {
  const readings = legReadings(placed);
  if (readings.length === 0 || line.bundle === undefined) return null;
  const legs = legMembers(placed);
  return {
    nature: NATURE,
    ...(line.bundle.param === 'loc' ? { location: subject } : { entity: subject }),
    name: nameAmong(readings, subject) ?? name,
    legs,
    legs_lit: legsLit(legs, placed.length),
    cross_line_narrative: narrative(placed),
    data_timespans: placed.flatMap(timespan),
    note: LEGS_NOTE,
    provenance: joinedProvenance(readings, {
      lineage_note: LEGS_LINEAGE,
      freshness_rule: freshnessRule(readings.length, 'legs'),
    }),
    decision_points: bundleDecisions(line, subject, subjects),
    grade: readings[0]?.grade ?? GRADE,
    scope: readings[0]?.scope ?? SCOPE,
    record_hash_verifiable: {
      mode: 'offline',
      note: 'each leg carries the record hash of its reading; the citation signs the whole bundle',
    },
    ...availability(placed),
  };
}

/** What a bundle with a degraded leg says of it, and the last official reading beside it. */
function availability(
  placed: readonly PlacedLeg[],
): Pick<Bundle, 'leg_availability' | 'last_fact'> {
  const degraded = degradedLegs(placed);
  if (degraded.length === 0) return {};
  const available = legReadings(placed).length;
  const last_fact = lastFact(placed, new Set(degraded.map((leg) => leg.signal_id)));
  return {
    leg_availability: { expected: placed.length, available, degraded },
    ...(last_fact === null ? {} : { last_fact }),
  };
}

/** The newest reading of the other legs, when it is later than every reading of a degraded one. */
function lastFact(placed: readonly PlacedLeg[], degraded: ReadonlySet<string>) {
  const read = placed.filter((leg) => leg.reading !== undefined);
  const time = (leg: PlacedLeg): number =>
    Date.parse(defined(leg.reading, 'a reading').observed_at);
  const late = Math.max(...read.filter((leg) => degraded.has(leg.signal_id)).map(time));
  const sound = read.filter((leg) => !degraded.has(leg.signal_id) && time(leg) > late);
  const [newest] = sound.sort((a, b) => time(b) - time(a));
  if (newest?.reading === undefined) return null;
  const { leg, signal_id, reading } = newest;
  const { entity, current, band, observed_at, record_hash } = reading;
  return { leg, signal_id, entity, current, band, observed_at, record_hash, note: LAST_FACT_NOTE };
}

/** The short form: of each leg its place, identity, time, reading, class and hash; no member of request time. */
export function thinBundle(bundle: Bundle): Record<string, unknown> {
  const { location, entity, provenance, leg_availability } = bundle;
  const legs = Object.entries(bundle.legs).map(([name, leg]) => {
    return [name, thinLeg(leg)] as const;
  });
  return {
    nature: NATURE_SHORT,
    ...(location === undefined ? { entity } : { location }),
    observed_at: provenance.oldest_leg_as_of,
    legs: Object.fromEntries(legs),
    ...(leg_availability === undefined ? {} : { leg_availability }),
  };
}

function thinLeg(leg: Bundle['legs'][string]) {
  const { position, signal_id, entity, observed_at, current, band, lit, record_hash } = leg;
  return { position, signal_id, entity, observed_at, current, band, lit, record_hash };
}

/** The legs of a subject's bundle in causal order, each with its reading where one is stored. */
export function placeLegs(line: Line, subject: string, find: FindLeg): PlacedLeg[] {
  return defined(line.bundle, 'the bundle of the line').legs.flatMap((leg, index) =>
    leg.signals.map((signal_id) => ({
      leg: leg.name,
      position: index + 1,
      signal_id,
      reading: find(signal_id, legEntity(line, signal_id, subject)),
    })),
  );
}

/** Legs by name; the members up to the basis are in the order of the format, so that freshness goes in without parsing. */
function legMembers(placed: readonly PlacedLeg[]): Bundle['legs'] {
  const legs: Bundle['legs'] = {};
  for (const { leg, position, signal_id, reading } of placed) {
    if (reading === undefined) continue;
    const { entity, entity_name, current, band, lit, lifecycle } = reading;
    const { observed_at, data_age_hours, record_hash } = reading;
    legs[legMember(signal_id)] = {
      leg,
      position,
      observed_at,
      data_age_hours,
      freshness_basis: freshnessBasis(reading.cadence),
      signal_id,
      entity,
      entity_name,
      current,
      band,
      lit,
      record_hash,
      ...(lifecycle === null ? {} : { lifecycle }),
    };
  }
  return legs;
}

function timespan({ leg, signal_id, reading }: PlacedLeg): Bundle['data_timespans'] {
  if (reading === undefined) return [];
  const { observed_at, data_age_hours } = reading;
  return [{ leg, signal_id, observed_at, hours_since: data_age_hours }];
}

/** Legs without a reading, or already stale when any leg of the bundle was last looked at. */
function degradedLegs(placed: readonly PlacedLeg[]) {
  const looked = Math.max(
    ...legReadings(placed).map((reading) => Date.parse(reading.last_collected_at)),
  );
  return placed.flatMap(({ leg, signal_id, reading }) => {
    if (reading === undefined) return [{ leg, signal_id, reason: 'no reading is stored' }];
    if (freshness(reading.cadence, reading.observed_at, looked).freshness !== 'stale') return [];
    const reason = `stale beside the other legs: official reading of ${reading.observed_at}`;
    return [{ leg, signal_id, reason }];
  });
}

/** Describes each leg in causal order; nothing is concluded from them. */
function narrative(placed: readonly PlacedLeg[]): string {
  const sentences = placed.map(({ leg, position, reading, signal_id }) => {
    if (reading === undefined)
      return `Leg ${position}, ${leg}: no reading of ${signal_id} is stored.`;
    const band = reading.band === null ? '' : `, class "${reading.band}"`;
    return (
      `Leg ${position}, ${leg}: ${reading.measures} at ${reading.name} read ${reading.text}${band} ` +
      `at ${reading.observed_at}.`
    );
  });
  return sentences.join(' ');
}
