import type { Signal } from './catalog/line.ts';
import type { LineagePart } from './joined-provenance.ts';
import { isLit } from './lit-legs.ts';
import { nameOf, valueText } from './reading-text.ts';
import type { Lifecycle, SignalRecord } from './record.ts';

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
