import type { EndpointPath } from '../../contract/endpoints.ts';
import type { SignalRecord } from '../../contract/record.ts';
import { addOn, recordAddOns } from '../../contract/record-views.ts';

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
  const { lifecycle } = record;
  return {
    '/gauge': record,
    ...recordAddOns(record),
    ...(lifecycle === null
      ? {}
      : { '/gauge/lifecycle': addOn(record, 'lifecycle', { lifecycle }) }),
  };
}
