import type { SignalEntry } from '../../contract/catalog/line.ts';
import {
  type CensusEntry,
  censusBody,
  censusEntry,
  censusStatement,
} from '../../contract/joined-bodies.ts';
import { positionOf } from '../../contract/reading-text.ts';
import type { Press } from '../publish/press.ts';
import { coreFields } from './entity-record.ts';
import type { Latest } from './latest.ts';
import { legReading } from './leg.ts';

/** Most entities of one census, about 14 MB; a signal with more has none, for a part of it would be no census. */
export const CENSUS_ROWS_MAX = 20_000;

/** Writes `/gauge/census` of a signal: all of its entities, at least one. */
export function writeCensus(
  entry: SignalEntry,
  all: Iterable<Latest>,
  { put, sealer }: Press,
): void {
  const { signal } = entry;
  const entries = [...all]
    .sort((a, b) => (a.reading.entity < b.reading.entity ? -1 : 1))
    .map((latest) => entryOf(entry, latest));
  const body = sealer.seal(censusBody(signal, entries), censusStatement(signal, entries));
  put('/gauge/census', { signal_id: signal.id }, body);
}

/** What the record of a reading says of it, before it is written. */
function entryOf(entry: SignalEntry, latest: Latest): CensusEntry {
  const leg = legReading(entry, latest);
  const { entity_name, current, record_hash } = leg;
  const core = coreFields(entry.signal, latest.reading);
  const position = positionOf(entry, core.entity);
  return censusEntry({ ...core, entity_name, ...position, current, record_hash }, leg);
}
