// What a `_proof` says beside its tlog-proof (FORMAT.md, section 5): the entry of the release that an answer came from, and the
// path from the statement of the body to the root over all statements of that release.

import { hexToBytes } from '@noble/hashes/utils.js';
import { HASH_BYTES, inclusionRanges, type Sha256, verifyInclusion } from '../../format/merkle.ts';
import { parseReleaseEntry, type ReleaseEntry } from '../../format/release-entry.ts';
import { statementLeaf } from '../../format/statement-tree.ts';

const LINE_END = 0x0a;

/** The `extra` of a proof, opened. Nothing of it is authenticated before the entry is proven and the path is walked. */
export interface ProofExtra {
  /** The bytes that are the entry of the log. */
  readonly entryBytes: Uint8Array;
  readonly entry: ReleaseEntry;
  /** Position among all statements of the release. */
  readonly index: number;
  /** The inclusion proof, the sibling of the leaf first. */
  readonly hashes: readonly Uint8Array[];
}

/** The bytes of an `extra`: the entry, a line end, the index in decimal, a line end, the hashes. */
export function formatProofExtra({
  entryBytes,
  index,
  hashes,
}: Omit<ProofExtra, 'entry'>): Uint8Array {
  const middle = new TextEncoder().encode(`\n${index}\n`);
  const bytes = new Uint8Array(entryBytes.length + middle.length + hashes.length * HASH_BYTES);
  bytes.set(entryBytes);
  bytes.set(middle, entryBytes.length);
  const start = entryBytes.length + middle.length;
  for (const [at, one] of hashes.entries()) bytes.set(one, start + at * HASH_BYTES);
  return bytes;
}

/** The inverse of formatProofExtra; throws a RangeError that says what is wrong for any other bytes. */
export function parseProofExtra(bytes: Uint8Array): ProofExtra {
  const first = bytes.indexOf(LINE_END);
  const second = bytes.indexOf(LINE_END, first + 1);
  const entryBytes = bytes.subarray(0, first);
  const entry = first > 0 ? parseReleaseEntry(entryBytes) : null;
  if (entry === null) throw unreadable('it does not begin with the entry of a release');
  const digits = new TextDecoder().decode(bytes.subarray(first + 1, second));
  const index = Number(digits);
  if (second < 0 || !/^(0|[1-9][0-9]{0,15})$/.test(digits) || index >= entry.all.count) {
    throw unreadable(`no position below ${entry.all.count} follows the entry`);
  }
  const rest = bytes.subarray(second + 1);
  const { length } = inclusionRanges(index, entry.all.count);
  if (rest.length !== length * HASH_BYTES) {
    throw unreadable(`its path has ${rest.length} bytes in place of ${length * HASH_BYTES}`);
  }
  const hashes = Array.from({ length }, (_, at) => {
    return rest.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES);
  });
  return { entryBytes, entry, index, hashes };
}

/** Whether the path leads from the statement that answers a target to the root that the entry states. */
export function isStatementProven(
  { entry, index, hashes }: Pick<ProofExtra, 'entry' | 'index' | 'hashes'>,
  { target, statement }: { readonly target: string; readonly statement: string },
  sha256: Sha256,
): boolean {
  const { count, root } = entry.all;
  return verifyInclusion(
    {
      index,
      size: count,
      leaf: statementLeaf(target, statement, sha256),
      proof: hashes,
      root: hexToBytes(root.slice('sha256:'.length)),
    },
    sha256,
  );
}

function unreadable(why: string): RangeError {
  return new RangeError(`Cannot read the extra data of a proof: ${why}; ask for it again`);
}
