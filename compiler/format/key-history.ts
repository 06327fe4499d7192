import { z } from 'zod';
import { canonicalJson } from './canonical.ts';
import { keyIdOf } from './citation.ts';
import { parseDidKey } from './did-key.ts';
import { defined } from './errors.ts';
import { RECORD_HASH } from './record-hash.ts';
import {
  type AdoptedKeys,
  checkRoots,
  did,
  isRootedIn,
  KEYS_MAX,
  ROOT_VERSIONS_MAX,
  type RootStatement,
  refuseKeys,
  rootBytes,
  rootStatement,
  type SignatureOf,
  time,
} from './root-statement.ts';

/** Where a release lists the issuer keys. */
export const KEYS_PATH = 'well-known/keys.json';
/** Longest list of keys that is read, in bytes. */
export const KEYS_BYTES_MAX = 1_048_576;

const rotation = z.strictObject({
  type: z.literal('rotation'),
  old_did: did,
  new_did: did,
  stated_at: time,
  valid_from: time,
  overlap_until: time,
  signature: z.string(),
});

const revocation = z.strictObject({
  type: z.literal('revocation'),
  did,
  revoked_from: time,
  stated_at: time,
  signed_by: did,
  signature: z.string(),
});

const issuerKey = z.strictObject({
  did,
  key_id: z.string(),
  valid_from: time.nullable(),
  valid_until: time.nullable(),
  revoked_from: time.nullable(),
  statement: rotation.nullable(),
});

const receiptKey = z.strictObject({
  type: z.literal('receipt_key'),
  did,
  since: time,
  until: time.nullable(),
  stated_at: time,
  signed_by: did,
  signature: z.string(),
});

const keyHistory = z.strictObject({
  // Version 2 has a root. Readers of before refuse it whole: they would not know what its root takes back.
  format: z.enum(['signalpress-keys/1', 'signalpress-keys/2']),
  keys: z.array(issuerKey).min(1).max(KEYS_MAX),
  revocations: z.array(revocation).max(KEYS_MAX),
  // Absent where none is listed, so that readers of before take such a list.
  receipt_keys: z.array(receiptKey).min(1).max(KEYS_MAX).exactOptional(),
  roots: z.array(rootStatement).min(1).max(ROOT_VERSIONS_MAX).exactOptional(),
});

/** An old key announces a new one; the old one stops at `overlap_until`. Its signature is over the canonical JSON of all other members. */
export type Rotation = z.infer<typeof rotation>;
/** Revokes a key from a given time on; signed by that key or a later one, like a rotation. */
export type Revocation = z.infer<typeof revocation>;
/**
 * Lists a key that signs receipts of the service, or ends one: a key counts only inside the windows of all statements
 * about it. Signed by an issuer key, like a rotation; `until` null for no end.
 */
export type ReceiptKey = z.infer<typeof receiptKey>;
type KeyStatement = Rotation | Revocation | ReceiptKey;
/**
 * One key; everything but `did` follows from the statements, and under a root from its newest version. The first one has no
 * `valid_from`: it is trusted beforehand.
 */
export type IssuerKey = z.infer<typeof issuerKey>;
/** The keys of one issuer, the oldest first. Under a root, the other statements are those of before it. */
export type KeyHistory = z.infer<typeof keyHistory>;

/** What an issuer key signs to announce, to revoke or to list another. */
export function statementBytes(statement: KeyStatement): Uint8Array {
  const { signature: _, ...signed } = statement;
  return new TextEncoder().encode(canonicalJson(signed));
}

/** The history of an issuer who has one key so far. */
export function firstHistory(rootDid: string): KeyHistory {
  return historyOf(rootDid, [], []);
}

/** The one history that these statements make, its derived members filled in. */
export function historyOf(
  rootDid: string,
  rotations: readonly Rotation[],
  revocations: readonly Revocation[],
): KeyHistory {
  const dids = [rootDid, ...rotations.map(({ new_did }) => new_did)];
  // From when each key is revoked. A key may revoke itself, and every later key an earlier one, unless that later key was
  // revoked itself by then; the earliest time counts, however often a statement is there.
  const revoked: (string | null)[] = dids.map(() => null);
  for (let at = dids.length - 1; at >= 0; at -= 1) {
    const counted = revocations.filter(({ did: subject, signed_by, stated_at }) => {
      const signer = dids.indexOf(signed_by);
      const isSilenced = signer > at && isAtOrAfter(stated_at, revoked[signer] ?? null);
      return subject === dids[at] && signer >= at && !isSilenced;
    });
    const times = counted.map((each) => each.revoked_from);
    const [earliest = null] = times.sort((a, b) => Date.parse(a) - Date.parse(b));
    revoked[at] = earliest;
  }
  const keys = dids.map((each, at): IssuerKey => {
    const statement = at === 0 ? null : (rotations[at - 1] ?? null);
    return {
      did: each,
      key_id: keyIdOf(each),
      valid_from: statement?.valid_from ?? null,
      valid_until: rotations[at]?.overlap_until ?? null,
      revoked_from: revoked[at] ?? null,
      statement,
    };
  });
  return { format: 'signalpress-keys/1', keys, revocations: [...revocations] };
}

