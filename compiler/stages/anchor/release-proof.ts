import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { logOrigin } from '../../contract/checkpoint.ts';
import { hashOfSubtrees, leafHash } from '../../contract/merkle.ts';
import type { Release } from '../../contract/release.ts';
import { RELEASE_PROOF_NAME } from '../../contract/release-leaf.ts';
import { logEntry } from '../../contract/tiles.ts';
import { formatTlogProof } from '../../contract/tlog-proof.ts';
import type { Press } from '../publish/press.ts';
import { canonicalDigest } from '../seal/jcs.ts';
import { sha256 } from './log-tree.ts';
import { signCheckpoint } from './previous-log.ts';
import type { WrittenLog } from './write-log.ts';

interface SignedRelease extends Pick<WrittenLog, 'size' | 'peaks'> {
  readonly release: Release;
}

/** Appends the head to its log, and writes the proof beside it; returns the signed note of the log with it. */
export function writeReleaseProof(
  root: string,
  { release, size, peaks }: SignedRelease,
  press: Pick<Press, 'issuer' | 'sealer'>,
): string {
  const leaf = leafHash(logEntry(canonicalDigest(release)), sha256);
  const tree = { size: size + 1, root: hashOfSubtrees([...peaks, leaf], sha256) };
  const origin = logOrigin(press.issuer.baseUrl);
  const checkpoint = signCheckpoint({ origin, ...tree }, press);
  const proof = formatTlogProof({ index: size, hashes: [...peaks].reverse(), checkpoint });
  writeFileSync(join(root, RELEASE_PROOF_NAME), proof, { flag: 'wx' });
  return checkpoint;
}
