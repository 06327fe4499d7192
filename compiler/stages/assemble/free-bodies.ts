import type { SignalRecord } from '../../contract/record.ts';
import { dataAgeHours, snapshotDate } from '../derive/age.ts';
import { type EntityFacts, orderedCurrent } from './entity-record.ts';
import { NATURE } from './provenance.ts';

/** Snapshots shown by `/gauge/history-preview`. */
const HISTORY_PREVIEW_ROWS = 7;

/** `/gauge/history-preview`: the last snapshots, oldest first, each with its own record hash. */
export function historyPreview({ signal, recent, latest }: EntityFacts) {
  const rows = recent.slice(-HISTORY_PREVIEW_ROWS).map(({ reading, record_hash }) => ({
    snapshot_date: snapshotDate(reading),
    observed_at: reading.observed_at,
    data_age_hours: dataAgeHours(reading),
    current: orderedCurrent(signal, reading),
    record_hash,
  }));
  const identity = { nature: NATURE, signal_id: signal.id, entity: latest.entity };
  return { ...identity, entity_name: latest.entity_name ?? null, count: rows.length, rows };
}

/** `/gauge/raw`: the bare record, without rulers, statistics and what is derived from them. */
export function rawBody(record: SignalRecord) {
  const { nature, signal_id, entity, entity_name, snapshot_date, observed_at } = record;
  const { official_cadence, last_looked_at, data_age_hours, current, previous, change } = record;
  const { trend_7d, sources, grade, scope } = record;
  const { hash_core_version, lifecycle, provenance, source_ref, source_tier, record_hash } = record;
  return {
    nature,
    signal_id,
    entity,
    entity_name,
    snapshot_date,
    observed_at,
    official_cadence,
    last_looked_at,
    data_age_hours,
    current,
    previous,
    change,
    trend_7d,
    sources,
    grade,
    scope,
    lifecycle,
    hash_core_version,
    provenance,
    source_ref,
    source_tier,
    record_hash,
  };
}

/** `/merkle/spec`: what the retired scheme was, and what took its place. */
export function merkleSpec() {
  return {
    nature: NATURE,
    retired: true as const,
    text:
      'Archival. An earlier scheme took one Merkle root over the record hashes of a day. It is retired with its proofs ' +
      'at /merkle/proof, which answer 410, and with the field ots_status, which is null. Do not implement against it.',
    instead: '/gauge/anchor',
    proof: '/proof/:record_hash',
  };
}
