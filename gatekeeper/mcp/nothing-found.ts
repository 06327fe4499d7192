import type { Line } from '../../compiler/contract/catalog/line.ts';
import { LINES, SIGNALS } from '../../compiler/contract/lines.ts';
import { nearest } from '../../compiler/contract/nearest.ts';
import type { JsonObject } from '../../compiler/contract/strict-json.ts';
import { shown } from './argument-fault.ts';

const INDUSTRIES = [...new Set(LINES.map((line: Line) => line.industry))].sort();
const SIGNAL_IDS = SIGNALS.map((signal) => signal.id);

/** Why a search found nothing, and what to search for instead. */
export function nothingFound({ industry, signal_id, entity }: JsonObject): string {
  if (typeof industry === 'string' && !INDUSTRIES.includes(industry)) {
    return `No industry ${shown(industry)}${meant(industry, INDUSTRIES)}; send one of ${INDUSTRIES.join(', ')}`;
  }
  if (typeof signal_id === 'string' && !SIGNAL_IDS.includes(signal_id)) {
    return `No signal ${shown(signal_id)}${meant(signal_id, SIGNAL_IDS)}; find_signal without arguments lists all`;
  }
  if (typeof entity === 'string') {
    return `No reading of entity ${shown(entity)} matches; find_signal with signal_id and full=true lists its entities`;
  }
  return 'This signal belongs to another industry; leave industry out';
}

function meant(text: string, legal: readonly string[]): string {
  const best = nearest(text, legal);
  return best === null ? '' : ` (did you mean "${best}"?)`;
}
