import { sha256 } from '@noble/hashes/sha2.js';

const LEAF = 0;
const NODE = 1;

/** The leaf hash of an entry, RFC 6962 §2.1. */
export function leafOf(entry: Uint8Array): Uint8Array {
  return sha256.create().update(Uint8Array.of(LEAF)).update(entry).digest();
}

/** The hash over two subtrees, RFC 6962 §2.1. */
function nodeOf(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256.create().update(Uint8Array.of(NODE)).update(left).update(right).digest();
}

/** A tree that is counted up leaf by leaf like a binary number; whoever made the log shares nothing with it. */
export class RecomputedTree {
  size = 0;
  /** A complete subtree for each bit of the size, lowest first. */
  readonly #bits: (Uint8Array | null)[] = [];
  readonly #onSubtree: (height: number, hash: Uint8Array) => void;

  /** `onSubtree` hears of every subtree as it becomes complete. */
  constructor(onSubtree: (height: number, hash: Uint8Array) => void) {
    this.#onSubtree = onSubtree;
  }

  add(leaf: Uint8Array): void {
    this.size += 1;
    let carry = leaf;
    let height = 0;
    this.#onSubtree(height, carry);
    for (let held = this.#bits[height]; held; held = this.#bits[height]) {
      this.#bits[height] = null;
      carry = nodeOf(held, carry);
      height += 1;
      this.#onSubtree(height, carry);
    }
    this.#bits[height] = carry;
  }

  root(): Uint8Array {
    let root: Uint8Array | null = null;
    for (const held of this.#bits) {
      if (held) root = root === null ? held : nodeOf(held, root);
    }
    return root ?? sha256(new Uint8Array(0));
  }
}
