// The entry of a release in the log (FORMAT.md, section 5): the only kind of entry that is written. It states the root over all
// statements that are current in the release, and the root over the record hashes that the release took in.

import { bytesToHex } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { canonicalJson } from './canonical.ts';
import { INVENTED_HASH, member } from './members.ts';
import { hashOfSubtrees, leafHash, type Sha256 } from './merkle.ts';
import { RECORD_HASH } from './record-hash.ts';
import { decodeUtf8, parseJson } from './strict-json.ts';

const hash = z
  .string()
  .regex(RECORD_HASH)
  .meta({ examples: [INVENTED_HASH] });
const tree = z.strictObject({ count: member.count, root: member.root });

/** An entry, parsed. */
export const releaseEntrySchema = z.strictObject({
  /** Over the statements of `statement-tree.ts`. */
  all: tree.describe('tree over the statements that the release answers with'),
  as_of: member.as_of,
  /** Hash of the canonical head with its signature, as `previous` of the next head names it. */
  head: hash.describe('hash of the canonical head of the release with its signature'),
  new: tree.describe('tree over the record hashes that the release took in'),
  sequence: member.sequence,
  valid_until: z.iso
    .datetime()
    .nullable()
    .describe('UTC date-time when to look for a newer release; null if none was promised'),
});

/** What a log says of one release. */
export type ReleaseEntry = z.infer<typeof releaseEntrySchema>;

/** Longest text of an entry. */
export const RELEASE_ENTRY_BYTES_MAX = 1024;

/** The bytes of an entry: its canonical JSON. */
export function releaseEntryBytes(entry: ReleaseEntry): Uint8Array {
  return new TextEncoder().encode(canonicalJson(releaseEntrySchema.parse(entry)));
}

/** The inverse of releaseEntryBytes; null for any other bytes, such as an entry of the first format. */
export function parseReleaseEntry(bytes: Uint8Array): ReleaseEntry | null {
  if (bytes.length > RELEASE_ENTRY_BYTES_MAX) return null;
  try {
    const text = decodeUtf8(bytes);
    const entry = releaseEntrySchema.parse(parseJson(text));
    return canonicalJson(entry) === text ? entry : null;
  } catch {
    return null;
  }
}

/** Count and root of a tree, spelled as an entry spells them, from the hashes of its complete subtrees, left to right. */
export function treeHead(count: number, subtrees: readonly Uint8Array[], sha256: Sha256) {
  return { count, root: `sha256:${bytesToHex(hashOfSubtrees(subtrees, sha256))}` };
}

/** The leaf hash of a record hash in the tree of what a release took in: its text is 71 bytes long. */
export function takenLeaf(recordHash: string, sha256: Sha256): Uint8Array {
  if (!RECORD_HASH.test(recordHash)) {
    throw new RangeError(`Cannot log "${recordHash.slice(0, 80)}": not a record hash`);
  }
  return leafHash(new TextEncoder().encode(recordHash), sha256);
}
