import type { Statement } from '../../format/citation.ts';
import { defined } from '../../format/errors.ts';
import { type Cadence, freshness, freshnessBasis, freshnessRule } from './freshness.ts';
import { type Line, legEntity, legMember, type Signal, type SignalEntry } from './line.ts';
import { nameOf, valueText } from './reading-text.ts';
import type { Bundle, DecisionPoints, Lifecycle, Provenance, SignalRecord } from './record.ts';
import { atRequest } from './request-time.ts';
import {
  GRADE,
  LAST_FACT_NOTE,
  LEGS_LINEAGE,
  LEGS_NOTE,
  NATURE,
  NATURE_SHORT,
  SCOPE,
  SERVED_FROM,
  VALIDATION,
} from './words.ts';

/** A leg of a bundle with its place in the causal chain. */
export interface PlacedLeg {
  readonly leg: string;
  readonly position: number;
  readonly signal_id: string;
  readonly reading: LegReading | undefined;
}

/** The readings behind a bundle, in causal order. */
export function legReadings(placed: readonly PlacedLeg[]): LegReading[] {
  return placed.flatMap((item) => (item.reading === undefined ? [] : [item.reading]));
}

/** The bundle of one subject, among all that have one, or null when none of its legs has a reading; `name` is that of the catalogue. */
export function bundleBody(
  line: Line,
  {
    subject,
    name,
    placed,
    subjects,
  }: {
    readonly subject: string;
    readonly name: string | null;
    readonly placed: readonly PlacedLeg[];
    readonly subjects: readonly string[];
  },
): Bundle | null {
  const readings = legReadings(placed);
  if (readings.length === 0 || line.bundle === undefined) return null;
  const legs = legMembers(placed);
  const { path, param } = line.bundle;
  const call = (other: string): string => `GET ${path}?${param}=${encodeURIComponent(other)}`;
  return {
    nature: NATURE,
    ...(line.bundle.param === 'loc' ? { location: subject } : { entity: subject }),
    name: nameAmong(readings, subject) ?? name,
    legs,
    legs_lit: legsLit(legs, placed.length),
    cross_line_narrative: narrative(placed),
    data_timespans: placed.flatMap(({ leg, signal_id, reading }) => {
      if (reading === undefined) return [];
      const { observed_at, data_age_hours: hours_since } = reading;
      return [{ leg, signal_id, observed_at, hours_since }];
    }),
    note: LEGS_NOTE,
    provenance: joinedProvenance(readings, { lineage_note: LEGS_LINEAGE, joins: 'legs' }),
    decision_points: decisions([
      point(param, subject, { values: others(subjects, subject), how: call }),
      point('format', 'json', {
        values: ['thin'],
        how: (form) => `${call(subject)}&format=${form}`,
      }),
    ]),
    grade: readings[0]?.grade ?? GRADE,
    scope: readings[0]?.scope ?? SCOPE,
    record_hash_verifiable: {
      mode: 'offline',
      note: 'each leg carries the record hash of its reading; the citation signs the whole bundle',
    },
    ...availability(placed),
  };
}

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
    const { position, signal_id, observed_at, current, band, lit, record_hash } = leg;
    const own = { position, signal_id, entity: leg.entity, observed_at, current };
    return [name, { ...own, band, lit, record_hash }] as const;
  });
  return {
    nature: NATURE_SHORT,
    ...(location === undefined ? { entity } : { location }),
    observed_at: provenance.oldest_leg_as_of,
    legs: Object.fromEntries(legs),
    ...(leg_availability === undefined ? {} : { leg_availability }),
  };
}

/** The legs of a subject's bundle in causal order, each with its reading where one is stored. */
export function placeLegs(
  line: Line,
  subject: string,
  find: (signalId: string, entity: string) => LegReading | undefined,
): PlacedLeg[] {
  return defined(line.bundle, 'the bundle of the line').legs.flatMap((leg, index) =>
    leg.signals.map((signal_id) => ({
      leg: leg.name,
      position: index + 1,
      signal_id,
      reading: find(signal_id, legEntity(line, signal_id, subject)),
    })),
  );
}

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

/** What a joined body needs to know of each of its readings. */
export interface LineagePart {
  readonly cadence: Cadence;
  readonly observed_at: string;
  readonly data_age_hours: number;
  readonly validation_status: string | null;
  readonly lineage: Provenance['data_lineage'][number];
}

/**
 * Provenance of a body that joins readings; its age is that of the oldest of them. The worst of what it `joins` decides how
 * fresh it is, without that the oldest part.
 */
