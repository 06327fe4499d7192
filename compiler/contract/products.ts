import type { Signal, SignalEntry } from './catalog/line.ts';
import { pricesOf, SIGNAL_PRODUCTS, type SignalPrices } from './catalog/signal-terms.ts';
import type { Endpoint } from './endpoints.ts';
import { encodeSegment } from './path.ts';

/** Signals of the two city add-ons, in the order of their readings. */
export const CITY_ADD_ONS = {
  air: ['airquality.aqi', 'airquality.pm25'],
  precip: ['precipitation.daily', 'precipitation.wetness30d'],
} as const;

/** The paid ones of some operations that can answer about a signal, in their order; what is stored decides whether they do. */
export function productsOf(
  entry: SignalEntry,
  operations: readonly Endpoint[],
): readonly Endpoint[] {
  return operations.filter((row) => row.priceUsd !== null && isProduct(row, entry));
}

function isProduct(row: Endpoint, entry: SignalEntry): boolean {
  const { path, file = '' } = row;
  if (file.includes('{signal_id}')) return missingBasis(row, entry.signal) === null;
  if (path === '/gauge/lifecycle') return entry.signal.id.endsWith('.lifecycle');
  const { signal, line } = entry;
  const city = Object.entries(CITY_ADD_ONS).find(([addon]) => path === `/gauge/${addon}`);
  if (city !== undefined) return (city[1] as readonly string[]).includes(signal.id);
  const { bundle } = line;
  return bundle?.path === path && bundle.legs.some((leg) => leg.signals.includes(signal.id));
}

type Need = 'scale' | 'season';

const NEEDS: Readonly<Record<string, readonly Need[]>> = {
  '/gauge/ruler': ['scale'],
  '/gauge/calibrated': ['scale'],
  '/gauge/strata': ['scale', 'season'],
  '/gauge/history': ['season'],
};

type Basis = { readonly [Name in 'rulers' | 'ownThresholds' | 'seasonal']?: unknown };

const HAS: Readonly<Record<Need, (signal: Basis) => boolean>> = {
  scale: ({ rulers, ownThresholds }) => rulers !== undefined || ownThresholds !== undefined,
  season: ({ seasonal }) => seasonal === true,
};

const LACKS: Readonly<Record<Need, string>> = {
  scale: 'has no official ruler',
  season: 'has no seasonal statistics',
};
const STOCK_LACKS: Readonly<Record<Need, string>> = {
  scale: 'no official ruler is stored',
  season: 'too few readings of the same season are stored',
};

/** Why an add-on is never sold for a signal, as the predicate of a sentence; null if it can be sold. */
export function missingBasis(
  { path }: Pick<Endpoint, 'path'>,
  signal: Basis | undefined,
): string | null {
  const need = (NEEDS[path] ?? []).find((one) => signal !== undefined && !HAS[one](signal));
  return need === undefined ? null : LACKS[need];
}

/** What keeps an add-on from being sold for a reading whose signal could have it; null for an operation that needs nothing else. */
export function stockLack({ path }: Endpoint, hasRuler: boolean): string | null {
  const need = NEEDS[path]?.find((one) => one !== 'scale' || !hasRuler);
  return need === undefined ? null : STOCK_LACKS[need];
}

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

/** Whether an operation sells a subscription token or is opened by one. */
export function needsTokens({ token, answer }: Endpoint): boolean {
  return token || answer === 'mint';
}

/** What the paths of an operation's files about one signal begin with; null where its files are not kept by signal. */
export function stockStart({ file }: Endpoint, signalId: string): string | null {
  const [folder = '', rest] = file?.split('{signal_id}') ?? [];
  if (rest === undefined) return null;
  return folder + encodeSegment(signalId) + rest.slice(0, rest.search(/\{|$/));
}
