/** Bits of the filter: 8 MB, and one useless look-up in a thousand new payments at 60,000 known ones. */
const BITS_LOG2 = 26;
const HEX_DIGITS = 7;
const MASK = 2 ** BITS_LOG2 - 1;
/** Bits of a page: 64 KB. */
const PAGE_LOG2 = 19;
const PAGE_MASK = 2 ** PAGE_LOG2 - 1;

/**
 * Which payment keys cannot be known: most payments are new, and asking the disk for each costs more than
 * the rest of its checks. It has no false negatives for what was added, and a false positive costs a look-up.
 */
export class KeyFilter {
  /** Each is made with the first key of it, so that a young journal takes no memory. */
  readonly #pages: (Uint8Array | undefined)[] = [];

  add(key: string): void {
    const bit = bitOf(key);
    const page = this.#pages[bit >>> PAGE_LOG2] ?? new Uint8Array(2 ** (PAGE_LOG2 - 3));
    this.#pages[bit >>> PAGE_LOG2] = page;
    const at = (bit & PAGE_MASK) >>> 3;
    page[at] = (page[at] ?? 0) | (1 << (bit & 7));
  }

  mayHave(key: string): boolean {
    const bit = bitOf(key);
    const byte = this.#pages[bit >>> PAGE_LOG2]?.[(bit & PAGE_MASK) >>> 3] ?? 0;
    return (byte & (1 << (bit & 7))) !== 0;
  }
}

/** Keys end with the nonce, which is random hex; any other ending shares a bit. */
function bitOf(key: string): number {
  const bits = Number.parseInt(key.slice(-HEX_DIGITS), 16);
  return Number.isNaN(bits) ? 0 : bits & MASK;
}
