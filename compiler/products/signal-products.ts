import { findProduct, SIGNAL_PRODUCTS } from './products.ts';
import type { Signal, SignalEntry } from './shapes/line.ts';
import { encodeSegment } from './shapes/path.ts';
import type { Endpoint, Need, Product, SignalPrices, SignalTerm } from './shapes/product.ts';

// Which products a signal has, and which of them its catalogue prices by itself.

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
  const { signals } = findProduct(path) ?? {};
  if (signals !== undefined) return signals.includes(signal.id);
  const { bundle } = line;
  return bundle?.path === path && bundle.legs.some((leg) => leg.signals.includes(signal.id));
}

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

function needsOf(path: string): readonly Need[] {
  return findProduct(path)?.needs ?? [];
}

/** Why an add-on is never sold for a signal, as the predicate of a sentence; null if it can be sold. */
export function missingBasis(
  { path }: Pick<Endpoint, 'path'>,
  signal: Basis | undefined,
): string | null {
  const need = needsOf(path).find((one) => signal !== undefined && !HAS[one](signal));
  return need === undefined ? null : LACKS[need];
}

/** What keeps an add-on from being sold for a reading whose signal could have it; null for an operation that needs nothing else. */
export function stockLack({ path }: Endpoint, hasRuler: boolean): string | null {
  const need = needsOf(path).find((one) => one !== 'scale' || !hasRuler);
  return need === undefined ? null : STOCK_LACKS[need];
}

/** The products of one signal that a catalogue can price or give away, by the word that it says. */
export const SIGNAL_TERMS: ReadonlyMap<string, Product & { readonly term: SignalTerm }> = new Map(
  SIGNAL_PRODUCTS.flatMap((product: Product) => {
    const { term } = product;
    return term === undefined ? [] : [[term.word, { ...product, term }] as const];
  }),
);

/** The prices of single signals by the path of an operation; a path where no signal has one is missing. */
export function signalPrices(signals: readonly Signal[]): ReadonlyMap<string, SignalPrices> {
  const byPath = new Map<string, Record<string, string | null>>();
  for (const signal of signals) {
    const { prices = {}, free = [] } = signal;
    for (const [word, { path, term }] of SIGNAL_TERMS) {
      // A free record frees its parts, also those that this signal never has.
      const isFree = free.includes(word) || (term.isPart && free.includes('latest'));
      const price = isFree ? null : prices[word];
      if (price === undefined || missingBasis({ path }, signal) !== null) continue;
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
