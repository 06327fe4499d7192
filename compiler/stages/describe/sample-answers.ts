import type { EndpointPath } from '../../contract/endpoints.ts';
import type { SignalRecord } from '../../contract/record.ts';
import { calibratedMember } from '../assemble/add-ons.ts';

/** What the free sample record says already, by the operation that sells it: real answers that give nothing away. */
export type SampleAnswers = Partial<Readonly<Record<EndpointPath, object>>>;

/**
 * Answers of paid operations about the readings of free samples, the first one that has an answer. Every member stands
 * in the sample; the add-ons lack the citation, which is what a purchase adds.
 */
export function sampleAnswers(records: readonly SignalRecord[]): SampleAnswers {
  return Object.assign({}, ...records.map(answersAbout).reverse());
}

function answersAbout(record: SignalRecord): SampleAnswers {
  const { standard_ruler: ruler, strata, lifecycle } = record;
  return {
    '/gauge': record,
    ...(ruler === null
      ? {}
      : {
          '/gauge/ruler': addOn(record, 'ruler', { ruler }),
          '/gauge/calibrated': addOn(record, 'calibrated', { calibrated: calibratedMember(ruler) }),
        }),
    ...(strata === null ? {} : { '/gauge/strata': addOn(record, 'strata', { strata }) }),
    ...(lifecycle === null
      ? {}
      : { '/gauge/lifecycle': addOn(record, 'lifecycle', { lifecycle }) }),
  };
}

function addOn(record: SignalRecord, dim: string, member: object): object {
  const { nature, signal_id, entity, entity_name, observed_at } = record;
  const { record_hash, provenance, grade, scope } = record;
  const identity = { nature, dim, signal_id, entity, entity_name, observed_at };
  return { ...identity, ...member, record_hash, provenance, grade, scope };
}
