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

/** `a - b` as people do it on paper: 13.6 - 13.1 is 0.5. Both must be finite. */
export function subtractDecimal(a: number, b: number): number {
  const left = scaled(a);
  const right = scaled(b);
  const places = Math.max(left.places, right.places);
  const grow = (part: Scaled): bigint => part.digits * 10n ** BigInt(places - part.places);
  return Number(`${grow(left) - grow(right)}e-${places}`);
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
