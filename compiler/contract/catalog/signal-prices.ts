import { missingBasis } from '../products.ts';
import type { Signal } from './line.ts';
import { pricesOf, SIGNAL_PRODUCTS, type SignalPrices } from './signal-terms.ts';

/** The prices of single signals by the path of an operation; a path where no signal has one is missing. */
export function signalPrices(signals: readonly Signal[]): ReadonlyMap<string, SignalPrices> {
  const byPath = new Map<string, Record<string, string | null>>();
  for (const signal of signals) {
    for (const [product, price] of pricesOf(signal)) {
      const path = SIGNAL_PRODUCTS[product];
      // A free record frees its parts, also those that this signal never has.
      if (missingBasis({ path }, signal) !== null) continue;
      const known = byPath.get(path) ?? {};
      known[signal.id] = price;
      byPath.set(path, known);
    }
  }
  return byPath;
}
