import { z } from 'zod';
import { isoTime } from '../contract/iso-time.ts';
import { CLOCK_ALLOWANCE_MS } from '../stages/intake/batch-times.ts';
import type { PublicationTime } from '../stages/publish/next-place.ts';

/** How far the time that an operator reads off another clock may be from this machine's. */
const TYPED_TIME_MS_MAX = 120_000;
const MINUTE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?Z?$/;

/** The option of every command that publishes; see `PublicationTime`. */
export const ACCEPT_CLOCK = [
  '--accept-clock <utc>',
  'publish after a clock that ran ahead was corrected; give the current UTC time from another clock, such as 2026-11-20T12:34',
] as const;

/** The time given by an option, or `otherwise` if the option is absent. */
export function instant(option: string, text: string | undefined, otherwise: string): string {
  if (text === undefined) return otherwise;
  if (z.iso.datetime().safeParse(text).success) return isoTime(Date.parse(text));
  throw new RangeError(
    `Cannot use ${option} "${text}": not an ISO-8601 time in UTC; write it as 2026-11-20T12:00:00Z`,
  );
}

const VALID_UNTIL_FLAG = '--valid-until <time>';
/** Until when a compiled release is valid, and one that a rollback publishes. */
export const VALID_UNTIL = [
  VALID_UNTIL_FLAG,
  'when readers should look for a newer release, or none (default: after twice the longest cadence of what changed, at most a week)',
] as const;
export const VALID_UNTIL_WEEK = [
  VALID_UNTIL_FLAG,
  'when readers should look for a newer release, or none (default: a week from now)',
] as const;

/** The time until which a release is valid, `otherwise` where none is given; nothing for the word `none`. */
export function validUntilOf(
  text: string | undefined,
  otherwise: string,
): { readonly validUntil?: string } {
  return text === 'none' ? {} : { validUntil: instant('--valid-until', text, otherwise) };
}

/** The options that set the time of a publication. */
export interface TimeFlags {
  readonly asOf?: string;
  readonly acceptClock?: string;
}

/**
 * The time that a release is published at; throws a RangeError for a time in the future, and for a clock that disagrees
 * with the given one.
 */
export function publicationTime({ asOf, acceptClock }: TimeFlags, nowMs: number): PublicationTime {
  const now = isoTime(nowMs);
  if (acceptClock === undefined) return { asOf: notAhead(instant('--as-of', asOf, now), nowMs) };
  if (asOf !== undefined) {
    throw new RangeError(
      'Cannot use --as-of with --accept-clock: the release then takes the time of this clock; leave --as-of out',
    );
  }
  refuseOtherTime(acceptClock, nowMs);
  return { asOf: now, acceptClock: true };
}

/** A release dated in the future would lock the folder until then, because publication time never goes back. */
function notAhead(asOf: string, nowMs: number): string {
  if (Date.parse(asOf) <= nowMs + CLOCK_ALLOWANCE_MS) return asOf;
  throw new RangeError(
    `Cannot use --as-of "${asOf}": more than ${CLOCK_ALLOWANCE_MS / 60_000} minutes after the clock of this machine, ` +
      `${isoTime(nowMs)}; give a time that has passed, leave --as-of out, or correct the clock`,
  );
}

/** A clock that is wrong now would be worse than one that was. */
function refuseOtherTime(text: string, nowMs: number): void {
  const typed = MINUTE.test(text) ? Date.parse(text.endsWith('Z') ? text : `${text}Z`) : Number.NaN;
  if (Number.isNaN(typed)) {
    throw new RangeError(
      `Cannot use --accept-clock "${text}": not a time in UTC; write what another clock shows as 2026-11-20T12:34`,
    );
  }
  if (Math.abs(nowMs - typed) <= TYPED_TIME_MS_MAX) return;
  throw new RangeError(
    `Cannot accept the clock of this machine, ${isoTime(nowMs)}: more than 2 minutes from "${text}"; correct the clock first`,
  );
}
