/** Bits of the filter: 8 MB, and one useless look-up in a thousand new payments at 60,000 known ones. */
const BITS_LOG2 = 26;
const HEX_DIGITS = 7;
const MASK = 2 ** BITS_LOG2 - 1;

/**
 * Which payment keys cannot be known: most payments are new, and asking the disk for each costs more than
 * the rest of its checks. It has no false negatives for what was added, and a false positive costs a look-up.
 */
export class KeyFilter {
  readonly #bits = new Uint8Array(2 ** (BITS_LOG2 - 3));

  add(key: string): void {
    const bit = bitOf(key);
    this.#bits[bit >>> 3] = (this.#bits[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }

  mayHave(key: string): boolean {
    const bit = bitOf(key);
    return ((this.#bits[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  }
}

/** Keys end with the nonce, which is random hex; any other ending shares a bit. */
function bitOf(key: string): number {
  const bits = Number.parseInt(key.slice(-HEX_DIGITS), 16);
  return Number.isNaN(bits) ? 0 : bits & MASK;
}
