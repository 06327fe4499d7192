import { z } from 'zod';
import { canonicalJson } from './canonical.ts';
import { keyIdOf } from './citation.ts';
import { defined } from './defined.ts';
import { parseDidKey } from './did-key.ts';
import { did, KEYS_MAX, refuseKeys, type SignatureOf, time } from './key-schema.ts';
import {
  type AdoptedKeys,
  checkRoots,
  ROOT_VERSIONS_MAX,
  type RootStatement,
  rootBytes,
  rootStatement,
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
/** Whatever an issuer key states about keys. */
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
  const revoked = revokedFrom(dids, revocations);
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

/**
 * From when each key is revoked. A key may revoke itself, and every later key an earlier one, unless that later key was
 * revoked itself by then; the earliest time counts, however often a statement is there.
 */
function revokedFrom(dids: readonly string[], revocations: readonly Revocation[]) {
  const revoked: (string | null)[] = dids.map(() => null);
  for (let at = dids.length - 1; at >= 0; at -= 1) {
    const counted = revocations.filter(({ did: subject, signed_by, stated_at }) => {
      const signer = dids.indexOf(signed_by);
      const isSilenced = signer > at && isAtOrAfter(stated_at, revoked[signer] ?? null);
      return subject === dids[at] && signer >= at && !isSilenced;
    });
    revoked[at] = earliest(counted.map((each) => each.revoked_from));
  }
  return revoked;
}

function earliest(times: readonly string[]): string | null {
  const [first] = [...times].sort((a, b) => Date.parse(a) - Date.parse(b));
  return first ?? null;
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

function announcements(history: KeyHistory): string[] {
  const statements = history.keys.flatMap(({ statement }) => statement ?? []);
  return [rootDid(history), ...statements.map(canonicalJson)];
}

/** What was signed of each version of a root: more signatures make no other version. */
function rootVersions({ roots = [] }: KeyHistory): string[] {
  const decoder = new TextDecoder();
  return roots.map((root) => decoder.decode(rootBytes(root)));
}

/** The text of a list of keys, as it is stored and published. */
export function formatKeyHistory(history: KeyHistory): string {
  return `${JSON.stringify(history, null, 2)}\n`;
}
