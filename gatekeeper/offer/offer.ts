import { canonicalRequest } from '../../compiler/contract/canonical-request.ts';
import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import type { Values } from '../../compiler/contract/path.ts';
import { SERIES_COLUMNS } from '../../compiler/contract/series.ts';
import { CSV_MEDIA_TYPE, mediaTypeOf } from '../http/media-type.ts';
import { outputExample } from './output-example.ts';

/** A request of an operation that is answered now, as a canonical target; null where it has nothing to answer. */
export type RequestExamples = (endpoint: Endpoint) => string | null;

/** What a challenge says of an operation beside its price. */
export interface Offer {
  readonly endpoint: Endpoint;
  readonly examples: RequestExamples;
  /** Values of a request that is answered now; null where the operation has nothing to answer. */
  readonly example: Values | null;
  readonly mimeType: string;
  /** Main fields of the body, or the columns of a table. */
  readonly output: Readonly<Record<string, unknown>>;
}

/** What is offered under a canonical target. */
export function offerOf(endpoint: Endpoint, target: string, examples: RequestExamples): Offer {
  const mimeType = mediaTypeOf(endpoint, target);
  const found = examples(endpoint);
  const isCsv = mimeType === CSV_MEDIA_TYPE;
  const form = isCsv ? { format: 'csv' } : {};
  const example = found === null ? null : { ...valuesOf(found), ...form };
  const output = isCsv ? { columns: SERIES_COLUMNS } : outputExample(endpoint);
  return { endpoint, examples, example, mimeType, output };
}

function valuesOf(target: string): Values {
  const request = canonicalRequest(target);
  if ('status' in request) throw new RangeError(`Cannot show "${target}": ${request.error}`);
  return Object.fromEntries(request.values);
}
