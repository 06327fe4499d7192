import { SERIES_DAYS_MAX } from '../contract/endpoints.ts';
import { RETENTION, type Retention } from '../stages/publish/release-folders.ts';

const RELEASES_MAX = 999_999;
const DAYS_MAX = 36_500;

/** The options of every command that removes releases; see `Retention`. */
export const KEEP_LAST = [
  '--keep-last <count>',
  'how many of the newest releases stay, the current one among them',
  String(RETENTION.last),
] as const;
export const KEEP_DAYS = [
  '--keep-days <days>',
  'releases also stay that were current within so many days before the newest',
] as const;

/** How much of the past is delivered; the log and the chain of a series keep all of it. */
export const SERIES_DAYS = [
  '--series-days <days>',
  'how many days of readings a series delivers, back from its newest snapshot',
  String(SERIES_DAYS_MAX),
] as const;

export interface RetentionFlags {
  readonly keepLast: string;
  readonly keepDays?: string;
}

/** Which releases stay; throws a RangeError that names the option. */
export function retentionOf({ keepLast, keepDays }: RetentionFlags): Retention {
  const last = countOf('--keep-last', keepLast, RELEASES_MAX);
  const days = keepDays === undefined ? 0 : countOf('--keep-days', keepDays, DAYS_MAX);
  return { last, days };
}

/** Throws a RangeError that names the option. */
export function seriesDaysOf(text: string): number {
  return countOf('--series-days', text, SERIES_DAYS_MAX);
}

function countOf(option: string, text: string, max: number): number {
  const count = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= max) return count;
  throw new RangeError(`Cannot use ${option} "${text}": not a whole number from 1 to ${max}`);
}
