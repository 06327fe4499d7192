import type { Position } from '../../ring-in-box.ts';

/** Categories of the outlook, mildest first, by their short names. */
export const CATEGORIES = ['TSTM', 'MRGL', 'SLGT', 'ENH', 'MDT', 'HIGH'] as const;
export type Category = (typeof CATEGORIES)[number];

/** One convective outlook; times in epoch milliseconds. */
export interface Outlook {
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** Who made the payload, where that is not the agency. */
  readonly relay: string | null;
  /** Rings of each category that is drawn: clockwise around an area, the other way around a hole. */
  readonly areas: ReadonlyMap<Category, readonly (readonly Position[])[]>;
}

export function categoryOf(text: string): Category | null {
  return CATEGORIES.find((category) => category === text) ?? null;
}
