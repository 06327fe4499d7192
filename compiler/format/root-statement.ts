import { z } from 'zod';
import { canonicalJson } from './canonical.ts';

/** Most keys of one issuer, most revocations, and most statements about receipt keys: one a month for twenty years. */
export const KEYS_MAX = 256;

/** A DID of an Ed25519 key, and a time, as statements about keys name them. */
export const did = z.string().startsWith('did:key:z6Mk').max(80);
export const time = z.iso.datetime();

/** Whether a base64url Ed25519 signature is the DID's over these bytes; may throw for a malformed one. */
export type SignatureOf = (did: string, bytes: Uint8Array, signature: string) => boolean;

/** Says why a list of keys proves nothing, as a RangeError. */
export function refuseKeys(state: string, cause?: unknown): never {
  throw new RangeError(
    `Cannot trust the list of issuer keys: ${state}; take the one that the issuer publishes`,
    { cause },
  );
}

// Offline root keys: a threshold of them says which keys sign for an issuer, as the root role of TUF does. They lie on media
// of their own, and no release needs them. A statement names every key; the newest version counts, whatever was stated before.

/** Most versions of a root: one a quarter for sixteen years. */
export const ROOT_VERSIONS_MAX = 64;
const ROOT_KEYS_MAX = 8;
/** Most issuer keys that one version may name for the first time. */
const NEW_KEYS_MAX = 8;
/** Fewest root keys that have to sign: one alone would be as easily lost or stolen as an issuer key. */
export const ROOT_THRESHOLD_MIN = 2;

const statedKey = z.strictObject({
  did,
  valid_from: time.nullable(),
  valid_until: time.nullable(),
  revoked_from: time.nullable(),
});

const statedReceiptKey = z.strictObject({ did, since: time, until: time.nullable() });

/** The schema of one version of a root. */
export const rootStatement = z.strictObject({
  type: z.literal('root'),
  issuer: did,
  version: z.int().min(1),
  stated_at: time,
  threshold: z.int().min(ROOT_THRESHOLD_MIN),
  root_keys: z.array(did).min(ROOT_THRESHOLD_MIN).max(ROOT_KEYS_MAX),
  issuer_keys: z.array(statedKey).min(1).max(KEYS_MAX),
  receipt_keys: z.array(statedReceiptKey).max(KEYS_MAX),
  signatures: z
    .array(z.strictObject({ did, signature: z.string().max(86) }))
    .max(2 * ROOT_KEYS_MAX + NEW_KEYS_MAX + 1),
});

/**
 * One version of a root. `issuer` is the first key of the list, so that no other issuer can use the statement. The issuer
 * keys are all that there ever were, the oldest first; they sign releases, citations and checkpoints of the log.
 */
export type RootStatement = z.infer<typeof rootStatement>;

/** What the keys of a root sign. */
export function rootBytes({ signatures: _, ...signed }: RootStatement): Uint8Array {
  return new TextEncoder().encode(canonicalJson(signed));
}

/** The list of keys that the first version of a root adopts. */
export interface AdoptedKeys {
  /** The issuer keys of before, the oldest first. */
  readonly dids: readonly string[];
  /** The newest of them that is not revoked, which has to sign the first version; null where none is left. */
  readonly adopter: string | null;
}

/** Where a version stands: behind which other one, null for the first, and what that one adopted. */
export interface RootPlace {
  readonly before: RootStatement | null;
  readonly adopted: AdoptedKeys;
}

/** Checks every version of a root in its order; throws a RangeError that says what is wrong. */
export function checkRoots(
  roots: readonly RootStatement[],
  adopted: AdoptedKeys,
  isSignedBy: SignatureOf,
): void {
  for (const [at, root] of roots.entries()) {
    const place = { before: roots[at - 1] ?? null, adopted };
    checkStated(root, place, isSignedBy);
    const [lack] = missingSigners(root, place);
    if (lack !== undefined) refuseKeys(`version ${root.version} of the root lacks ${lack}`);
  }
}

/** Checks what a version states, and the signatures that it has so far; throws a RangeError that says what is wrong. */
export function checkStated(root: RootStatement, place: RootPlace, isSignedBy: SignatureOf): void {
  checkVersion(root, place);
  checkTables(root);
  for (const signature of root.signatures) checkSignature(root, signature, isSignedBy);
}

