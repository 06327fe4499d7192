import type { Source as Body } from '../contract/record.ts';
import type { Reading } from '../stages/intake/reading.ts';

/** Who stands behind the readings of a payload. */
export interface Origin extends Pick<Body, 'name' | 'role' | 'independent' | 'relay_of'> {
  /** Public page of the data set. */
  readonly page: string;
  readonly tier: string;
  /** How the publisher calls the state of its figures. */
  readonly status: string;
}

/** What a payload says of one entity at one time; the first metric is the main one. */
export type Said = Pick<
  Reading,
  'entity' | 'observed_at' | 'collected_at' | 'current' | 'scope' | 'grade' | 'qualifiers'
> & { readonly entity_name?: string | undefined };

/** A reading of a source with one measuring body. */
export function statedReading(origin: Origin, said: Said): Reading {
  const { page, tier, status, ...body } = origin;
  const { entity_name, ...stated } = said;
  const [main] = Object.values(said.current);
  const value = typeof main === 'number' ? main : null;
  return {
    ...stated,
    ...(entity_name === undefined ? {} : { entity_name }),
    sources: [{ ...body, value, weight: 1, as_of: said.observed_at }],
    source_ref: page,
    source_tier: tier,
    validation_status: status,
    uncertainty: 'not stated in the payload',
  };
}