/** The same history with these statements about receipt keys, in place of those that it had. */
export function withReceiptKeys(
  { receipt_keys: _, ...history }: KeyHistory,
  statements: readonly ReceiptKey[] = [],
): KeyHistory {
  return statements.length === 0 ? history : { ...history, receipt_keys: [...statements] };
}

/** What a history of before a root becomes under its versions. */
export function withRoots(history: KeyHistory, roots: readonly RootStatement[]): KeyHistory {
  const newest = roots.at(-1);
  if (newest === undefined) return history;
  const keys = newest.issuer_keys.map((stated, at): IssuerKey => {
    const statement = history.keys[at]?.statement ?? null;
    return { ...stated, key_id: keyIdOf(stated.did), statement };
  });
  return { ...history, format: 'signalpress-keys/2', keys, roots: [...roots] };
}

/** The history of before its root, which is all of it without one: what its own statements make. */
export function beforeRoots({ keys, revocations, receipt_keys }: KeyHistory): KeyHistory {
  const [first] = keys;
  const rotations = keys.flatMap(({ statement }) => statement ?? []);
  const history = historyOf(defined(first, 'the first key').did, rotations, revocations);
  return withReceiptKeys(history, receipt_keys);
}

/** What the first version of a root adopts: see checkRoots. */
export function adoptedKeys({ keys }: KeyHistory): AdoptedKeys {
  const adopter = keys.findLast(({ revoked_from }) => revoked_from === null)?.did ?? null;
  return { dids: keys.map((key) => key.did), adopter };
}

function isAtOrAfter(time: string, limit: string | null): boolean {
  return limit !== null && Date.parse(time) >= Date.parse(limit);
}

/**
 * Reads a list of keys and checks its chain of statements from the first key on; throws a RangeError that says what is
 * wrong.
 */
export function readKeyHistory(value: unknown, isSignedBy: SignatureOf): KeyHistory {
  const parsed = keyHistory.safeParse(value);
  if (!parsed.success) refuseKeys(`"${parsed.error.issues[0]?.path.join('.')}" is malformed`);
  const history = parsed.data;
  const { roots = [] } = history;
  const unvouched = history.keys.slice(1).find(({ statement }) => statement === null);
  if (unvouched !== undefined && roots.length === 0) {
    refuseKeys(`no statement vouches for "${unvouched.did}"`);
  }
  checkKeys(history);
  const before = beforeRoots(history);
  const rotations = before.keys.flatMap(({ statement }) => statement ?? []);
  for (const each of [...rotations, ...before.revocations, ...(before.receipt_keys ?? [])]) {
    checkSignature(each, isSignedBy);
  }
  checkRoots(roots, adoptedKeys(before), isSignedBy);
  if (canonicalJson(withRoots(before, roots)) !== canonicalJson(history)) {
    refuseKeys('its keys do not follow from their statements');
  }
  for (const [at, each] of rotations.entries()) checkRotation(each, before.keys[at]);
  return history;
}

function checkKeys({ keys, receipt_keys = [], roots = [] }: KeyHistory): void {
  const dids = new Set(keys.map((key) => key.did));
  if (dids.size !== keys.length) refuseKeys('it names a key twice');
  const receiptDids = receipt_keys.map((key) => key.did);
  const both = receiptDids.find((each) => dids.has(each));
  if (both !== undefined) refuseKeys(`"${both}" is an issuer key and a receipt key`);
  const rooted = roots.flatMap((root) => [
    ...root.root_keys,
    ...root.receipt_keys.map((key) => key.did),
  ]);
  for (const each of new Set([...dids, ...receiptDids, ...rooted])) {
    try {
      parseDidKey(each);
    } catch (cause) {
      refuseKeys(`"${each}" is not a usable key`, cause);
    }
  }
}

