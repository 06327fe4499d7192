import { z } from 'zod';
import { HOUR_MS, isoTime } from '../../../contract/iso-time.ts';
import { firstTwice } from '../../grouped.ts';
import { ImportError } from '../../import-error.ts';
import { type Payload, parsePayload } from '../../payload.ts';
import { shaped } from '../../shape.ts';

/** A storm is described every six hours: an older list does not say what there is now. */
const LIST_AGE_HOURS_MAX = 12;
/** An update is called after the hour that it is made for, and may be out before. */
const AHEAD_HOURS_MAX = 1;
/** Depression, storm and hurricane, tropical or subtropical; a typhoon is a hurricane of another ocean. */
export const CYCLONES: readonly string[] = ['TD', 'STD', 'TS', 'STS', 'HU', 'TY', 'TYP'];
/** Potential, post-tropical or remnants: listed with a wind, but no tropical cyclone (yet or any longer). */
const OTHERS: readonly string[] = ['PTC', 'PC'];

const time = z.iso.datetime();
/** A product of a storm, or null where there is none. */
const storedProduct = z.looseObject({ issuance: time }).nullable();
const storm = z.looseObject({
  id: z.string().regex(/^(al|ep|cp)\d{6}$/),
  binNumber: z.string().regex(/^(AT|EP|CP)\d$/),
  name: z.string().regex(/^[A-Za-z][A-Za-z' -]{0,39}$/),
  classification: z.enum([...CYCLONES, ...OTHERS]),
  intensity: z.string().regex(/^\d{2,3}$/),
  pressure: z.string().regex(/^(8|9|10)\d{2}$/),
  lastUpdate: time,
  windWatchesWarnings: storedProduct,
  stormSurgeWatchWarningGIS: storedProduct,
});
export type Storm = z.infer<typeof storm>;
const listSchema = z.looseObject({ activeStorms: z.array(storm) });

/** Active storms of all basins; throws an ImportError for another payload, and for a list that was stale when it was fetched. */
export function stormsOf({ bytes, note, subject }: Payload): readonly Storm[] {
  const is = 'the list of active storms';
  const { activeStorms: storms } = shaped(listSchema, parsePayload(bytes, subject), {
    subject,
    is,
  });
  const twice = firstTwice(storms.map(({ id }) => id));
  if (twice !== undefined) {
    throw new ImportError({ subject, state: `storm ${twice} is listed twice; fetch it again` });
  }
  const updated = newest(storms, note.fetched_at);
  if (Date.parse(note.fetched_at) - updated > LIST_AGE_HOURS_MAX * HOUR_MS) {
    const state = `last updated at ${isoTime(updated)}, stale when it was fetched; fetch it again`;
    throw new ImportError({ subject, state });
  }
  return storms;
}

/** Latest update of storms, no later than the fetch; what a list without any says holds when it is fetched. */
export function newest(storms: readonly Storm[], fetchedAt: string): number {
  const fetched = Date.parse(fetchedAt);
  if (storms.length === 0) return fetched;
  const latest = Math.max(...storms.map(({ lastUpdate }) => Date.parse(lastUpdate)));
  const isAhead = latest > fetched && latest <= fetched + AHEAD_HOURS_MAX * HOUR_MS;
  return isAhead ? fetched : latest;
}
