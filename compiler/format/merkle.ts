// RFC 6962 §2.1 trees over any number of entries. Positions are plain numbers, so a tree has at most 2^53 - 1 entries.

/** SHA-256 of some bytes, which it does not keep; whoever calls brings the primitive. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array;

/** Bytes of every hash of a tree. */
export const HASH_BYTES = 32;

/** The hash of an entry: SHA-256 of 0x00 and the entry. */
export function leafHash(entry: Uint8Array, sha256: Sha256): Uint8Array {
  const bytes = new Uint8Array(1 + entry.length);
  bytes.set(entry, 1);
  return sha256(bytes);
}

/** What nodeHash hashes, in one memory for all of them: a log has as many nodes as entries. */
const nodeBytes = Uint8Array.of(1, ...new Uint8Array(2 * HASH_BYTES));

/** The hash of two subtrees: SHA-256 of 0x01, the left and the right hash. */
export function nodeHash(left: Uint8Array, right: Uint8Array, sha256: Sha256): Uint8Array {
  nodeBytes.set(left, 1);
  nodeBytes.set(right, 1 + HASH_BYTES);
  return sha256(nodeBytes);
}

/** A complete subtree: entries `index * 2^height` up to the next multiple of `2^height`. */
export interface Subtree {
  readonly height: number;
  readonly index: number;
}

/** Entries from `start` up to `end`, without `end`; one hash of a proof stands for one range. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** The complete subtrees that a range of a tree is made of, left to right. */
export function subtreesOf({ start, end }: Range): Subtree[] {
  const subtrees: Subtree[] = [];
  let at = start;
  while (at < end) {
    const height = heightWithin(end - at);
    subtrees.push({ height, index: at / 2 ** height });
    at += 2 ** height;
  }
  return subtrees;
}

/** The hash of a range from the hashes of its subtrees; SHA-256 of nothing for an empty one. */
export function hashOfSubtrees(hashes: readonly Uint8Array[], sha256: Sha256): Uint8Array {
  let root = hashes.at(-1) ?? sha256(new Uint8Array(0));
  for (let at = hashes.length - 2; at >= 0; at -= 1) {
    root = nodeHash(hashes[at] ?? root, root, sha256);
  }
  return root;
}

/**
 * The ranges whose hashes prove that entry `index` is in the tree of `size` entries, RFC 6962 §2.1.1; throws a RangeError
 * for an index outside.
 */
export function inclusionRanges(index: number, size: number): Range[] {
  if (!isPosition(index) || !isPosition(size) || index >= size) {
    throw new RangeError(`Cannot prove entry ${index}: the tree has ${size} entries`);
  }
  const ranges: Range[] = [];
  let [start, end] = [0, size];
  while (end - start > 1) {
    const middle = start + split(end - start);
    const isLeft = index < middle;
    ranges.push(isLeft ? { start: middle, end } : { start, end: middle });
    if (isLeft) end = middle;
    else start = middle;
  }
  return ranges.reverse();
}

/**
 * The ranges whose hashes prove that the tree of `size1` entries is the start of that of `size2`, RFC 6962 §2.1.2; throws a
 * RangeError unless 0 < size1 <= size2.
 */
export function consistencyRanges(size1: number, size2: number): Range[] {
  if (!isGrowth(size1, size2)) {
    throw new RangeError(`Cannot prove growth from ${size1} to ${size2} entries`);
  }
  const ranges: Range[] = [];
  let [start, end] = [0, size2];
  while (size1 < end) {
    const middle = start + split(end - start);
    const isLeft = size1 <= middle;
    ranges.push(isLeft ? { start: middle, end } : { start, end: middle });
    if (isLeft) end = middle;
    else start = middle;
  }
  // The old tree as a whole is known to whoever checks; a part of it is not.
  if (start > 0) ranges.push({ start, end });
  return ranges.reverse();
}

/** Neighbouring entries of a tree: their leaf hashes, and one hash for each range beside them, left to right. */
interface LeafRange {
  readonly size: number;
  /** Position of the first of them. */
  readonly start: number;
  readonly leaves: readonly Uint8Array[];
  readonly beside: readonly Uint8Array[];
}

/**
 * The ranges whose hashes prove which entries stand at the positions of a range, left to right; throws a RangeError for one
 * outside of the tree.
 */
export function besideRanges(stretch: Range, size: number): Range[] {
  const { start, end } = stretch;
  if (!isPosition(start) || !isPosition(size) || start >= end || end > size) {
    throw new RangeError(`Cannot prove entries ${start} to ${end}: the tree has ${size} entries`);
  }
  const ranges: Range[] = [];
  const walk = (part: Range): void => {
    if (part.end <= start || part.start >= end) ranges.push(part);
    else if (part.end - part.start > 1) halves(part).forEach(walk);
  };
  walk({ start: 0, end: size });
  return ranges;
}

