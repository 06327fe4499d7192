import type { Catalog } from '../../compiler/contract/catalog/catalog.ts';
import { nearest } from '../../compiler/contract/nearest.ts';
import type { JsonObject } from '../../compiler/contract/strict-json.ts';
import { SEARCH_OPERATION } from '../../compiler/contract/tools.ts';
import { oncePer } from '../system/once-per.ts';
import { shown } from './argument-fault.ts';

/** Why a search found nothing, and what to search for instead. */
export function nothingFound(
  { industry, signal_id, entity, page }: JsonObject,
  catalog: Catalog,
): string {
  const industries = industriesOf(catalog);
  if (typeof industry === 'string' && !industries.includes(industry)) {
    return `No industry ${shown(industry)}${meant(industry, industries)}; send one of ${industries.join(', ')}`;
  }
  if (typeof signal_id === 'string' && !catalog.entryById.has(signal_id)) {
    const words = catalog.operationByPath.has(SEARCH_OPERATION) ? 'send its words as query; ' : '';
    return `No signal ${shown(signal_id)}; ${words}find_signal without arguments leads to all`;
  }
  if (typeof page === 'string' && page !== '1') {
    return `Page ${shown(page)} has nothing; leave page out for the first, and follow next`;
  }
  if (typeof entity === 'string') {
    return `No reading of entity ${shown(entity)} matches; find_signal with signal_id and full=true lists its entities`;
  }
  return 'This signal belongs to another industry; leave industry out';
}

/** Made once, so that what they are compared by is made once too. Of signals none is guessed: a near id is another signal. */
const industriesOf = oncePer(({ lines }: Catalog) =>
  [...new Set(lines.map(({ industry }) => industry))].sort(),
);

function meant(text: string, legal: readonly string[]): string {
  const best = nearest(text, legal);
  return best === null ? '' : ` (did you mean "${best}"?)`;
}
