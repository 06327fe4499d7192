// The leaf of a release in the log: the hash of its head, appended once the head is signed. The head names a list that names
// `log/checkpoint`; the leaf comes right behind the tree of that checkpoint, and a proof beside the head shows it.

import type { Checkpoint } from './checkpoint.ts';
import type { LeafFacts } from './log-runs.ts';
import { hashOfSubtrees, leafHash, type Sha256 } from './merkle.ts';
import { type Release, releaseName } from './release.ts';
import { logEntry } from './tiles.ts';
import { isLeafProven, type ReadTlogProof } from './tlog-proof.ts';

/** Name of the proof beside the head; no list names it, because its checkpoint may get signatures of witnesses later. */
export const RELEASE_PROOF_NAME = 'release.tlog-proof';

/** What the leaf of a release stands for. */
export function releaseFacts(head: Pick<Release, 'sequence' | 'as_of'>): LeafFacts {
  return {
    kind: 'release',
    signal_id: null,
    entity: releaseName(head),
    observed_at: head.as_of,
  };
}

/** The write batch of what a compile itself adds to the log: the hour that it speaks about. */
export function releaseBatch({ as_of }: Pick<Release, 'as_of'>): string {
  return `${as_of.slice(0, 'YYYY-MM-DDTHH'.length)}Z`;
}

/** Why a proof is not that of a release; null where its tree is the listed one and the head alone. Signatures are for the caller to check. */
export function releaseProofFault(
  proof: ReadTlogProof,
  {
    recordHash,
    logIndex,
    log,
  }: {
    /** Hash of the head, as the next head names it. */
    recordHash: string;
    logIndex: number;
    /** What the listed `log/checkpoint` states. */
    log: Checkpoint;
  },
  sha256: Sha256,
): string | null {
  const { index, hashes, signed } = proof;
  if (log.size !== logIndex) return `the log has ${log.size} entries, the head states ${logIndex}`;
  if (index !== logIndex) return `it is about entry ${index}, the head is entry ${logIndex}`;
  if (signed.size !== log.size + 1) return `its tree has ${signed.size} entries`;
  if (signed.origin !== log.origin) return `its log is "${signed.origin}"`;
  const leaf = leafHash(logEntry(recordHash), sha256);
  if (!isLeafProven(proof, leaf, sha256)) return 'it does not lead from the head to its root';
  // The hashes of the last entry of a tree are the subtrees of all entries before it.
  const before = hashOfSubtrees([...hashes].reverse(), sha256);
  const isSame = before.every((byte, at) => byte === log.root[at]);
  return isSame ? null : 'its tree is not the one of the listed checkpoint and the head';
}
