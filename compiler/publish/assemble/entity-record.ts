import { HASH_CORE_VERSION } from '../../format/record-hash.ts';
import { ADD_ONS } from '../../products/add-ons.ts';
import { recordDecisions } from '../../products/shapes/bundle.ts';
import { freshnessBasis } from '../../products/shapes/freshness.ts';
import type { Signal, SignalEntry } from '../../products/shapes/line.ts';
import type { PercentileTable } from '../../products/shapes/product.ts';
import { named, nameOf, positionOf, valueText } from '../../products/shapes/reading-text.ts';
import type { Provenance, SignalRecord, StandardRuler } from '../../products/shapes/record.ts';
import { pastMembers } from '../../products/shapes/record-views.ts';
import { atRequest } from '../../products/shapes/request-time.ts';
import { NATURE, SERVED_FROM, UNCERTAINTY, VALIDATION } from '../../products/shapes/words.ts';
import {
  bandOf,
  dataAgeHours,
  disclosures,
  isOfficial,
  measurers,
  snapshotDate,
  sourceAgreement,
  standardRuler,
} from '../../readings/figures.ts';
import type { Grown } from '../../readings/grow-past.ts';
import type { Reading } from '../../readings/reading.ts';
import {
  percentileTable,
  type Season,
  seasonOf,
  statRuler,
  strataOf,
} from '../../readings/season.ts';
import { type HashOf, standingReading } from '../../readings/timeline.ts';

const REVISION_NOTE = 'replaces an earlier value of the same observation';

interface HashedReading {
  readonly reading: Reading;
  readonly record_hash: string;
}

/** The latest reading of an entity with everything derived from its past. */
export interface EntityFacts {
  readonly entry: SignalEntry;
  readonly signal: Signal;
  /** With the name that people read, where the catalogue or the source has one. */
  readonly latest: Reading;
  /** The newest readings, oldest first. */
  readonly recent: readonly HashedReading[];
  /** When the source was last looked at for this entity, also without anything new. */
  readonly looked_at: string;
  readonly ruler: StandardRuler | null;
  readonly season: Season | null;
  readonly strata: ReturnType<typeof strataOf>;
  readonly percentile_table: PercentileTable | null;
  readonly record_hash: string;
  readonly last_fact: ReturnType<typeof lastFact>;
  /** That of the record. */
  readonly provenance: SignalRecord['provenance'];
}

/** Derives what records and add-ons of one entity share. `hashOf` seals the core of a reading. */
export function entityFacts(
  entry: SignalEntry,
  { recent: instants, past, fact }: Pick<Grown, 'recent' | 'past' | 'fact'>,
  hashOf: HashOf,
): EntityFacts {
  const { signal } = entry;
  const recent = instants.map((instant) => {
    return { reading: standingReading(instant), record_hash: instant.record_hash };
  });
  const newest = recent.at(-1);
  if (newest === undefined) throw new RangeError(`Cannot derive "${past.entity}": no readings`);
  const { record_hash } = newest;
  const latest = named(entry, newest.reading);
  const season = seasonOf(signal, latest, [
    ...(past.season?.readings ?? []),
    ...recent.map(({ reading }) => reading),
  ]);
  const provenance = provenanceOf(signal, latest, lineageOf(entry, latest, record_hash));
  const older = fact && { reading: fact, record_hash: hashOf(fact) };
  const isRevised = instants.at(-1)?.others.length !== 0;
  return {
    entry,
    signal,
    latest,
    recent,
    looked_at: past.looked_at,
    ruler: standardRuler(signal, latest),
    season,
    strata: strataOf(signal, latest, season),
    percentile_table: percentileTable(season),
    record_hash,
    last_fact: lastFact(signal, recent, older),
    provenance: isRevised ? { ...provenance, revision_note: REVISION_NOTE } : provenance,
  };
}

