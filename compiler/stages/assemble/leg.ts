import type { Lifecycle, SignalRecord } from '../../contract/record.ts';
import { dataAgeHours } from '../derive/age.ts';
import { bandOf } from '../derive/ruler.ts';
import { type EntityFacts, orderedCurrent } from './entity-record.ts';
import { type LineagePart, lineageOf } from './provenance.ts';
import { nameOf, valueText } from './summary.ts';

/** What a joined body takes from one entity's latest reading; travels between workers. */
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
  /** Value and unit as people write it. */
  readonly text: string;
  readonly name: string;
  /** When the source was last looked at, also without anything new. */
  readonly last_collected_at: string;
  readonly grade: string | null;
  readonly scope: string | null;
}

export function legReading(facts: EntityFacts): LegReading {
  const { signal, latest, record_hash } = facts;
  return {
    signal_id: signal.id,
    measures: signal.measures,
    entity: latest.entity,
    entity_name: latest.entity_name ?? null,
    current: orderedCurrent(signal, latest),
    lifecycle: latest.lifecycle ?? null,
    record_hash,
    collected_at: latest.collected_at,
    band: bandOf(signal, latest),
    text: valueText(signal, latest),
    name: nameOf(latest),
    last_collected_at: facts.looked_at,
    grade: latest.grade ?? null,
    scope: latest.scope ?? null,
    cadence: signal.cadence,
    observed_at: latest.observed_at,
    data_age_hours: dataAgeHours(latest),
    validation_status: latest.validation_status ?? null,
    lineage: lineageOf(signal, latest, record_hash),
  };
}

/** The first name that a reading of the subject gives it, for not every source names what it measures; null for none. */
export function nameAmong(readings: readonly LegReading[], subject: string): string | null {
  const named = readings.find((one) => one.entity === subject && one.entity_name !== null);
  return named?.entity_name ?? null;
}
