import { isoTime } from '../contract/iso-time.ts';
import { placesOf } from '../contract/places.ts';
import type { Reading } from '../stages/intake/reading.ts';
import { ImportError } from './import-error.ts';
import type { Payload } from './payload.ts';

/** The one body that measured a value; `as_of` is an ISO-8601 UTC time. */
export function measuredBy(
  name: string,
  value: number | string | null,
  as_of: string,
): Reading['sources'] {
  return [{ name, value, weight: 1, as_of, role: 'measurement', independent: true }];
}

/** The name of an entity of a line, as a member to spread; empty where the table of places has none. */
export function nameOf(lineId: string, entity: string): { readonly entity_name?: string } {
  const name = placesOf(lineId).get(entity)?.name;
  return name === undefined ? {} : { entity_name: name };
}

/** An instant of a payload as ISO-8601 text; throws an ImportError for one after the fetch. */
export function observedAt(epochMs: number, { note, subject }: Payload): string {
  const time = isoTime(epochMs);
  if (epochMs <= Date.parse(note.fetched_at)) return time;
  const state = `it speaks of ${time}, after its fetch at ${note.fetched_at}; correct the fetch note`;
  throw new ImportError({ subject, state });
}
