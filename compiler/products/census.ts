import type { Statement } from '../format/citation.ts';
import { byTime, joinedProvenance, type LegReading } from './shapes/bundle.ts';
import type { Signal } from './shapes/line.ts';
import { type CensusEntry, paid, signalId } from './shapes/product.ts';
import { positionIn } from './shapes/reading-text.ts';
import {
  type CensusBody,
  type CensusRow,
  censusBodySchema,
  type SignalRecord,
} from './shapes/record.ts';
import { CENSUS_LINEAGE, CENSUS_VERIFIABLE, GRADE, NATURE, SCOPE } from './shapes/words.ts';

export const CENSUS = paid('/gauge/census', {
  tag: '[BATCH+PROOF]',
  params: { signal_id: signalId },
  file: 'census/{signal_id}.json',
  kind: 'censuses',
  term: { word: 'census', holdsLatest: true },
  summary: 'all entities of one signal at their latest reading',
  guide:
    'Answers what one signal reads at all its entities, to rank or map them. Not for one entity, which costs less, and without trends.',
  body: censusBodySchema,
  ofJoined: (signal_id, { entryById, census }) => {
    const signal = entryById.get(signal_id)?.signal;
    const entries = census(signal_id);
    if (signal === undefined || entries.length === 0) return null;
    return { body: censusBody(signal, entries), statement: censusStatement(signal, entries) };
  },
});

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
function censusStatement(signal: Signal, entries: readonly CensusEntry[]): Statement {
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
