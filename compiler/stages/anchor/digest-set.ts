import { HASH_BYTES } from '../../contract/merkle.ts';

const CAPACITY_START = 1024;

/** Digests in the order in which they were added, each once, in 48 bytes a digest and no object for any. */
export class DigestSet {
  #held = Buffer.alloc(CAPACITY_START * HASH_BYTES);
  /** Position + 1 by hash of the digest, 0 for a free slot; at most half full. */
  #slots = new Uint32Array(2 * CAPACITY_START);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** All digests, one behind the other; valid until the next one is added. */
  get bytes(): Buffer {
    return this.#held.subarray(0, this.#size * HASH_BYTES);
  }

  /** Adds a digest of 32 bytes; false when it is there already. */
  add(digest: Buffer): boolean {
    if (this.#size * HASH_BYTES === this.#held.length) this.#grow();
    const slot = this.#slotOf(digest, 0);
    if (this.#slots[slot] !== 0) return false;
    digest.copy(this.#held, this.#size * HASH_BYTES, 0, HASH_BYTES);
    this.#size += 1;
    this.#slots[slot] = this.#size;
    return true;
  }

  /** The slot of the digest at a place of some bytes, or the free one where it belongs; digests are spread evenly by themselves. */
  #slotOf(bytes: Buffer, start: number): number {
    const mask = this.#slots.length - 1;
    const end = start + HASH_BYTES;
    let slot = bytes.readUInt32BE(start + 4) & mask;
    for (let held = this.#slots[slot]; held; held = this.#slots[slot]) {
      const at = (held - 1) * HASH_BYTES;
      if (this.#held.compare(bytes, start, end, at, at + HASH_BYTES) === 0) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #grow(): void {
    const bytes = Buffer.alloc(2 * this.#held.length);
    bytes.set(this.#held);
    this.#held = bytes;
    this.#slots = new Uint32Array(2 * this.#slots.length);
    for (let position = 0; position < this.#size; position += 1) {
      this.#slots[this.#slotOf(bytes, position * HASH_BYTES)] = position + 1;
    }
  }
}
