// The tree over all statements that are current in a release (FORMAT.md, section 5). Its leaves are sorted by target, each target
// once. It is stored in blocks of 256 leaves with the hashes above them, so that one read and the roots of all blocks give the
// path of any leaf. RFC 6962 splits a tree of blocks where it splits their leaves.

import { canonicalJson } from './canonical.ts';
import {
  completeLevels,
  HASH_BYTES,
  inclusionRanges,
  leafHash,
  rangeHash,
  type Sha256,
} from './merkle.ts';

/** Leaves of a full block. */
export const BLOCK_LEAVES = 256;
/** Folder of the blocks in a release. */
export const STATEMENTS_FOLDER = 'statements';
/** One line a block, in their order: the root of its leaves in hex, a space, the target of its first leaf. */
export const BLOCKS_PATH = `${STATEMENTS_FOLDER}/blocks.txt`;

/** Where a block stands in a release, by its number. */
export function blockFilePath(number: number): string {
  return `${STATEMENTS_FOLDER}/${String(number).padStart(6, '0')}.bin`;
}

/** The hash of the leaf that says which statement answers a target: path and query of the request, as the citation signs it. */
export function statementLeaf(target: string, statement: string, sha256: Sha256): Uint8Array {
  return leafHash(new TextEncoder().encode(canonicalJson([target, statement])), sha256);
}

/** The bytes of a block: its leaf hashes, then the hashes of its complete subtrees, height by height. */
export function blockBytes(leaves: readonly Uint8Array[], sha256: Sha256): Uint8Array {
  const hashes = completeLevels(leaves, sha256).flat();
  const bytes = new Uint8Array(hashes.length * HASH_BYTES);
  for (const [at, one] of hashes.entries()) bytes.set(one, at * HASH_BYTES);
  return bytes;
}

/** The levels of a block of some leaves; throws a RangeError for bytes of another length. */
export function blockLevels(bytes: Uint8Array, leaves: number): Uint8Array[][] {
  const levels: Uint8Array[][] = [];
  let at = 0;
  for (let width = leaves; width >= 1; width = Math.floor(width / 2)) {
    levels.push(
      Array.from({ length: width }, (_, one) => {
        return bytes.subarray((at + one) * HASH_BYTES, (at + one + 1) * HASH_BYTES);
      }),
    );
    at += width;
  }
  if (bytes.length !== at * HASH_BYTES) {
    throw new RangeError(`Cannot read a block of ${leaves} statements: ${bytes.length} bytes`);
  }
  return levels;
}

/** How many leaves a block has in a tree of `count` leaves. */
export function blockWidth(number: number, count: number): number {
  return Math.min(BLOCK_LEAVES, count - number * BLOCK_LEAVES);
}

/** The inclusion proof of a leaf, its sibling first: from the levels of its block, and from those of the tree of all blocks. */
export function statementPath(
  { index, count }: { readonly index: number; readonly count: number },
  block: readonly (readonly Uint8Array[])[],
  blocks: readonly (readonly Uint8Array[])[],
  sha256: Sha256,
): Uint8Array[] {
  const number = Math.floor(index / BLOCK_LEAVES);
  const inner = inclusionRanges(index % BLOCK_LEAVES, blockWidth(number, count));
  const outer = inclusionRanges(number, Math.ceil(count / BLOCK_LEAVES));
  return [
    ...inner.map((range) => rangeHash(range, block, sha256)),
    ...outer.map((range) => rangeHash(range, blocks, sha256)),
  ];
}
