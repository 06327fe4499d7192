import type { Endpoint } from './endpoints.ts';

const USD = /^(0|[1-9][0-9]{0,9})(\.[0-9]{1,6})?$/;

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
