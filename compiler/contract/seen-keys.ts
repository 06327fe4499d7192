// What a reader keeps of the list of keys of an issuer, so that no list is taken later that forgets a root or its first key.

import { z } from 'zod';
import { type KeyHistory, rootDid } from './key-history.ts';
import { did, KEYS_MAX } from './key-schema.ts';
import { RECORD_HASH } from './record-hash.ts';
import { ROOT_VERSIONS_MAX, type RootStatement, rootBytes } from './root-statement.ts';

/** The schema of what is kept of a list. */
export const seenKeysSchema = z.strictObject({
  /** Every issuer key, the oldest first. */
  dids: z.array(did).min(1).max(KEYS_MAX),
  /** The newest version of the root, and the hash of what its keys signed; null where no root stood above the keys. */
  root: z
    .strictObject({
      version: z.int().min(1).max(ROOT_VERSIONS_MAX),
      hash: z.string().regex(RECORD_HASH),
    })
    .nullable(),
});
export type SeenKeys = z.infer<typeof seenKeysSchema>;

/** The SHA-256 of some bytes in hex. */
type HexDigest = (bytes: Uint8Array) => string;

/** What to keep of a list. */
export function seenKeysOf({ keys, roots = [] }: KeyHistory, sha256: HexDigest): SeenKeys {
  const newest = roots.at(-1);
  const root =
    newest === undefined ? null : { version: newest.version, hash: hashOf(newest, sha256) };
  return { dids: keys.map((key) => key.did), root };
}

/** Whether a list has a key that was seen: it is of the same issuer, whatever key it begins with. */
export function isOfSeen({ keys }: KeyHistory, { dids }: Pick<SeenKeys, 'dids'>): boolean {
  return keys.some((key) => dids.includes(key.did));
}

/** Why a list of the same issuer does not go on from what was seen, as the end of a sentence; null where it does. */
export function seenKeysFault(
  history: KeyHistory,
  { dids, root }: SeenKeys,
  sha256: HexDigest,
): string | null {
  const [first = ''] = dids;
  if (rootDid(history) !== first)
    return `its list of keys does not begin with "${first}", as it did before`;
  if (root === null) return null;
  const { version, hash } = root;
  const known = history.roots?.find((each) => each.version === version);
  if (known === undefined)
    return `its list of keys lacks version ${version} of the root, which was seen before`;
  if (hashOf(known, sha256) === hash) return null;
  return `its list of keys has another version ${version} of the root than was seen before`;
}

function hashOf(root: RootStatement, sha256: HexDigest): string {
  return `sha256:${sha256(rootBytes(root))}`;
}
