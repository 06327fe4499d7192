import type { Signal } from '../../contract/lines.ts';
import type { SignalRecord, StandardRuler } from '../../contract/record.ts';
import { HASH_CORE_VERSION } from '../../contract/record-hash.ts';
import { dataAgeHours, snapshotDate } from '../derive/age.ts';
import { sourceAgreement } from '../derive/agreement.ts';
import { changeOf, previousOf } from '../derive/change.ts';
import { bandOf, standardRuler } from '../derive/ruler.ts';
import { historyOf, type Season, seasonOf, statRuler, strataOf } from '../derive/season.ts';
import type { Reading } from '../intake/reading.ts';
import type { Timeline } from '../intake/timeline.ts';
import { recordDecisions } from './decision-points.ts';
import { GRADE, type Lineage, lineageOf, NATURE, provenanceOf, SCOPE } from './provenance.ts';
import { summaryEn, summaryZh } from './summary.ts';

/** Points of `trend_7d`, the current reading included. */
const TREND_POINTS = 7;

/** The latest reading of an entity with everything derived from its timeline. */
export interface EntityFacts {
  readonly signal: Signal;
  readonly timeline: Timeline;
  readonly latest: Reading;
  readonly previous: Reading | undefined;
  readonly ruler: StandardRuler | null;
  readonly season: Season | null;
  readonly strata: ReturnType<typeof strataOf>;
  readonly history: ReturnType<typeof historyOf>;
  readonly record_hash: string;
  readonly last_fact: ReturnType<typeof lastFact>;
  /** Shared by the record and its add-ons. */
  readonly provenance: SignalRecord['provenance'];
}

/** Derives what records and add-ons of one entity share. `hashOf` seals the core of a reading. */
export function entityFacts(
  signal: Signal,
  timeline: Timeline,
  hashOf: (reading: Reading) => string,
): EntityFacts {
  const latest = timeline.readings.at(-1);
  if (latest === undefined) throw new RangeError(`Cannot derive "${timeline.entity}": no readings`);
  const season = seasonOf(signal, latest, timeline.readings);
  const record_hash = hashOf(latest);
  return {
    signal,
    timeline,
    latest,
    previous: timeline.readings.at(-2),
    ruler: standardRuler(signal, latest),
    season,
    strata: strataOf(signal, latest, season),
    history: historyOf(latest, season),
    record_hash,
    last_fact: lastFact(signal, timeline, hashOf),
    provenance: recordProvenance(signal, timeline, lineageOf(signal, latest, record_hash)),
  };
}

/** The newest reading with a value, where the latest one was published without; null otherwise. */
function lastFact(signal: Signal, { readings }: Timeline, hashOf: (reading: Reading) => string) {
  const [metric] = signal.metrics;
  const at = readings.findLastIndex((reading) => reading.current[metric] !== null);
  const reading = readings[at];
  if (reading === undefined || at === readings.length - 1) return null;
  return {
    signal_id: signal.id,
    entity: reading.entity,
    snapshot_date: snapshotDate(reading),
    observed_at: reading.observed_at,
    current: orderedCurrent(signal, reading),
    band: bandOf(signal, reading),
    record_hash: hashOf(reading),
    note: 'the newest official reading with a value; the latest one was published without',
  };
}

/** Main metric first, band next, then as stored: clients take the first key. */
export function orderedCurrent(signal: Signal, reading: Reading): Record<string, unknown> {
  const current: Record<string, unknown> = {};
  for (const name of [...signal.metrics, ...Object.keys(reading.current)]) {
    if (name in reading.current) current[name] = reading.current[name];
  }
  return current;
}

/** What of a reading is hashed, in the shape that hashCore reads. */
export function coreFields(signal: Signal, reading: Reading) {
  return {
    hash_core_version: HASH_CORE_VERSION,
    signal_id: signal.id,
    entity: reading.entity,
    snapshot_date: snapshotDate(reading),
    observed_at: reading.observed_at,
    current: reading.current,
    source_ref: reading.source_ref,
    source_tier: reading.source_tier,
    sources: reading.sources,
    lifecycle: reading.lifecycle ?? null,
  } as const;
}

/** Products of this reading that can be bought beside the record. */
function dimsOf(facts: EntityFacts): string[] {
  return [
    ...(facts.ruler === null ? [] : ['ruler', 'calibrated']),
    ...(facts.strata === null ? [] : ['strata']),
    ...(facts.history === null ? [] : ['history']),
  ];
}

/**
 * The signal record as it is stored: without its citation, and without what depends on the moment of the request. Members
 * are in the order of the specification; `update_status` goes in before `official_cadence`.
 */
export function recordBody(facts: EntityFacts): SignalRecord {
  const { signal, latest, previous, timeline, ruler, season, record_hash } = facts;
  const summary_en = summaryEn(signal, latest, { ruler, season });
  return {
    nature: NATURE,
    tier: 'full',
    signal_id: signal.id,
    entity: latest.entity,
    entity_name: latest.entity_name ?? null,
    snapshot_date: snapshotDate(latest),
    observed_at: latest.observed_at,
    official_cadence: signal.cadence,
    last_looked_at: timeline.lastCollectedAt,
    data_age_hours: dataAgeHours(latest),
    current: orderedCurrent(signal, latest),
    previous: previousOf(latest, previous),
    change: changeOf(signal, latest, previous),
    trend_7d: trendOf(facts),
    sources: latest.sources,
    source_agreement_cv: sourceAgreement(latest.sources),
    standard_ruler: ruler,
    stat_ruler: statRuler(season),
    strata: facts.strata,
    decision_points: recordDecisions(signal, latest.entity, dimsOf(facts)),
    ...(summary_en === undefined ? {} : { summary_en }),
    summary_zh: summaryZh(signal, latest, { ruler, season }),
    ...disclosures(latest),
    record_hash_verifiable: {
      mode: 'offline',
      note: 'sha256 over the canonical JSON (RFC 8785) of the hash core named by hash_core_version',
    },
    lifecycle: latest.lifecycle ?? null,
    hash_core_version: HASH_CORE_VERSION,
    ots_status: null,
    provenance: facts.provenance,
    source_ref: latest.source_ref,
    source_tier: latest.source_tier,
    record_hash,
    ...(facts.last_fact === null ? {} : { last_fact: facts.last_fact }),
    ...(latest.source_tier === null ? { unverified: true as const } : {}),
  };
}

/** Grade and scope as stored, or the service's own. */
export function disclosures(reading: Reading): { grade: string; scope: string } {
  return { grade: reading.grade ?? GRADE, scope: reading.scope ?? SCOPE };
}

/** Provenance of a record, with a note when its reading replaced an earlier one. */
function recordProvenance(signal: Signal, timeline: Timeline, lineage: Lineage) {
  const latest = timeline.readings.at(-1);
  if (latest === undefined) throw new RangeError(`Cannot trace "${timeline.entity}": no readings`);
  const provenance = provenanceOf(signal, latest, lineage);
  if (!timeline.revisedAt.has(latest.observed_at)) return provenance;
  return { ...provenance, revision_note: 'replaces an earlier value of the same observation' };
}

function trendOf({ signal, timeline }: EntityFacts): NonNullable<SignalRecord['trend_7d']> {
  const [metric] = signal.metrics;
  return timeline.readings.slice(-TREND_POINTS).map((reading) => ({
    observed_at: reading.observed_at,
    value: reading.current[metric] ?? null,
  }));
}