export function joinedProvenance(
  parts: readonly LineagePart[],
  { lineage_note, joins }: { lineage_note?: string; joins?: 'legs' | 'readings' },
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
    ...(joins === undefined ? {} : { freshness_rule: freshnessRule(parts.length, joins) }),
    at_request: atRequest(
      ...(joins === undefined ? [] : (['freshness_leg'] as const)),
      ...(joins === 'legs' ? (['legs[].freshness'] as const) : []),
    ),
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

/** What a joined body takes from one entity's latest reading. */
export interface LegReading extends LineagePart {
  readonly signal_id: string;
  readonly measures: string;
  readonly entity: string;
  readonly entity_name: string | null;
  readonly current: SignalRecord['current'];
  readonly lifecycle: Lifecycle | null;
  readonly record_hash: string;
  readonly collected_at: string;
  /** Official class, else the publisher's band, else null. */
  readonly band: string | null;
  /** Whether that class is not the mildest; null where nobody can tell. */
  readonly lit: boolean | null;
  /** Value and unit as people write it. */
  readonly text: string;
  readonly name: string;
  /** When the source was last looked at, also without anything new. */
  readonly last_collected_at: string;
  readonly grade: string | null;
  readonly scope: string | null;
}

/** The leg that a signed record of a signal makes; throws a RangeError for an unknown signal, or without a citation. */
export function legOf(record: SignalRecord, signal: Signal | undefined): LegReading {
  const { signal_id, entity, entity_name, provenance, _citation } = record;
  const [lineage] = provenance.data_lineage;
  if (signal === undefined || lineage === undefined || _citation === undefined) {
    throw new RangeError(`Cannot join "${signal_id}" of "${entity}": no signed record of a signal`);
  }
  const current = record.current ?? {};
  const band = bandOfRecord(record);
  return {
    signal_id,
    measures: signal.measures,
    entity,
    entity_name,
    current,
    lifecycle: record.lifecycle,
    record_hash: record.record_hash,
    collected_at: _citation.retrieved_at,
    band,
    lit: isLit(signal, band),
    text: valueText(signal, { current }),
    name: nameOf({ entity, entity_name }),
    last_collected_at: record.last_looked_at,
    grade: record.grade,
    scope: record.scope,
    cadence: record.official_cadence,
    observed_at: record.observed_at,
    data_age_hours: provenance.data_age_hours,
    validation_status: provenance.validation_status,
    lineage,
  };
}

/** The class of a record: its official one, else the one that its publisher gave, else null. */
export function bandOfRecord({
  standard_ruler,
  current,
}: Pick<SignalRecord, 'standard_ruler' | 'current'>): string | null {
  if (standard_ruler != null) return standard_ruler.band;
  return typeof current?.band === 'string' ? current.band : null;
}

/** The first name that a reading of the subject gives it, for not every source names what it measures; null for none. */
export function nameAmong(readings: readonly LegReading[], subject: string): string | null {
  const named = readings.find((one) => one.entity === subject && one.entity_name !== null);
  return named?.entity_name ?? null;
}

/**
 * Whether a leg is lit: its class is not the mildest of its list. Null where the signal is unknown or has no list, or
 * the reading no class of it.
 */
export function isLit(signal: Signal | undefined, band: string | null): boolean | null {
  if (signal === undefined || band === null) return null;
  // Which thresholds there are differs by gauge: whatever is below the lowest is the mildest class, and none of them is.
  if (signal.ownThresholds?.some((name) => band === `below-${name}`)) return false;
  if (signal.ownThresholds?.includes(band) === true) return true;
  const place = signal.bands?.indexOf(band) ?? -1;
  return place === -1 ? null : place > 0;
}

/**
 * How many legs of a bundle are lit, and which: a count, never a score. `legs` in causal order, `of` legs in the whole
 * chain, those without a reading included.
 */
export function legsLit(legs: Readonly<Record<string, { readonly lit?: unknown }>>, of: number) {
  const names = Object.keys(legs).filter((name) => legs[name]?.lit === true);
  return { count: names.length, of, names };
}

/** Most values listed under `swappable`; the rest is in the catalogue. */
export const SWAPPABLE_MAX = 8;
const NOTE =
  '`how` is the call with the first value of `swappable`; one swapped tag is one call, one without data is not charged; legal values are in the free /gauge/catalog';

/** Which neighbouring facts one more call answers, by swapping one tag of this record. */
export function recordDecisions(entry: SignalEntry, entity: string, dims: readonly string[]) {
  const { signal, line } = entry;
  const gauge = (signalId: string, subject: string): string =>
    `GET /gauge?signal_id=${signalId}&entity=${encodeURIComponent(subject)}`;
  // The gauges of its places where a signal has ids of its own.
  const map = line.entityOf?.[signal.id];
  const listed = signal.entities === 'open' ? [] : line.entities;
  const entities = map === undefined ? listed : Object.values(map);
  const siblings = line.signals
    .filter((other) => other.id !== signal.id && other.entities === signal.entities)
    .map((other) => other.id);
  return decisions([
    point('entity', entity, {
      values: others(entities, entity),
      how: (other) => gauge(signal.id, other),
    }),
    point('signal_id', signal.id, { values: siblings, how: (other) => gauge(other, entity) }),
    point('dim', 'gauge', {
      values: dims,
      how: (other) => `${gauge(signal.id, entity)}&dim=${other}`,
    }),
  ]);
}

/** The same for the readings of a city; `locs` are the cities that have some. */
export function cityDecisions(addon: 'air' | 'precip', loc: string, locs: readonly string[]) {
  const how = (other: string): string => `GET /gauge/${addon}?loc=${other}`;
  return decisions([point('loc', loc, { values: others(locs, loc), how })]);
}

function others(values: readonly string[], current: string): string[] {
  return [...new Set(values)].filter((other) => other !== current);
}

/** A tag that can be swapped, with the call that answers for one of the other values; null without any. */
function point(
  tag: string,
  current: string,
  { values, how }: { readonly values: readonly string[]; readonly how: (value: string) => string },
): DecisionPoints['points'][number] | null {
  const [first] = values;
  if (first === undefined) return null;
  return { tag, current, swappable: values.slice(0, SWAPPABLE_MAX), how: how(first) };
}

function decisions(points: readonly ReturnType<typeof point>[]): DecisionPoints {
  const useful = points.filter((one) => one !== null);
  return { count: useful.length, points: useful, note: NOTE };
}

/** When the oldest leg was observed, and when the last one was collected; needs a leg. */
export function timesOf(
  legs: readonly LegReading[],
): Pick<Statement, 'observed_at' | 'retrieved_at'> {
  const observed = legs.map((leg) => leg.observed_at).sort(byTime);
  const collected = legs.map((leg) => leg.collected_at).sort(byTime);
  return {
    observed_at: defined(observed[0], 'the oldest leg'),
    retrieved_at: defined(collected.at(-1), 'the leg collected last'),
  };
}
