import { isoTime } from '../../../compiler/contract/iso-time.ts';

/** In which month each event falls; the first month is 1. */
export interface Plan {
  readonly months: number;
  /** A root of three keys is adopted. */
  readonly root: number;
  readonly firstRotation: number;
  /** One of three witnesses answers no more. */
  readonly witnessDies: number;
  /** The second key is stolen; nobody notices. */
  readonly theft: number;
  readonly secondRotation: number;
  /** The theft is noticed: the root revokes the second key from the theft on, behind the rotation. */
  readonly noticed: number;
  /** The service shows the release of the month before. */
  readonly rollback: number;
  /** A second history of the log is published at another address. */
  readonly fork: number;
  /** The release of the month before is shown on, beyond the time that it promised. */
  readonly freeze: number;
  /** Whether every product is bought each month, or one after the other. */
  readonly buysAll: boolean;
}

/** Sixty months, and a body bought in each. */
export const FIVE_YEARS: Plan = {
  months: 60,
  root: 4,
  firstRotation: 14,
  witnessDies: 20,
  theft: 26,
  secondRotation: 32,
  noticed: 38,
  rollback: 44,
  fork: 48,
  freeze: 54,
  buysAll: false,
};

/** The same events in the same order, for `npm test`. */
export const SHORT: Plan = {
  months: 9,
  root: 2,
  firstRotation: 3,
  witnessDies: 3,
  theft: 4,
  secondRotation: 5,
  noticed: 6,
  rollback: 7,
  fork: 7,
  freeze: 8,
  buysAll: true,
};

/** When the release of a month is published, or so many days later, ISO-8601. */
export function monthTime(month: number, days = 0): string {
  return isoTime(Date.UTC(2026, 10 + month, 5 + days, 12));
}

/** Days before the release of its month that the second key was stolen. */
const THEFT_DAYS = 3;

/** From when the second key is revoked. */
export function theftTime({ theft }: Plan): string {
  return monthTime(theft, -THEFT_DAYS);
}

/** Who signed what was bought in a month. */
export type Signed = 'first key' | 'second key' | 'second key, stolen' | 'third key';

export function signedIn(month: number, { firstRotation, theft, secondRotation }: Plan): Signed {
  if (month < firstRotation) return 'first key';
  if (month < theft) return 'second key';
  return month < secondRotation ? 'second key, stolen' : 'third key';
}
