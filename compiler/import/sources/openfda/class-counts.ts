import { DAY_MS } from '../../../contract/iso-time.ts';
import { grouped } from '../../grouped.ts';
import { isListed, type ShortageRow } from './shortage-rows.ts';

const NEW_DAYS = 90;

/** What a list says of a class; a name is one generic name with salt and dosage form. */
export interface ClassCounts {
  readonly activity: { readonly active_count: number | null; readonly listed_count: number | null };
  readonly incidence: { readonly new_90d_count: number | null };
}

/** Counts of the names of a class; `lastUpdated` is the day of the batch, in epoch milliseconds. */
export function classCounts(rows: readonly ShortageRow[], lastUpdated: number): ClassCounts {
  const names = [...grouped(rows, ({ name }) => name).values()];
  const since = lastUpdated - NEW_DAYS * DAY_MS;
  return {
    activity: {
      active_count: countOf(names.map(isShort)),
      listed_count: countOf(names.map(isListed)),
    },
    incidence: { new_90d_count: countOf(names.map((own) => isNewSince(own, since))) },
  };
}

/** Whether a package is limited or unavailable; null where one that cannot be read decides. */
function isShort(rows: readonly ShortageRow[]): boolean | null {
  if (rows.some(({ state }) => state === 'limited' || state === 'unavailable')) return true;
  return rows.some(({ state }) => state === 'unreadable') ? null : false;
}

/** Whether the first package of status Current was posted since a day; null where what cannot be read decides. */
function isNewSince(rows: readonly ShortageRow[], since: number): boolean | null {
  const listed = rows.filter((row) => isListed([row]) === true);
  if (listed.some(({ posted }) => posted !== null && posted < since)) return false;
  const isOpen = rows.some(({ state }) => state === 'unreadable');
  if (isOpen || listed.some(({ posted }) => posted === null)) return null;
  return listed.length > 0;
}

function countOf(answers: readonly (boolean | null)[]): number | null {
  return answers.includes(null) ? null : answers.filter((answer) => answer === true).length;
}
