import { isRealDay } from '../../../contract/cutoff.ts';
import { isoTime } from '../../../contract/iso-time.ts';
import { newYorkInstant } from '../../../contract/new-york-time.ts';

/** What the `Z` of the acceptance times of one answer means. */
export type AcceptanceBasis = 'utc' | 'new-york' | 'undetermined';

/** Forms that are not accepted from filers, so that their hours prove nothing. */
const NO_PROOF = /^(EFFECT|25-NSE|UPLOAD|CORRESP|CERT.*)$/;
/** Hours at which a filing can only have been accepted if the times are those of New York, and of UTC. */
const NEW_YORK_HOURS: readonly number[] = [6, 7, 8, 9];
const UTC_HOURS: readonly number[] = [23, 0, 1, 2, 3];
const TIME = /^\d{4}-\d{2}-\d{2}T(\d{2}):\d{2}:\d{2}(\.\d{1,9})?Z$/;

/** A row as far as the clock of its answer shows in it. */
export interface Accepted {
  readonly form: string;
  readonly acceptance: string;
}

/**
 * Some answers hold New York wall-clock time with a `Z` behind it. Filings are accepted from 06:00 to 22:00 in New
 * York, so their hours tell which one an answer holds; a tie decides nothing.
 */
export function acceptanceBasis(rows: readonly Accepted[]): AcceptanceBasis {
  const hours = rows.filter(({ form }) => !NO_PROOF.test(form)).map(hourOf);
  const local = hours.filter((hour) => NEW_YORK_HOURS.includes(hour)).length;
  const utc = hours.filter((hour) => UTC_HOURS.includes(hour)).length;
  if (local === utc) return 'undetermined';
  return local > utc ? 'new-york' : 'utc';
}

function hourOf({ acceptance }: Accepted): number {
  return Number(TIME.exec(acceptance)?.[1] ?? Number.NaN);
}

/** Whether a text is an acceptance time as the source writes it, of a day that exists. */
export function isAcceptance(text: string): boolean {
  return TIME.test(text) && isRealDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text));
}

/** The acceptance in UTC; null where the basis leaves it open or the text is no time. */
export function acceptedAt(acceptance: string, basis: AcceptanceBasis): string | null {
  if (basis === 'undetermined' || !isAcceptance(acceptance)) return null;
  const written = Date.parse(acceptance);
  return isoTime(basis === 'utc' ? written : newYorkInstant(written));
}
