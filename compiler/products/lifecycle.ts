import type { Statement } from '../format/citation.ts';
import { joinedProvenance, type LegReading, timesOf } from './shapes/bundle.ts';
import { lifecycleBodySchema } from './shapes/free-body-schemas.ts';
import type { Line } from './shapes/line.ts';
import { paid, text } from './shapes/product.ts';
import { GRADE, NATURE, SCOPE } from './shapes/words.ts';

export const LIFECYCLE = paid('/gauge/lifecycle', {
  params: { entity: text('life-cycle subject', 'kyoto-protocol') },
  file: 'lifecycle/{entity}.json',
  summary: 'official life-cycle state of one subject',
  guide:
    'Answers which official life-cycle state a subject is in and since when. Not why, and not for places that are measured.',
  kind: 'cities and lifecycles',
  body: lifecycleBodySchema,
  ofJoined: (entity, { lines, leg }) => {
    const subjects = lifecycleSignals({ lines }).flatMap((id) => leg(id, entity) ?? []);
    if (subjects.length === 0) return null;
    return { body: lifecycleBody(subjects), statement: lifecycleStatement(entity, subjects) };
  },
});

/** What the citation of a life-cycle answer says. */
function lifecycleStatement(entity: string, subjects: readonly LegReading[]): Statement {
  const states = subjects.map(
    (leg) => `${leg.signal_id} state ${leg.lifecycle?.state ?? 'unknown'}`,
  );
  return {
    claim: `life-cycle state of ${entity}`,
    fact: states.join('; '),
    target: `/gauge/lifecycle?entity=${encodeURIComponent(entity)}`,
    ...timesOf(subjects.slice(0, 1)),
  };
}

/** The signals that tell of life cycles, in the order of the lines. */
export function lifecycleSignals({
  lines,
}: {
  readonly lines: readonly Line[];
}): readonly string[] {
  return lines.flatMap(({ id, states }) => (states === undefined ? [] : [`${id}.lifecycle`]));
}

/**
 * `/gauge/lifecycle` of one subject. An id that several lines follow is answered by the first line
 * of the table; the others are listed beside it.
 */
function lifecycleBody(subjects: readonly LegReading[]) {
  const [first, ...others] = subjects;
  if (first === undefined) throw new RangeError('Cannot describe a life cycle: no reading');
  const also = others.map(({ signal_id, observed_at, lifecycle, record_hash }) => {
    return { signal_id, observed_at, lifecycle, record_hash };
  });
  return {
    nature: NATURE,
    dim: 'lifecycle',
    signal_id: first.signal_id,
    entity: first.entity,
    entity_name: first.entity_name,
    observed_at: first.observed_at,
    lifecycle: first.lifecycle,
    ...(others.length === 0 ? {} : { also }),
    record_hash: first.record_hash,
    provenance: joinedProvenance([first], { lineage_note: 'one official life-cycle record' }),
    grade: first.grade ?? GRADE,
    scope: first.scope ?? SCOPE,
  };
}
