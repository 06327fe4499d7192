import type { Checkpoint, SignedNote } from '../contract/checkpoint.ts';
import { defined } from '../contract/defined.ts';
import {
  completeLevels,
  consistencyRanges,
  HASH_BYTES,
  hashOfSubtrees,
  leafHash,
  type Range,
  type Subtree,
  subtreesOf,
} from '../contract/merkle.ts';
import { logEntry, tileOfSubtree, tilePath } from '../contract/tiles.ts';
import { parseTlogProof } from '../contract/tlog-proof.ts';
import { sha256 } from '../stages/anchor/log-tree.ts';
import type { PreviousRelease } from '../stages/anchor/previous-log.ts';
import { canonicalDigest } from '../stages/seal/canonical-digest.ts';
import { judgeNote } from '../verify/log-notes.ts';

/** The newest checkpoint of a release, which ends in its head, as witnesses are asked to cosign it. */
export interface AskedLog {
  readonly note: SignedNote;
  readonly signed: Checkpoint;
  /** That it goes on from so many entries, at least 1: a proof of RFC 6962 §2.1.2. */
  proofFrom(size: number): Uint8Array[];
}

/** Opens the log of the current release; throws a RangeError for one without a leaf, or whose proof its issuer did not sign. */
export function askedLog(release: PreviousRelease): AskedLog {
  const { leaf } = release;
  if (leaf === null) {
    throw new RangeError(
      'Cannot ask witnesses: the current release has no place in a log; run "signalpress compile" with this version first',
    );
  }
  const { note, signed, checkpoint, index } = parseTlogProof(leaf.proof);
  const { fault } = judgeNote(checkpoint, [leaf.head.issuer_did]);
  if (fault !== null) {
    throw new RangeError(`Cannot ask witnesses about the log of the current release: ${fault}`);
  }
  const own = leafHash(logEntry(canonicalDigest(leaf.head)), sha256);
  const tree = { size: index, own, read: (path: string) => release.read(path) };
  return {
    note,
    signed,
    proofFrom: (size) => consistencyRanges(size, signed.size).map((range) => hashOf(range, tree)),
  };
}

interface Tree {
  /** Entries in the tiles; one more stands behind them. */
  readonly size: number;
  /** Leaf hash of that one. */
  readonly own: Uint8Array;
  readonly read: (path: string) => Uint8Array | null;
}

function hashOf(range: Range, tree: Tree): Uint8Array {
  const { start, end } = range;
  if (start === tree.size) return tree.own;
  const inTiles = subtreesOf({ start, end: Math.min(end, tree.size) }).map((subtree) =>
    tiledHash(subtree, tree),
  );
  if (end <= tree.size) return hashOfSubtrees(inTiles, sha256);
  // Complete subtrees of the same height join, as they do where an entry is appended.
  return hashOfSubtrees([...inTiles, tree.own], sha256);
}

/** The hash of a complete subtree, from the tile that holds it. */
function tiledHash(subtree: Subtree, { size, read }: Tree): Uint8Array {
  const { tile, height, offset } = tileOfSubtree(subtree, size);
  const path = tilePath(tile);
  const bytes = read(path);
  if (bytes === null) throw new RangeError(`Cannot ask witnesses: "${path}" is missing here`);
  const hashes = Array.from({ length: 2 ** height }, (_, at) =>
    bytes.slice((offset + at) * HASH_BYTES, (offset + at + 1) * HASH_BYTES),
  );
  const [root] = defined(completeLevels(hashes, sha256).at(-1), 'the top of a subtree');
  return defined(root, 'the hash of a subtree');
}
