import type { Endpoint } from '../../compiler/contract/endpoints.ts';
import { JSON_MEDIA_TYPE } from '../http/reply.ts';

export const CSV_MEDIA_TYPE = 'text/csv';

/** What a canonical target is answered in, without parameters of the type. */
export function mediaTypeOf({ answer }: Endpoint, target: string): string {
  const isCsv = answer === 'series' && /[?&]format=csv(-signed)?(&|$)/.test(target);
  return isCsv ? CSV_MEDIA_TYPE : JSON_MEDIA_TYPE;
}