/** The root that a stretch leads to; null for one that has no place in its tree, and for hashes too many or too few. */
export function stretchRoot(stretch: LeafRange, sha256: Sha256): Uint8Array | null {
  const { size, start, leaves, beside } = stretch;
  const end = start + leaves.length;
  if (!isPosition(start) || !isPosition(size) || leaves.length === 0 || end > size) return null;
  if (beside.length !== besideRanges({ start, end }, size).length) return null;
  if (!areHashes([...leaves, ...beside])) return null;
  const rest = [...beside];
  const hashOf = (part: Range): Uint8Array => {
    if (part.end <= start || part.start >= end) return rest.shift() as Uint8Array;
    if (part.end - part.start === 1) return leaves[part.start - start] as Uint8Array;
    const [left, right] = halves(part).map(hashOf) as [Uint8Array, Uint8Array];
    return nodeHash(left, right, sha256);
  };
  return hashOf({ start: 0, end: size });
}

/** The hashes of all complete subtrees by height, from the leaf hashes up. */
export function completeLevels(leaves: readonly Uint8Array[], sha256: Sha256): Uint8Array[][] {
  let below = [...leaves];
  const levels = [below];
  while (below.length > 1) {
    const pairs = Math.floor(below.length / 2);
    const level = below;
    below = Array.from({ length: pairs }, (_, at) =>
      nodeHash(level[2 * at] as Uint8Array, level[2 * at + 1] as Uint8Array, sha256),
    );
    levels.push(below);
  }
  return levels;
}

/** The hash of a range of a tree whose complete subtrees are known. */
export function rangeHash(
  range: Range,
  levels: readonly (readonly Uint8Array[])[],
  sha256: Sha256,
): Uint8Array {
  const hashes = subtreesOf(range).map(({ height, index }) => levels[height]?.[index]);
  return hashOfSubtrees(hashes as Uint8Array[], sha256);
}

/** The root over some leaf hashes, or over those of neighbouring complete subtrees of one height. */
export function rootOver(leaves: readonly Uint8Array[], sha256: Sha256): Uint8Array {
  return rangeHash({ start: 0, end: leaves.length }, completeLevels(leaves, sha256), sha256);
}

/** Where RFC 6962 §2.1 splits a tree: the left part is the largest complete one. */
function halves({ start, end }: Range): [Range, Range] {
  const middle = start + split(end - start);
  return [
    { start, end: middle },
    { start: middle, end },
  ];
}

/** The largest power of two below a number of entries. */
function split(count: number): number {
  return 2 ** heightWithin(count - 1);
}

/** Height of the largest complete subtree that has at most `count` entries; logarithms round near 2^53. */
function heightWithin(count: number): number {
  let height = 0;
  while (2 ** (height + 1) <= count) height += 1;
  return height;
}

function isPosition(number: number): boolean {
  return Number.isSafeInteger(number) && number >= 0;
}

interface Inclusion {
  readonly index: number;
  readonly size: number;
  readonly leaf: Uint8Array;
  readonly proof: readonly Uint8Array[];
  readonly root: Uint8Array;
}

/** Whether a proof leads from a leaf hash to the root; false for anything malformed, RFC 9162 §2.1.3.2. */
export function verifyInclusion(claim: Inclusion, sha256: Sha256): boolean {
  const { index, size, leaf, proof, root } = claim;
  if (!isPosition(index) || !isPosition(size) || index >= size) return false;
  const ranges = inclusionRanges(index, size);
  if (proof.length !== ranges.length || !areHashes([leaf, root, ...proof])) return false;
  let hash = leaf;
  for (const [at, { start }] of ranges.entries()) {
    const sibling = proof[at] ?? root;
    hash = start > index ? nodeHash(hash, sibling, sha256) : nodeHash(sibling, hash, sha256);
  }
  return isEqual(hash, root);
}

interface Consistency {
  readonly size1: number;
  readonly size2: number;
  readonly root1: Uint8Array;
  readonly root2: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/**
 * Whether a proof leads from an old root to a new one; false for anything malformed and for an empty old tree, RFC 9162
 * §2.1.4.2.
 */
export function verifyConsistency(claim: Consistency, sha256: Sha256): boolean {
  const { size1, size2, root1, root2, proof } = claim;
  if (!isGrowth(size1, size2)) return false;
  const ranges = consistencyRanges(size1, size2);
  if (proof.length !== ranges.length || !areHashes([root1, root2, ...proof])) return false;
  // The proof begins with the last part of the old tree, unless that part is the whole of it.
  const isWhole = ranges.every(({ start }) => start >= size1);
  const known = isWhole ? root1 : (proof[0] ?? root1);
  let [old, fresh] = [known, known];
  for (const [at, { start }] of ranges.entries()) {
    const sibling = proof[at] ?? root2;
    if (start >= size1) fresh = nodeHash(fresh, sibling, sha256);
    else if (at > 0) {
      old = nodeHash(sibling, old, sha256);
      fresh = nodeHash(sibling, fresh, sha256);
    }
  }
  return isEqual(old, root1) && isEqual(fresh, root2);
}

function isGrowth(size1: number, size2: number): boolean {
  return isPosition(size1) && isPosition(size2) && size1 >= 1 && size1 <= size2;
}

function areHashes(hashes: readonly Uint8Array[]): boolean {
  return hashes.every((hash) => hash.length === HASH_BYTES);
}

/** Whether two byte strings are equal; what is not there equals nothing. */
export function isEqual(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return a.length === b?.length && a.every((byte, at) => byte === b[at]);
}