/** The newest reading with a value, where the latest one was published without; null otherwise. */
function lastFact(signal: Signal, recent: readonly HashedReading[], older: HashedReading | null) {
  const [metric] = signal.metrics;
  const hasValue = ({ reading }: HashedReading): boolean => reading.current[metric] !== null;
  const found = recent.findLast(hasValue) ?? older;
  if (found === null || found === recent.at(-1)) return null;
  const { reading, record_hash } = found;
  return {
    signal_id: signal.id,
    entity: reading.entity,
    snapshot_date: snapshotDate(reading),
    observed_at: reading.observed_at,
    current: orderedCurrent(signal, reading),
    band: bandOf(signal, reading),
    record_hash,
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

/**
 * The signal record as it is stored: without its citation, and without what depends on the moment of the request. Members
 * are in the order of the specification; `update_status` goes in before `official_cadence`.
 */
export function recordBody(facts: EntityFacts): SignalRecord {
  const { signal, latest, ruler, season, record_hash } = facts;
  const recent = facts.recent.map(({ reading }) => reading);
  const summary_en = summaryEn(signal, latest, { ruler, season });
  const record: SignalRecord = {
    nature: NATURE,
    tier: 'full',
    signal_id: signal.id,
    entity: latest.entity,
    entity_name: latest.entity_name ?? null,
    ...positionOf(facts.entry, latest.entity),
    snapshot_date: snapshotDate(latest),
    observed_at: latest.observed_at,
    official_cadence: signal.cadence,
    last_looked_at: facts.looked_at,
    data_age_hours: dataAgeHours(latest),
    current: orderedCurrent(signal, latest),
    ...pastMembers(signal, recent),
    sources: latest.sources,
    source_agreement_cv: sourceAgreement(latest.sources),
    standard_ruler: ruler,
    stat_ruler: statRuler(season),
    strata: facts.strata,
    decision_points: null,
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
  const dims = ADD_ONS.filter(({ ofRecord }) => ofRecord?.(record, facts));
  const names = dims.map(({ dim }) => dim);
  return { ...record, decision_points: recordDecisions(facts.entry, latest.entity, names) };
}

function percentText(season: Season): string {
  return `${Math.round(season.percentile * 100)}`;
}

/** One descriptive English line; undefined when there is neither ruler nor statistics. */
export function summaryEn(
  signal: Signal,
  reading: Reading,
  { ruler, season }: { ruler: StandardRuler | null; season: Season | null },
): string | undefined {
  if (ruler === null && season === null) return undefined;
  const official = isOfficial(signal, reading);
  const parts = [
    `${nameOf(reading)}, ${signal.measures}: ${valueText(signal, reading)} at ${reading.observed_at}`,
    ...(ruler === null
      ? []
      : [`${official ? 'official class' : 'class'} "${ruler.official_category}"`]),
    ...(season === null
      ? []
      : [`percentile ${percentText(season)} of ${season.n} same-season readings`]),
  ];
  return `${parts.join('; ')}.`;
}

/** The same line in Traditional Chinese, null when there is nothing to place the reading on. */
export function summaryZh(
  signal: Signal,
  reading: Reading,
  { ruler, season }: { ruler: StandardRuler | null; season: Season | null },
): string | null {
  if (ruler === null && season === null) return null;
  const official = isOfficial(signal, reading);
  const parts = [
    `${nameOf(reading)}（${signal.id}）：${reading.observed_at} 觀測值 ${valueText(signal, reading)}`,
    ...(ruler === null ? [] : [`${official ? '官方分級' : '分級'}「${ruler.official_category}」`]),
    ...(season === null ? [] : [`位於 ${season.n} 筆同季觀測的第 ${percentText(season)} 百分位`]),
  ];
  return `${parts.join('；')}。`;
}

/** One reading as a link of the lineage behind a body. */
export function lineageOf({ signal, line }: SignalEntry, reading: Reading, record_hash: string) {
  return {
    signal: signal.id,
    independent_dimension: line.industry,
    traceable_to: measurers(reading) || null,
    uncertainty: reading.uncertainty ?? UNCERTAINTY,
    observed_at: reading.observed_at,
    record_hash,
    source_ref: reading.source_ref,
    ...(reading.evidence === undefined ? {} : { evidence: reading.evidence }),
  };
}
type Lineage = ReturnType<typeof lineageOf>;

/** Provenance of a record. Member order is part of the format. */
function provenanceOf(signal: Signal, reading: Reading, lineage: Lineage): Provenance {
  return {
    served_from: SERVED_FROM,
    data_as_of: reading.observed_at,
    oldest_leg_as_of: reading.observed_at,
    data_age_hours: dataAgeHours(reading),
    at_request: atRequest('update_status'),
    freshness_basis: freshnessBasis(signal.cadence),
    data_lineage: [lineage],
    validation_status: reading.validation_status ?? VALIDATION,
    ...(reading.qualifiers === undefined ? {} : { qualifiers: reading.qualifiers }),
  };
}
