import type { StandardRuler } from '../../contract/record.ts';
import { disclosures, type EntityFacts, orderedCurrent } from './entity-record.ts';
import { NATURE } from './provenance.ts';

/** One add-on: the member that gives it its name, between identity and provenance. */
function addOn<Member extends object>(facts: EntityFacts, dim: string, member: Member) {
  const { signal, latest, record_hash } = facts;
  return {
    nature: NATURE,
    dim,
    signal_id: signal.id,
    entity: latest.entity,
    entity_name: latest.entity_name ?? null,
    observed_at: latest.observed_at,
    ...member,
    record_hash,
    provenance: facts.provenance,
    ...disclosures(latest),
  };
}

/** The figures of a ruler that compare across stations. */
export function calibratedMember(ruler: StandardRuler) {
  const { normalized_index, pct_to_action } = ruler;
  const comparable = 'the same index is the same official position at any station of this signal';
  return { normalized_index, pct_to_action, comparable };
}

/** The add-ons that a reading supports, by the path of the operation that sells them. */
export function addOns(facts: EntityFacts) {
  const { ruler, strata, history } = facts;
  return {
    '/gauge/ruler': ruler === null ? null : addOn(facts, 'ruler', { ruler }),
    '/gauge/calibrated':
      ruler === null ? null : addOn(facts, 'calibrated', { calibrated: calibratedMember(ruler) }),
    '/gauge/strata': strata === null ? null : addOn(facts, 'strata', { strata }),
    '/gauge/history': history === null ? null : addOn(facts, 'history', { history }),
  } as const;
}

/** The thin form of the calibrated add-on: identity, reading, class, figures, hash and times only. */
export function thinCalibrated(facts: EntityFacts, ruler: StandardRuler) {
  const member = {
    current: orderedCurrent(facts.signal, facts.latest),
    band: ruler.band,
    calibrated: calibratedMember(ruler),
  };
  const { entity_name, grade, scope, ...thin } = addOn(facts, 'calibrated', member);
  return thin;
}
