import type { SignalRecord, StandardRuler } from '../../contract/record.ts';
import type { EntityFacts } from './entity-record.ts';

/** One add-on: the member that gives it its name, between identity and provenance of the record. */
export function addOn<Member extends object>(record: SignalRecord, dim: string, member: Member) {
  const { nature, signal_id, entity, entity_name, observed_at } = record;
  const { record_hash, provenance, grade, scope } = record;
  const identity = { nature, dim, signal_id, entity, entity_name, observed_at };
  return { ...identity, ...member, record_hash, provenance, grade, scope };
}

/** The figures of a ruler that compare across stations. */
function calibratedMember(ruler: StandardRuler) {
  const { normalized_index, pct_to_action } = ruler;
  const comparable = 'the same index is the same official position at any station of this signal';
  return { normalized_index, pct_to_action, comparable };
}

/** The add-ons that repeat a part of their record, by the path of the operation that sells them. */
export function recordAddOns(record: SignalRecord) {
  const { standard_ruler: ruler, strata } = record;
  return {
    ...(ruler === null
      ? {}
      : {
          '/gauge/ruler': addOn(record, 'ruler', { ruler }),
          '/gauge/calibrated': addOn(record, 'calibrated', { calibrated: calibratedMember(ruler) }),
        }),
    ...(strata === null ? {} : { '/gauge/strata': addOn(record, 'strata', { strata }) }),
  };
}

/** All add-ons that a reading supports, by path. */
export function addOns(record: SignalRecord, { history }: EntityFacts) {
  return {
    ...recordAddOns(record),
    ...(history === null ? {} : { '/gauge/history': addOn(record, 'history', { history }) }),
  };
}

/** The thin form of the calibrated add-on: identity, reading, class, figures, hash and times only. */
export function thinCalibrated(record: SignalRecord, ruler: StandardRuler) {
  const { current } = record;
  const member = { current, band: ruler.band, calibrated: calibratedMember(ruler) };
  const { entity_name, grade, scope, ...thin } = addOn(record, 'calibrated', member);
  return thin;
}
