import type { Source as Body } from '../contract/record.ts';
import type { Reading } from '../stages/intake/reading.ts';
import { observedAt } from './measured.ts';
import type { Payload } from './payload.ts';

/** Who stands behind the readings of a payload. */
export interface Origin extends Pick<Body, 'name' | 'role' | 'independent' | 'relay_of'> {
  /** Public page of the data set. */
  readonly page: string;
  readonly tier: string;
  /** How the publisher calls the state of its figures. */
  readonly status: string;
}

/** What a payload says of one entity at one time, in epoch milliseconds; the first metric is the main one. */
export type Said = { readonly at: number } & Pick<Reading, 'entity' | 'current' | 'scope'> &
  Partial<Pick<Reading, 'entity_name' | 'grade' | 'qualifiers'>>;

/** A reading of a source with one measuring body; throws an ImportError for a time after the fetch. */
export function statedReading(origin: Origin, payload: Payload, { at, ...said }: Said): Reading {
  const { page, tier, status, ...body } = origin;
  const [main] = Object.values(said.current);
  const value = typeof main === 'number' ? main : null;
  const observed_at = observedAt(at, payload);
  return {
    ...said,
    observed_at,
    collected_at: payload.note.fetched_at,
    sources: [{ ...body, value, weight: 1, as_of: observed_at }],
    source_ref: page,
    source_tier: tier,
    validation_status: status,
    uncertainty: 'not stated in the payload',
  };
}
