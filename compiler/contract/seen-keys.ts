// What a reader keeps of the list of keys of an issuer, so that no list is taken later that forgets anything of it.

import { z } from 'zod';
import { canonicalJson } from './canonical.ts';
import { type KeyHistory, rootDid } from './key-history.ts';
import { did, KEYS_MAX } from './key-schema.ts';
import { RECORD_HASH } from './record-hash.ts';
import { ROOT_VERSIONS_MAX, rootBytes } from './root-statement.ts';

const hash = z.string().regex(RECORD_HASH);

/** The schema of what is kept of a list. */
export const seenKeysSchema = z.strictObject({
  /** Every issuer key, the oldest first. */
  dids: z.array(did).min(1).max(KEYS_MAX),
  /** The newest version of the root, and the hash of what its keys signed; null where no root stood above the keys. */
  root: z.strictObject({ version: z.int().min(1).max(ROOT_VERSIONS_MAX), hash }).nullable(),
  /** Hashes of what issuer keys stated: rotations, revocations, receipt keys. An earlier version kept none. */
  statements: z
    .array(hash)
    .max(3 * KEYS_MAX)
    .default([]),
});
export type SeenKeys = z.infer<typeof seenKeysSchema>;

/** The SHA-256 of some bytes in hex. */
type HexDigest = (bytes: Uint8Array) => string;

/** What to keep of a list. */
export function seenKeysOf(history: KeyHistory, sha256: HexDigest): SeenKeys {
  const { keys, roots = [] } = history;
  const newest = roots.at(-1);
  const root =
    newest === undefined
      ? null
      : { version: newest.version, hash: hashOf(rootBytes(newest), sha256) };
  return { dids: keys.map((key) => key.did), root, statements: statementsIn(history, sha256) };
}

/** What is known of an issuer of whom nothing was kept but a key. */
export function seenKey(keyDid: string): SeenKeys {
  return { dids: [keyDid], root: null, statements: [] };
}

/** Whether a list has a key that was seen: it is of the same issuer, whatever key it begins with. */
export function isOfSeen({ keys }: KeyHistory, { dids }: Pick<SeenKeys, 'dids'>): boolean {
  return keys.some((key) => dids.includes(key.did));
}

/** Why a list of the same issuer does not go on from what was seen, as the end of a sentence; null where it does. */
export function seenKeysFault(
  history: KeyHistory,
  seen: SeenKeys,
  sha256: HexDigest,
): string | null {
  const [first = ''] = seen.dids;
  if (rootDid(history) !== first)
    return `its list of keys does not begin with "${first}", as it did before`;
  const gone = seen.dids.find((each, at) => history.keys[at]?.did !== each);
  const statements = new Set(statementsIn(history, sha256));
  const isShorter = seen.statements.some((each) => !statements.has(each));
  return (
    rootFault(history, seen, sha256) ??
    (gone === undefined
      ? null
      : `its list of keys does not name "${gone}" where it stood before`) ??
    (isShorter ? 'its list of keys lacks a statement that was seen before' : null)
  );
}

function rootFault({ roots }: KeyHistory, { root }: SeenKeys, sha256: HexDigest): string | null {
  if (root === null) return null;
  const { version } = root;
  const known = roots?.find((each) => each.version === version);
  if (known === undefined)
    return `its list of keys lacks version ${version} of the root, which was seen before`;
  if (hashOf(rootBytes(known), sha256) === root.hash) return null;
  return `its list of keys has another version ${version} of the root than was seen before`;
}

function statementsIn({ keys, revocations, receipt_keys }: KeyHistory, sha256: HexDigest) {
  const rotations = keys.flatMap(({ statement }) => statement ?? []);
  const encoder = new TextEncoder();
  return [...rotations, ...revocations, ...(receipt_keys ?? [])].map((each) =>
    hashOf(encoder.encode(canonicalJson(each)), sha256),
  );
}

function hashOf(bytes: Uint8Array, sha256: HexDigest): string {
  return `sha256:${sha256(bytes)}`;
}
