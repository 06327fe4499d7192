// What a signal can say of its own prices, where they are not those of every other signal.

/** The products of one signal that a catalogue can price or give away: the word that it says, and the operation. */
export const SIGNAL_PRODUCTS = {
  latest: '/gauge',
  ruler: '/gauge/ruler',
  calibrated: '/gauge/calibrated',
  strata: '/gauge/strata',
  history: '/gauge/history',
  series: '/gauge/history-series',
  census: '/gauge/census',
} as const;

export type SignalProduct = keyof typeof SIGNAL_PRODUCTS;

export const SIGNAL_PRODUCT_WORDS = Object.keys(SIGNAL_PRODUCTS) as [
  SignalProduct,
  ...SignalProduct[],
];

/** Products that repeat a part of the latest record: where that is free, nobody pays for its parts. */
export const PARTS_OF_LATEST: readonly SignalProduct[] = ['ruler', 'calibrated', 'strata'];

/** Products that hold the latest reading whole, the calibrated figures in their short form: they are free only where that is. */
export const HOLD_LATEST: readonly SignalProduct[] = ['calibrated', 'series', 'census'];

/** What a signal says of its own prices. */
export interface SignalTerms {
  /** Decimal USD by product; the price of the catalogue otherwise. */
  readonly prices?: Readonly<Partial<Record<SignalProduct, string>>>;
  readonly free?: readonly SignalProduct[];
}

/** Decimal USD by signal id, null for free; a signal at the price of the catalogue is missing. */
export type SignalPrices = Readonly<Record<string, string | null>>;

/** A product with its price of one signal: decimal USD, null for free. */
type ProductPrice = readonly [SignalProduct, string | null];

/** Every product whose price a signal sets: with a free record, the parts of it too. */
export function pricesOf({ prices = {}, free = [] }: SignalTerms): ProductPrice[] {
  const parts = free.includes('latest') ? PARTS_OF_LATEST : [];
  const given = new Set<SignalProduct>([...free, ...parts]);
  return SIGNAL_PRODUCT_WORDS.flatMap((word): ProductPrice[] => {
    if (given.has(word)) return [[word, null]];
    const price = prices[word];
    return price === undefined ? [] : [[word, price]];
  });
}
