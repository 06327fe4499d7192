import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import type { Values } from '../../compiler/contract/path.ts';
import { canonicalRequest } from '../../compiler/contract/route.ts';
import { CORE_COLUMNS, SERIES_COLUMNS } from '../../compiler/contract/series.ts';
import type { Offers } from '../release/offers.ts';
import { CSV_MEDIA_TYPE, mediaTypeOf } from './media-type.ts';

/** What a challenge says of an operation beside its price. */
export interface Shown {
  readonly endpoint: Endpoint;
  readonly offers: Offers;
  /** Values of a request that is answered now; null where the operation has nothing to answer. */
  readonly example: Values | null;
  readonly mimeType: string;
  /** Main fields of the body, or the columns of a table. */
  readonly output: Readonly<Record<string, unknown>>;
}

/** What is shown under a canonical target. */
export function shownOf(endpoint: Endpoint, target: string, offers: Offers): Shown {
  const mimeType = mediaTypeOf(endpoint, target);
  const offer = offers.get(endpoint.path);
  const isCsv = mimeType === CSV_MEDIA_TYPE;
  const format = new URLSearchParams(target.split('?')[1]).get('format');
  const form = isCsv && format !== null ? { format } : {};
  const columns = /[?&]verifiable=1(&|$)/.test(target) ? CORE_COLUMNS : SERIES_COLUMNS;
  const example = offer?.sellsNow === true ? { ...valuesOf(offer.request), ...form } : null;
  const output = isCsv ? { columns } : (offer?.output ?? {});
  return { endpoint, offers, example, mimeType, output };
}

function valuesOf(target: string): Values {
  const request = canonicalRequest(target);
  if ('status' in request) throw new RangeError(`Cannot show "${target}": ${request.error}`);
  return Object.fromEntries(request.values);
}
