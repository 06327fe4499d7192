import type { Catalog } from './catalog/catalog.ts';
import { joinedProvenance } from './joined-provenance.ts';
import type { LegReading } from './leg.ts';
import { GRADE, NATURE, SCOPE } from './words.ts';

/** The signals that tell of life cycles, in the order of the lines. */
export function lifecycleSignals({ lines }: Catalog): readonly string[] {
  return lines.flatMap(({ id, states }) => (states === undefined ? [] : [`${id}.lifecycle`]));
}

/**
 * `/gauge/lifecycle` of one subject. An id that several lines follow is answered by the first line
 * of the table; the others are listed beside it.
 */
export function lifecycleBody(subjects: readonly LegReading[]) {
  const [first, ...others] = subjects;
  if (first === undefined) throw new RangeError('Cannot describe a life cycle: no reading');
  return {
    nature: NATURE,
    dim: 'lifecycle',
    signal_id: first.signal_id,
    entity: first.entity,
    entity_name: first.entity_name,
    observed_at: first.observed_at,
    lifecycle: first.lifecycle,
    ...(others.length === 0 ? {} : { also: others.map(alsoFollowed) }),
    record_hash: first.record_hash,
    provenance: joinedProvenance([first], { lineage_note: 'one official life-cycle record' }),
    grade: first.grade ?? GRADE,
    scope: first.scope ?? SCOPE,
  };
}

function alsoFollowed({ signal_id, observed_at, lifecycle, record_hash }: LegReading) {
  return { signal_id, observed_at, lifecycle, record_hash };
}
