import { HASH_BYTES } from '../../contract/merkle.ts';

const CAPACITY_START = 1024;

/** Digests in the order in which they were added, each once, in 48 bytes a digest and no object for any. */
export class DigestSet {
  #bytes = Buffer.alloc(CAPACITY_START * HASH_BYTES);
  /** Position + 1 by hash of the digest, 0 for a free slot; at most half full. */
  #slots = new Uint32Array(2 * CAPACITY_START);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a digest of 32 bytes; false when it is there already. */
  add(digest: Uint8Array): boolean {
    const slot = this.#slotOf(digest);
    if (this.#slots[slot] !== 0) return false;
    if (this.#size * HASH_BYTES === this.#bytes.length) {
      this.#grow();
      return this.add(digest);
    }
    this.#bytes.set(digest, this.#size * HASH_BYTES);
    this.#size += 1;
    this.#slots[slot] = this.#size;
    return true;
  }

  /** The digest at a position; valid until the next one is added. */
  at(position: number): Buffer {
    return this.#bytes.subarray(position * HASH_BYTES, (position + 1) * HASH_BYTES);
  }

  /** The slot of a digest, or the free one where it belongs; digests are spread evenly by themselves. */
  #slotOf(digest: Uint8Array): number {
    const mask = this.#slots.length - 1;
    const view = new DataView(digest.buffer, digest.byteOffset, HASH_BYTES);
    let slot = view.getUint32(4) & mask;
    for (let held = this.#slots[slot]; held; held = this.#slots[slot]) {
      if (this.at(held - 1).equals(digest)) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #grow(): void {
    const bytes = Buffer.alloc(2 * this.#bytes.length);
    bytes.set(this.#bytes);
    this.#bytes = bytes;
    this.#slots = new Uint32Array(2 * this.#slots.length);
    for (let position = 0; position < this.#size; position += 1) {
      this.#slots[this.#slotOf(this.at(position))] = position + 1;
    }
  }
}
