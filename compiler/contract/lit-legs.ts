import type { Signal } from './catalog/line.ts';

/**
 * Whether a leg is lit: its class is not the mildest of its list. Null where the signal is unknown or has no list, or
 * the reading no class of it.
 */
export function isLit(signal: Signal | undefined, band: string | null): boolean | null {
  if (signal === undefined || band === null) return null;
  // Which thresholds there are differs by gauge: whatever is below the lowest is the mildest class, and none of them is.
  if (signal.ownThresholds?.some((name) => band === `below-${name}`)) return false;
  if (signal.ownThresholds?.includes(band) === true) return true;
  const place = signal.bands?.indexOf(band) ?? -1;
  return place === -1 ? null : place > 0;
}

/** How many legs of a bundle are lit, and which: a count, never a score. */
interface LegsLit {
  readonly count: number;
  /** Legs of the chain, those without a reading included. */
  readonly of: number;
  /** In causal order. */
  readonly names: string[];
}

/** Counts the legs that are lit; `legs` in causal order, `of` legs in the whole chain. */
export function legsLit(
  legs: Readonly<Record<string, { readonly lit?: unknown }>>,
  of: number,
): LegsLit {
  const names = Object.keys(legs).filter((name) => legs[name]?.lit === true);
  return { count: names.length, of, names };
}
