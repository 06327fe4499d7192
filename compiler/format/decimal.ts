// Arithmetic on the decimal text of numbers, as people do it on paper: no digits that a double alone brings.

/** A decimal as an integer and the number of its decimal places. */
interface Scaled {
  readonly digits: bigint;
  readonly places: number;
}

/** The shortest decimal text of a finite number, taken apart exactly. */
function scaled(value: number): Scaled {
  const [mantissa = '0', exponent = '0'] = String(value).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  const places = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return places >= 0 ? { digits, places } : { digits: digits * 10n ** BigInt(-places), places: 0 };
}

/** Two finite numbers as integers of the same unit, and the number of its decimal places. */
function alike(a: number, b: number): readonly [bigint, bigint, number] {
  const [left, right] = [scaled(a), scaled(b)];
  const places = Math.max(left.places, right.places);
  const grow = (part: Scaled): bigint => part.digits * 10n ** BigInt(places - part.places);
  return [grow(left), grow(right), places];
}

/** `a - b` as people do it on paper: 13.6 - 13.1 is 0.5. Both must be finite. */
export function subtractDecimal(a: number, b: number): number {
  const [left, right, places] = alike(a, b);
  return Number(`${left - right}e-${places}`);
}

/** Where a value stands in the steps of a scale: `index` whole ones of `count` lie behind it. */
interface Steps {
  readonly index: number;
  readonly count: number;
}

/**
 * `part` in percent of `whole`, or of that many steps as wide as `whole`: one decimal, halves away from zero, exact. 0.29 is
 * 7.3 % of 4, although doubles say 7.249. All must be finite, `whole` above 0.
 */
export function percentDecimal(
  part: number,
  whole: number,
  { index, count }: Steps = { index: 0, count: 1 },
): number {
  const [inside, width] = alike(part, whole);
  const thousand = (BigInt(index) * width + inside) * 1000n;
  const under = BigInt(count) * width;
  const half = thousand < 0n ? -under : under;
  return Number(`${(2n * thousand + half) / (2n * under)}e-1`);
}

/** Rounds to `places` decimals, halves away from zero, on the decimal text of the number. */
export function roundDecimal(value: number, places: number): number {
  const { digits, places: have } = scaled(value);
  if (have <= places) return value;
  const unit = 10n ** BigInt(have - places);
  const half = digits < 0n ? -unit / 2n : unit / 2n;
  const rounded = Number(`${(digits + half) / unit}e-${places}`);
  return rounded === 0 ? 0 : rounded;
}
