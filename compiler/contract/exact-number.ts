/** Whether a double prints the same decimal number that the JSON text spells; the sign of zero is left aside. */
export function isExact(written: string, value: number): boolean {
  return decimal(written) === decimal(String(value));
}

/** The number that a text spells, without its sign, as significant digits and a power of ten: `0.050` is `5e-2`. */
function decimal(written: string): string {
  const [mantissa = '', exponent = '0'] = written.replace(/^-/, '').toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = whole + fraction;
  let first = 0;
  let last = digits.length;
  while (digits[first] === '0') first += 1;
  while (last > first && digits[last - 1] === '0') last -= 1;
  if (first === last) return '0';
  return `${digits.slice(first, last)}e${Number(exponent) - fraction.length + digits.length - last}`;
}
