import { isLit, type LegReading } from '../../contract/bundle.ts';
import type { SignalEntry } from '../../contract/catalog/line.ts';
import { named, nameOf, valueText } from '../../contract/reading-text.ts';
import { dataAgeHours } from '../derive/age.ts';
import { bandOf } from '../derive/ruler.ts';
import { orderedCurrent } from './entity-record.ts';
import type { Latest } from './latest.ts';
import { lineageOf } from './provenance.ts';

/** The latest reading of an entity as a leg: what its signed record says, before it is written. */
export function legReading(
  entry: SignalEntry,
  { reading: stored, record_hash, looked_at }: Latest,
): LegReading {
  const { signal } = entry;
  const reading = named(entry, stored);
  const band = bandOf(signal, reading);
  return {
    signal_id: signal.id,
    measures: signal.measures,
    entity: reading.entity,
    entity_name: reading.entity_name ?? null,
    current: orderedCurrent(signal, reading),
    lifecycle: reading.lifecycle ?? null,
    record_hash,
    collected_at: reading.collected_at,
    band,
    lit: isLit(signal, band),
    text: valueText(signal, reading),
    name: nameOf(reading),
    last_collected_at: looked_at,
    grade: reading.grade ?? null,
    scope: reading.scope ?? null,
    cadence: signal.cadence,
    observed_at: reading.observed_at,
    data_age_hours: dataAgeHours(reading),
    validation_status: reading.validation_status ?? null,
    lineage: lineageOf(entry, reading, record_hash),
  };
}