function checkSignature(statement: KeyStatement, isSignedBy: SignatureOf): void {
  const signer = statement.type === 'rotation' ? statement.old_did : statement.signed_by;
  let holds = false;
  try {
    holds = isSignedBy(signer, statementBytes(statement), statement.signature);
  } catch (cause) {
    refuseKeys(`a ${statement.type} by "${signer}" has a malformed signature`, cause);
  }
  if (!holds) refuseKeys(`the signature of a ${statement.type} is not that of "${signer}"`);
}

function checkRotation(statement: Rotation, old: IssuerKey | undefined): void {
  const { old_did, new_did, stated_at, valid_from, overlap_until } = statement;
  if (old_did !== old?.did) refuseKeys(`the key before "${new_did}" does not vouch for it`);
  if (isAtOrAfter(stated_at, old.revoked_from)) {
    refuseKeys(`"${new_did}" was announced by a key that was already revoked`);
  }
  const from = Date.parse(valid_from);
  if (old.valid_from !== null && from < Date.parse(old.valid_from)) {
    refuseKeys(`"${new_did}" is valid before the key that announced it`);
  }
  if (Date.parse(overlap_until) < from)
    refuseKeys(`there is a time without a valid key before "${new_did}"`);
}

/** The key that the history begins with. */
export function rootDid({ keys }: KeyHistory): string {
  return defined(keys[0], 'the first key').did;
}

/**
 * Whether a newer list includes everything in an older one: keys and versions of a root are only added, and no other
 * statement is ever withdrawn.
 */
export function isContinued(older: KeyHistory, newer: KeyHistory): boolean {
  const announcements = (history: KeyHistory): string[] => {
    const statements = history.keys.flatMap(({ statement }) => statement ?? []);
    return [rootDid(history), ...statements.map(canonicalJson)];
  };
  // More signatures make no other version.
  const rootVersions = ({ roots = [] }: KeyHistory): string[] =>
    roots.map((root) => new TextDecoder().decode(rootBytes(root)));
  const chains = [announcements, rootVersions].map(
    (chain) => [chain(older), chain(newer)] as const,
  );
  const others = (history: KeyHistory): string[] =>
    [...history.revocations, ...(history.receipt_keys ?? [])].map(canonicalJson);
  const later = new Set(others(newer));
  // Under a root no issuer key adds a statement, so that a thief of one cannot make two lists that contradict one another.
  if (older.roots !== undefined && others(newer).length > others(older).length) return false;
  return (
    chains.every(([before, after]) => before.every((each, at) => each === after[at])) &&
    others(older).every((each) => later.has(each))
  );
}

/** The text of a list of keys, as it is stored and published. */
export function formatKeyHistory(history: KeyHistory): string {
  return `${JSON.stringify(history, null, 2)}\n`;
}

// How the keys of a list stand: from when until when each counts, and which of them a reader believes.

/** How a key counts at a time; `suspect`: it was revoked later, so a thief could have back-dated the signature. */
type KeyStanding = 'valid' | 'unknown' | 'early' | 'stopped' | 'revoked' | 'suspect';

/** How a key of the history counts at a time, ISO-8601; a text that is not a time is never inside a window. */
export function keyStanding(history: KeyHistory, keyDid: string, at: string): KeyStanding {
  const index = history.keys.findIndex((each) => each.did === keyDid);
  const key = history.keys[index];
  if (key === undefined) return 'unknown';
  const now = Date.parse(at);
  if (key.revoked_from !== null) return now < Date.parse(key.revoked_from) ? 'suspect' : 'revoked';
  if (key.valid_until !== null && !(now <= Date.parse(key.valid_until))) return 'stopped';
  return now >= keyStart(history, keyDid) ? 'valid' : 'early';
}

/** From when on a key of the history counts, epoch milliseconds; the first one always did. */
export function keyStart({ keys }: KeyHistory, keyDid: string): number {
  const index = keys.findIndex((each) => each.did === keyDid);
  const from = keys[index]?.valid_from ?? null;
  if (from === null) return Number.NEGATIVE_INFINITY;
  // A key that was announced takes over at once when the one before it is revoked.
  const revoked = keys[index - 1]?.revoked_from ?? null;
  return Math.min(Date.parse(from), ...(revoked === null ? [] : [Date.parse(revoked)]));
}

/**
 * Whether the time of a key is over: by a clock, milliseconds since 1970, or, whatever the clock says, by what was stated
 * later. What it signs from then on may carry any date.
 */
