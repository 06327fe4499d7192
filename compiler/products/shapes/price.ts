import type { Endpoint } from './product.ts';

/** A price as a text: decimal USD. */
export const USD = /^(0|[1-9][0-9]{0,9})(\.[0-9]{1,6})?$/;

/** Decimals of USDC, the only asset that prices are quoted in. */
const USDC_DECIMALS = 6;

/**
 * Converts a decimal USD price into atomic USDC units without floats: `'0.005'` is `'5000'`.
 * Throws a RangeError for anything but a plain decimal with at most six places.
 */
export function atomicAmount(priceUsd: string): string {
  if (!USD.test(priceUsd)) throw new RangeError(`Cannot price "${priceUsd}": not a plain decimal`);
  const [whole = '0', fraction = ''] = priceUsd.split('.');
  return BigInt(whole + fraction.padEnd(USDC_DECIMALS, '0')).toString();
}

/** The price of an operation that is sold, decimal USD; throws a RangeError for a free one. */
export function priceOf({ path, priceUsd }: Pick<Endpoint, 'path' | 'priceUsd'>): string {
  if (priceUsd === null) throw new RangeError(`Cannot price "${path}": it is free`);
  return priceUsd;
}

/** The inverse of atomicAmount, without trailing zeros beyond the cent: `'250000'` is `'0.25'`. */
export function usdAmount(amountAtomic: string): string {
  if (!/^[0-9]{1,30}$/.test(amountAtomic)) {
    throw new RangeError(`Cannot read amount "${amountAtomic}": not an atomic integer`);
  }
  const digits = amountAtomic.padStart(USDC_DECIMALS + 1, '0');
  const whole = digits.slice(0, -USDC_DECIMALS).replace(/^0+(?=[0-9])/, '');
  const fraction = digits.slice(-USDC_DECIMALS).replace(/0{1,4}$/, '');
  return `${whole}.${fraction}`;
}

/** Signals that a sentence names; all of them are in `price_by_signal`. */
const NAMED_SIGNALS_MAX = 4;

/** Decimal USD of every signal that has a price of its own, '0' where it is free; null where all cost the same. */
export function priceBySignal({
  signalPrices,
}: Pick<Endpoint, 'signalPrices'>): Record<string, string> | null {
  if (signalPrices === undefined) return null;
  return Object.fromEntries(Object.entries(signalPrices).map(([id, price]) => [id, price ?? '0']));
}

/** Lowest and highest decimal USD of an operation; a free signal counts as '0'. */
export function priceRange(row: Pick<Endpoint, 'path' | 'priceUsd' | 'signalPrices'>) {
  const prices = [priceOf(row), ...Object.values(priceBySignal(row) ?? {})];
  const inOrder = prices.toSorted((a, b) =>
    BigInt(atomicAmount(a)) < BigInt(atomicAmount(b)) ? -1 : 1,
  );
  const [first = priceOf(row)] = inOrder;
  return { min: first, max: inOrder.at(-1) ?? first };
}

/** Other prices of an operation as words after its usual one, ` (tides.level: free)`; '' where all cost the same. */
export function otherPrices(bySignal: Readonly<Record<string, string>> | null): string {
  const prices = Object.entries(bySignal ?? {});
  if (prices.length === 0) return '';
  const named = prices.slice(0, NAMED_SIGNALS_MAX).map(([id, usd]) => {
    return `${id}: ${usd === '0' ? 'free' : `${usd} USD`}`;
  });
  const rest = prices.length - named.length;
  return ` (${[...named, ...(rest === 0 ? [] : [`${rest} more in /manifest`])].join(', ')})`;
}

/**
 * USDC by the name of its network: who sells and who buys mean the same token. The CAIP-2 name of the network, and the
 * contract in checksum case.
 */
export const USDC = {
  base: { caip2: 'eip155:8453', asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
  'base-sepolia': { caip2: 'eip155:84532', asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
  polygon: { caip2: 'eip155:137', asset: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359' },
  'polygon-amoy': { caip2: 'eip155:80002', asset: '0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582' },
  avalanche: { caip2: 'eip155:43114', asset: '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E' },
  'avalanche-fuji': { caip2: 'eip155:43113', asset: '0x5425890298aed601595a70AB815c96711a31Bc65' },
  sei: { caip2: 'eip155:1329', asset: '0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392' },
  'sei-testnet': { caip2: 'eip155:1328', asset: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED' },
} as const;
