import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { anchorProofPath, formatAnchorState, parseAnchorState } from '../contract/log-batch.ts';
import { attestationsOf, parseProof } from '../contract/ots-proof.ts';
import { decodeUtf8 } from '../contract/strict-json.ts';
import { reason } from './body-check.ts';
import type { LogSource } from './log-source.ts';

const STATE = /^log\/anchor\/([0-9a-f]{64})\.json$/;

/** Roots with a timestamp, by what their proof shows. */
export interface AnchorCounts {
  readonly pending: number;
  readonly confirmed: number;
}

/** Compares every timestamp state with its proof; headers of blocks are not at hand, so no block is vouched for. */
export function checkAnchors(source: LogSource, roots: ReadonlySet<string>): AnchorCounts {
  const counts = { pending: 0, confirmed: 0 };
  for (const path of source.paths) {
    if (!path.startsWith('log/anchor/')) continue;
    const root = STATE.exec(path)?.[1];
    if (root === undefined) {
      checkOwned(path, source);
      continue;
    }
    try {
      counts[stateOf(path, root, source)] += 1;
      if (!roots.has(root)) throw new RangeError('no batch has this root');
    } catch (error) {
      source.faults.add(path, '', reason(error));
    }
  }
  return counts;
}

function checkOwned(path: string, { paths, faults }: LogSource): void {
  const state = path.replace(/\.ots$/, '.json');
  if (!STATE.test(state) || !paths.has(state))
    faults.add(path, '', 'belongs to no timestamp state');
}

function stateOf(path: string, root: string, source: LogSource): 'pending' | 'confirmed' {
  const text = decodeUtf8(source.read(path) ?? new Uint8Array(0));
  const state = parseAnchorState(text);
  if (formatAnchorState(state) !== text || state.root !== root) {
    throw new RangeError('not the state of this root as compile writes it');
  }
  const proof = source.read(anchorProofPath(root)) ?? new Uint8Array(0);
  const heights = new Set<number>();
  for (const { message, attestation } of attestationsOf(parseProof(proof, hexToBytes(root)))) {
    const isRoot = bytesToHex(message).length === 64;
    if (attestation.kind === 'bitcoin' && isRoot) heights.add(attestation.height);
  }
  if (state.ots_state === 'pending' && state.bitcoin_height === null) return 'pending';
  if (state.bitcoin_height === null || !heights.has(state.bitcoin_height)) {
    throw new RangeError('its proof does not lead to the block that it names');
  }
  return 'confirmed';
}