export function hasEnded(
  history: KeyHistory,
  keyDid: string,
  now = Number.NEGATIVE_INFINITY,
): boolean {
  const { keys, revocations, receipt_keys = [], roots = [] } = history;
  const until = keys.find(({ did }) => did === keyDid)?.valid_until ?? null;
  const rotations = keys.flatMap(({ statement }) => statement ?? []);
  const statements = [...rotations, ...revocations, ...receipt_keys, ...roots];
  const newest = statements.map(({ stated_at }) => Date.parse(stated_at));
  return until !== null && Date.parse(until) < Math.max(now, ...newest);
}

/** How a receipt key counts at a time; `unlisted`: no statement about it counts. */
type ReceiptKeyStanding = 'listed' | 'unlisted' | 'early' | 'ended';

/**
 * How a receipt key counts at a time, ISO-8601. What a key stated outside of its own window counts for nothing, and nothing
 * of what a revoked key stated does, because a thief could have back-dated it: the next key lists the receipt keys again.
 */
export function receiptKeyStanding(
  history: KeyHistory,
  keyDid: string,
  at: string,
): ReceiptKeyStanding {
  const statements = receiptKeyWindows(history, keyDid);
  if (statements.length === 0) return 'unlisted';
  const now = Date.parse(at);
  if (!statements.every(({ since }) => now >= Date.parse(since))) return 'early';
  const isOpen = statements.every(({ until }) => until === null || now <= Date.parse(until));
  return isOpen ? 'listed' : 'ended';
}

/** The windows of a receipt key that count: all of them where issuer keys stated them, or the one of the newest version of a root. */
export function receiptKeyWindows(
  history: KeyHistory,
  keyDid: string,
): Pick<ReceiptKey, 'since' | 'until'>[] {
  const root = history.roots?.at(-1);
  if (root !== undefined) return root.receipt_keys.filter((key) => key.did === keyDid);
  return (history.receipt_keys ?? []).filter(({ did: subject, signed_by, stated_at }) => {
    return subject === keyDid && keyStanding(history, signed_by, stated_at) === 'valid';
  });
}

/** The keys that a release of this time may be signed with, oldest first: two in an overlap. */
export function validKeysAt(history: KeyHistory, at: string): IssuerKey[] {
  return history.keys.filter((key) => keyStanding(history, key.did, at) === 'valid');
}

/**
 * The keys of a list that trust reaches: each trusted issuer key and all behind it. Whoever names root keys trusts every key
 * of a list with a version that enough of them signed, and none of any other list.
 */
export function vouchedDids(
  history: KeyHistory,
  {
    issuers,
    roots = [],
  }: { readonly issuers: readonly string[]; readonly roots?: readonly string[] },
): string[] {
  const dids = history.keys.map((key) => key.did);
  if (roots.length > 0) {
    return history.roots?.some((root) => isRootedIn(root, roots)) === true ? dids : [];
  }
  const first = dids.findIndex((did) => issuers.includes(did));
  return first < 0 ? [] : dids.slice(first);
}

/** The root keys of all versions in a list: they sign versions of the root and nothing else. */
export function rootKeysOf({ roots = [] }: KeyHistory): ReadonlySet<string> {
  return new Set(roots.flatMap(({ root_keys }) => root_keys));
}

/** What a list says at a time, ISO-8601, in one line; null for one key that was never revoked and stands under no root. */
export function keysInWords(history: KeyHistory, at: string): string | null {
  const { keys, roots = [] } = history;
  const root = roots.at(-1);
  const revoked = keys.filter(({ revoked_from }) => revoked_from !== null).length;
  if (root === undefined && keys.length === 1 && revoked === 0) return null;
  const valid = validKeysAt(history, at).length;
  const counts = `${keys.length} issuer keys: ${valid} valid at ${at}, ${revoked} revoked`;
  if (root === undefined) return `${counts}; no root keys stand above them`;
  const { version, threshold, root_keys } = root;
  return `${counts}; named by version ${version} of a root, ${threshold} of ${root_keys.length} keys`;
}

// What a reader keeps of the list of keys of an issuer, so that no list is taken later that forgets anything of it.

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
  if (seen.root !== null) {
    const { version, hash: before } = seen.root;
    const known = history.roots?.find((each) => each.version === version);
    if (known === undefined)
      return `its list of keys lacks version ${version} of the root, which was seen before`;
    if (hashOf(rootBytes(known), sha256) !== before)
      return `its list of keys has another version ${version} of the root than was seen before`;
  }
  if (gone !== undefined) return `its list of keys does not name "${gone}" where it stood before`;
  return isShorter ? 'its list of keys lacks a statement that was seen before' : null;
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
