import type { LegReading } from '../../contract/leg.ts';
import { nameOf, valueText } from '../../contract/reading-text.ts';
import { dataAgeHours } from '../derive/age.ts';
import { bandOf } from '../derive/ruler.ts';
import { type EntityFacts, orderedCurrent } from './entity-record.ts';
import { lineageOf } from './provenance.ts';

/** The latest reading of an entity as a leg: what its signed record says, before it is written. */
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
