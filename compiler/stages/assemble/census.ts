import type { Signal } from '../../contract/lines.ts';
import type { CensusBody, CensusRow } from '../../contract/record.ts';
import { HASH_CORE_VERSION } from '../../contract/record-hash.ts';
import { dataAgeHours, snapshotDate } from '../derive/age.ts';
import { bandOf } from '../derive/ruler.ts';
import type { Press } from '../publish/press.ts';
import type { Statement } from '../seal/sealer.ts';
import { orderedCurrent } from './entity-record.ts';
import type { Latest } from './latest.ts';
import { byTime, GRADE, joinedProvenance, lineagePart, NATURE, SCOPE } from './provenance.ts';

/** Most entities of one census, about 14 MB; a signal with more has none, for a part of it would be no census. */
export const CENSUS_ROWS_MAX = 20_000;

const LINEAGE_NOTE =
  'as fresh as the oldest row; the lineage names the oldest and the newest row, and each row its own source';
const VERIFIABLE = {
  mode: 'offline',
  note: 'each row carries the whole hash core of its reading, so its record hash recomputes from the row alone',
} as const;

/** The latest reading of an entity as a row. */
export function censusRow(signal: Signal, { reading, record_hash }: Latest): CensusRow {
  return {
    signal_id: signal.id,
    entity: reading.entity,
    entity_name: reading.entity_name ?? null,
    snapshot_date: snapshotDate(reading),
    observed_at: reading.observed_at,
    data_age_hours: dataAgeHours(reading),
    current: orderedCurrent(signal, reading),
    band: bandOf(signal, reading),
    lifecycle: reading.lifecycle ?? null,
    sources: reading.sources,
    source_ref: reading.source_ref,
    source_tier: reading.source_tier,
    hash_core_version: HASH_CORE_VERSION,
    record_hash,
  };
}

/** Writes `/gauge/census` of a signal: all of its entities, at least one. */
export function writeCensus(signal: Signal, all: Iterable<Latest>, { put, sealer }: Press): void {
  const latest = [...all].sort((a, b) => (a.reading.entity < b.reading.entity ? -1 : 1));
  const body = sealer.seal(censusBody(signal, latest), censusStatement(signal, latest));
  put('/gauge/census', { signal_id: signal.id }, body);
}

/** All entities of one signal at their latest reading; needs at least one. */
export function censusBody(
  signal: Signal,
  latest: readonly Latest[],
): Omit<CensusBody, '_citation'> {
  const { oldest, newest } = endsOf(signal, latest);
  const parts = [...new Set([oldest, newest])].map(({ reading, record_hash }) =>
    lineagePart(signal, reading, record_hash),
  );
  return {
    nature: NATURE,
    signal_id: signal.id,
    measures: signal.measures,
    count: latest.length,
    observed_at: oldest.reading.observed_at,
    rows: latest.map((each) => censusRow(signal, each)),
    record_hash_verifiable: VERIFIABLE,
    provenance: joinedProvenance(parts, { lineage_note: LINEAGE_NOTE }),
    grade: GRADE,
    scope: SCOPE,
  };
}

/** The first of the oldest readings, and the last of the newest. */
function endsOf({ id }: Signal, latest: readonly Latest[]): { oldest: Latest; newest: Latest } {
  const [first] = latest;
  if (first === undefined) throw new RangeError(`Cannot count "${id}": no entities`);
  let [oldest, newest] = [first, first];
  for (const each of latest) {
    const { observed_at } = each.reading;
    if (byTime(observed_at, oldest.reading.observed_at) < 0) oldest = each;
    if (byTime(observed_at, newest.reading.observed_at) >= 0) newest = each;
  }
  return { oldest, newest };
}

function censusStatement(signal: Signal, latest: readonly Latest[]): Statement {
  const { oldest, newest } = endsOf(signal, latest);
  const { observed_at } = oldest.reading;
  const retrieved_at = latest
    .map(({ reading }) => reading.collected_at)
    .reduce((last, time) => (byTime(time, last) >= 0 ? time : last));
  return {
    claim: `census of ${signal.measures}`,
    fact: `${signal.id}: ${latest.length} entities, read from ${observed_at} to ${newest.reading.observed_at}`,
    target: `/gauge/census?signal_id=${signal.id}`,
    observed_at,
    retrieved_at,
  };
}
