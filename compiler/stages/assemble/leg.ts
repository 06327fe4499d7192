import type { Signal } from '../../contract/lines.ts';
import type { Lifecycle, SignalRecord } from '../../contract/record.ts';
import { bandOf } from '../derive/ruler.ts';
import { orderedCurrent } from './entity-record.ts';
import type { Latest } from './latest.ts';
import { type LineagePart, lineagePart } from './provenance.ts';
import { nameOf, valueText } from './summary.ts';

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
  /** Value and unit as people write it. */
  readonly text: string;
  readonly name: string;
  /** When the source was last looked at, also without anything new. */
  readonly last_collected_at: string;
  readonly grade: string | null;
  readonly scope: string | null;
}

export function legReading(
  signal: Signal,
  { reading, record_hash, looked_at }: Latest,
): LegReading {
  return {
    signal_id: signal.id,
    measures: signal.measures,
    entity: reading.entity,
    entity_name: reading.entity_name ?? null,
    current: orderedCurrent(signal, reading),
    lifecycle: reading.lifecycle ?? null,
    record_hash,
    collected_at: reading.collected_at,
    band: bandOf(signal, reading),
    text: valueText(signal, reading),
    name: nameOf(reading),
    last_collected_at: looked_at,
    grade: reading.grade ?? null,
    scope: reading.scope ?? null,
    ...lineagePart(signal, reading, record_hash),
  };
}

/** The first name that a reading of the subject gives it, for not every source names what it measures; null for none. */
export function nameAmong(readings: readonly LegReading[], subject: string): string | null {
  const named = readings.find((one) => one.entity === subject && one.entity_name !== null);
  return named?.entity_name ?? null;
}
