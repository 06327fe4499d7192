/** A number as publishers write it: digits and at most one point, no exponent. */
const NUMBER = /^-?\d{1,15}(\.\d{1,12})?$/;

/** The number that a text writes; null for any other text, so that what cannot be read never becomes 0. */
export function numberOf(text: string): number | null {
  return NUMBER.test(text) ? Number(text) : null;
}