/** That a version comes right behind the one before it, and drops none of the keys that were there. */
function checkVersion(root: RootStatement, { before, adopted: { dids } }: RootPlace): void {
  const { version, issuer, stated_at, issuer_keys } = root;
  const due = (before?.version ?? 0) + 1;
  if (version !== due) refuseKeys(`version ${version} of the root stands where ${due} belongs`);
  if (issuer !== dids[0]) refuseKeys(`version ${version} of the root is about "${issuer}"`);
  if (before !== null && Date.parse(stated_at) < Date.parse(before.stated_at)) {
    refuseKeys(`version ${version} of the root is older than version ${before.version}`);
  }
  const kept = before === null ? dids : before.issuer_keys.map((key) => key.did);
  const dropped = kept.find((each, at) => issuer_keys[at]?.did !== each);
  if (dropped !== undefined) {
    refuseKeys(`version ${version} of the root does not name "${dropped}" where it stood before`);
  }
}

/** That each key stands in one place, with a window that is one. */
function checkTables({ version, threshold, root_keys, issuer_keys, receipt_keys }: RootStatement) {
  const dids = [...root_keys, ...[...issuer_keys, ...receipt_keys].map((key) => key.did)];
  const twice = dids.find((each, at) => dids.indexOf(each) !== at);
  if (twice !== undefined) refuseKeys(`version ${version} of the root names "${twice}" twice`);
  if (root_keys.length < threshold) {
    refuseKeys(`version ${version} of the root asks for ${threshold} of ${root_keys.length} keys`);
  }
  const windows = [
    ...issuer_keys.map((key) => ({ ...key, from: key.valid_from, until: key.valid_until })),
    ...receipt_keys.map((key) => ({ ...key, from: key.since, until: key.until })),
  ];
  const odd = windows.find(({ from, until }) => {
    return from !== null && until !== null && Date.parse(until) < Date.parse(from);
  });
  if (odd !== undefined) refuseKeys(`"${odd.did}" ends before it begins`);
  const endless = issuer_keys.slice(1).find(({ valid_from }) => valid_from === null);
  if (endless !== undefined) refuseKeys(`"${endless.did}" has no time from which it is valid`);
}

function checkSignature(
  root: RootStatement,
  { did: signer, signature }: RootStatement['signatures'][number],
  isSignedBy: SignatureOf,
): void {
  const what = `version ${root.version} of the root`;
  if (root.signatures.filter((each) => each.did === signer).length > 1) {
    refuseKeys(`"${signer}" signed ${what} twice`);
  }
  let holds = false;
  try {
    holds = isSignedBy(signer, rootBytes(root), signature);
  } catch (cause) {
    refuseKeys(`the signature of "${signer}" under ${what} is malformed`, cause);
  }
  if (!holds) refuseKeys(`the signature under ${what} is not that of "${signer}"`);
}

/**
 * Whose signatures a version still lacks, in words: a threshold of its own root keys, and of those of the version before;
 * under the first version that of the issuer key which adopts it; and of each issuer key that is named for the first time,
 * so that whoever trusts that key alone may follow it to the root.
 */
export function missingSigners(
  root: RootStatement,
  { before, adopted: { dids, adopter } }: RootPlace,
): string[] {
  const signers = new Set(root.signatures.map((each) => each.did));
  const known = new Set(before === null ? dids : before.issuer_keys.map((key) => key.did));
  const fresh = root.issuer_keys.map((key) => key.did).filter((each) => !known.has(each));
  const singles = before === null ? [adopter ?? 'a key that is not revoked', ...fresh] : fresh;
  return [
    ...(before === null ? [] : lackOf(before, signers, `of version ${before.version}`)),
    ...lackOf(root, signers, 'of its own'),
    ...singles.filter((each) => !signers.has(each)).map((each) => `the signature of "${each}"`),
  ];
}

function lackOf(
  { threshold, root_keys }: RootStatement,
  signers: ReadonlySet<string>,
  whose: string,
): string[] {
  const signed = root_keys.filter((each) => signers.has(each)).length;
  if (signed >= threshold) return [];
  return [`signatures of root keys ${whose}: ${signed} of the ${threshold} that are needed`];
}

/** Whose signature under a version counts for anything. */
export function possibleSigners(root: RootStatement, { before, adopted }: RootPlace): string[] {
  const { adopter } = adopted;
  const known = new Set(before === null ? adopted.dids : before.issuer_keys.map((key) => key.did));
  const fresh = root.issuer_keys.map((key) => key.did).filter((each) => !known.has(each));
  const adopting = before === null && adopter !== null ? [adopter] : [];
  return [...new Set([...root.root_keys, ...(before?.root_keys ?? []), ...adopting, ...fresh])];
}

/** Whether enough of these keys signed a version as its root keys: who trusts that many trusts what it names. */
export function isRootedIn(
  { threshold, root_keys, signatures }: RootStatement,
  trusted: readonly string[],
): boolean {
  const signers = signatures.filter(({ did: signer }) => {
    return root_keys.includes(signer) && trusted.includes(signer);
  });
  return signers.length >= threshold;
}
