import { atomicAmount } from '../../compiler/contract/price.ts';

/** How prices in USD become amounts of a token that is not USDC. */
export interface TokenRate {
  /** Decimal places of the token, DECIMALS_MIN to DECIMALS_MAX. */
  readonly decimals: number;
  /** Units of the token that one USD is worth, as the operator says: a plain decimal above 0. */
  readonly perUsd: string;
}

/** What prices need to know of the token that they are paid in; without a rate it is USDC. */
interface Rated {
  readonly rate?: TokenRate;
}

export const DECIMALS_MIN = 2;
export const DECIMALS_MAX = 18;
/** Decimal places of an atomic unit of USDC. */
const USD_DECIMALS = 6;
const RATE = /^(0|[1-9][0-9]{0,5})(\.[0-9]{1,12})?$/;

/** Whether a text is a rate that amounts can be computed with. */
export function isRate(perUsd: string): boolean {
  return RATE.test(perUsd) && /[1-9]/.test(perUsd);
}

/** Atomic units of the token for a decimal USD price, rounded up to the next one. Throws a RangeError for no price. */
export function tokenAmount(priceUsd: string, { rate }: Rated): string {
  const usd = BigInt(atomicAmount(priceUsd));
  if (rate === undefined) return `${usd}`;
  const { units, perUnit } = scaled(rate);
  return `${(usd * units + perUnit - 1n) / perUnit}`;
}

/**
 * What an amount of the token (atomic units) is worth at this rate, in atomic units of USDC, rounded down; null for an
 * amount of USDC, which is its own worth.
 */
export function usdWorth(value: string, { rate }: Rated): string | null {
  if (rate === undefined) return null;
  const { units, perUnit } = scaled(rate);
  return `${(BigInt(value) * perUnit) / units}`;
}

/** Atomic units of the token per atomic unit of USDC, as a fraction. */
function scaled({ decimals, perUsd }: TokenRate): { units: bigint; perUnit: bigint } {
  const [whole = '0', places = ''] = perUsd.split('.');
  return {
    units: BigInt(whole + places) * 10n ** BigInt(decimals),
    perUnit: 10n ** BigInt(USD_DECIMALS + places.length),
  };
}
