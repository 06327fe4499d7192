import { sha256 } from '@noble/hashes/sha2.js';
import type { Checkpoint } from '../contract/checkpoint.ts';
import type { Release } from '../contract/release.ts';
import { RELEASE_PROOF_NAME, releaseProofFault } from '../contract/release-leaf.ts';
import { decodeUtf8 } from '../contract/strict-json.ts';
import { parseTlogProof, type ReadTlogProof } from '../contract/tlog-proof.ts';
import { canonicalHash, reason } from './body-check.ts';
import { judgeNote } from './log-notes.ts';
import type { LogSource } from './log-source.ts';

const HASH_BYTES = 32;

/** A checkpoint with the note that signs it. */
export interface Signed {
  readonly checkpoint: Checkpoint;
  readonly note: string;
}

/**
 * The checkpoint of the log with the head of the release in it: it must extend the listed one by the hash of the head alone.
 * Null for a release from before there were any, and, with a fault, where the proof beside the head does not hold.
 */
export function provenHead(
  source: LogSource,
  log: Checkpoint,
  issuers: readonly string[],
): Signed | null {
  const { log_index: logIndex } = source.head;
  const bytes = logIndex === undefined ? null : source.proof();
  if (logIndex === undefined || bytes === null) return null;
  try {
    const proof = parseTlogProof(decodeUtf8(bytes));
    const leaf = { recordHash: canonicalHash(source.head), logIndex, log };
    const fault = releaseProofFault(proof, leaf, sha256) ?? signatureFault(proof, issuers);
    if (fault === null) return { checkpoint: proof.signed, note: proof.checkpoint };
    source.faults.add(RELEASE_PROOF_NAME, '', fault);
  } catch (error) {
    source.faults.add(RELEASE_PROOF_NAME, '', reason(error));
  }
  return null;
}

function signatureFault({ checkpoint }: ReadTlogProof, issuers: readonly string[]): string | null {
  return judgeNote(checkpoint, issuers).fault;
}

/** Every older release that is kept beside this one and states its place in the log stands there. */
export function checkHeadsLogged(
  { head, faults }: LogSource,
  kept: readonly Release[],
  digests: Buffer,
): void {
  for (const { sequence, log_index: at, ...rest } of kept) {
    if (at === undefined || sequence >= head.sequence) continue;
    const hash = canonicalHash({ sequence, log_index: at, ...rest });
    const entry = digests.toString('hex', at * HASH_BYTES, (at + 1) * HASH_BYTES);
    if (hash === `sha256:${entry}`) continue;
    faults.add(
      'log',
      `entry ${at}`,
      `not the head of release ${sequence}, which states to be there`,
    );
  }
}
