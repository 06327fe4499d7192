import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import {
  cosignaturesOf,
  cosignedBytes,
  keyHashOf,
  linesOf,
  noteKeyHash,
  parseCheckpoint,
  parseNote,
  type SignedNote,
  signatureIn,
} from '../format/checkpoint.ts';
import { didKey } from '../format/did-key.ts';
import { isoTime } from '../format/iso-time.ts';
import {
  hasWitnessed,
  isChecked,
  type LogPolicy,
  type PolicyWitness,
  parseLogPolicy,
  shortfall,
} from '../format/log-policy.ts';
import type { Release } from '../format/release.ts';
import { endOfKey } from './key-rule.ts';
import { believedDids, endOf, type KeyTrust, WHOEVER_HAS_IT } from './key-trust.ts';
import { judgeNote } from './log-notes.ts';
import { CLOCK_SKEW_MS } from './request-time.ts';
import { isStrictSignature, type SignatureCheck } from './strict-signature.ts';

/** What a reader demands of checkpoints beside the signature of the issuer. */
export interface PolicyTrust {
  /** Logs and witnesses that the reader knows; without one cosignatures are not looked at. */
  readonly policy?: LogPolicy | undefined;
  /** Clock of the reader, epoch milliseconds: a cosignature of a later moment does not count. */
  readonly now?: number | undefined;
  /** Checks signatures; strict RFC 8032 code without it. */
  readonly isSignature?: SignatureCheck;
}

/** A witness of the policy that cosigned a checkpoint, and when it says so, ISO-8601. */
export interface Witnessed {
  readonly name: string;
  readonly at: string;
}

/** What a policy says of a checkpoint: why it does not do, null where it does, and who witnessed it. */
interface PolicyVerdict {
  readonly fault: string | null;
  readonly witnessed: readonly Witnessed[];
  /** Cosignatures that hold and do not count, in words. */
  readonly ignored: readonly string[];
}

/** How it is said that a policy is not met. */
export const UNMET = 'not witnessed as the policy demands';

/** The policy in a text; throws a RangeError that says which line is wrong. */
export function readPolicy(bytes: Uint8Array): LogPolicy {
  return parseLogPolicy(bytes, sha256);
}

/**
 * Judges the signed note of a checkpoint by the policy of its reader: a log that it lists signed, no line of a key that it
 * knows is forged, and the witnesses that cosigned are a quorum. Without a policy nothing is asked. `as_of` is the time of the
 * newest entry that it is about: nobody saw it earlier.
 */
export function judgeByPolicy(
  note: string,
  trusted: PolicyTrust & Partial<KeyTrust>,
  as_of?: string,
): PolicyVerdict {
  const none = { witnessed: [], ignored: [] };
  const { policy } = trusted;
  if (policy === undefined) return { fault: null, ...none };
  const parsed = parseNote(note);
  if (parsed === null) return { fault: 'not the signed note of a checkpoint', ...none };
  const { fault, cosigned, ignored } = cosignersOf(parsed, trusted, as_of);
  if (fault !== null) return { fault, ...none };
  const witnesses = new Set(cosigned.map(({ witness }) => witness));
  const lack = policy.quorum === null ? '' : shortfall(policy.quorum, witnesses);
  const words = [lack, ...ignored].join('; ');
  return {
    fault: lack === '' ? null : `${UNMET}: ${words}`,
    witnessed: [...witnesses].map((each) => {
      const times = cosigned.flatMap(({ witness, at }) => (witness === each ? [at] : []));
      return { name: each.name, at: isoTime(Math.min(...times)) };
    }),
    ignored,
  };
}

/**
 * The cosignatures of known witnesses in a note that count: none of a key of the log, of before the entry, or of a time to
 * come.
 */
export function cosignersOf(
  note: SignedNote,
  trusted: PolicyTrust & Partial<KeyTrust>,
  as_of?: string,
) {
  const { policy, now = Number.POSITIVE_INFINITY, isSignature = isStrictSignature } = trusted;
  const cosigned: { readonly witness: PolicyWitness; readonly at: number }[] = [];
  const ignored: string[] = [];
  const fault = policy === undefined ? null : logFault(note, policy, isSignature);
  if (policy === undefined || fault !== null) return { fault, cosigned, ignored };
  const lines = policy.witnesses
    .filter(isChecked)
    .flatMap((witness) =>
      cosignaturesOf(note, witness.key, sha256).map((found) => ({ witness, found })),
    );
  for (const { witness, found } of lines) {
    const { publicKey } = witness.key;
    const isGenuine =
      found !== null &&
      isSignature(found.signature, cosignedBytes(note.text, found.seconds), publicKey);
    if (!isGenuine) {
      return { fault: `the cosignature of ${witness.name} does not hold`, cosigned: [], ignored };
    }
    const at = found.seconds * 1000;
    const isEarly = as_of !== undefined && at < Date.parse(as_of) - CLOCK_SKEW_MS;
    const early = isEarly ? `says ${isoTime(at)}, which is before it was there` : null;
    const isOwn = isKeyOfLog(publicKey, note, trusted);
    const why = isOwn ? 'has a key of the log itself' : early;
    if (why !== null) ignored.push(`${witness.name} ${why}, and does not count`);
    else if (at - now <= CLOCK_SKEW_MS) cosigned.push({ witness, at });
  }
  return { fault: null, cosigned, ignored };
}

/** Whoever has the key of a log can sign as its witness too, so that shows nothing. */
function isKeyOfLog(
  publicKey: Uint8Array,
  note: SignedNote,
  { trust = 'any', keys }: Partial<KeyTrust>,
): boolean {
  const name = parseCheckpoint(note.text)?.origin ?? '';
  const keyHash = noteKeyHash(name, publicKey, sha256);
  const issuers = [...(trust === 'any' ? [] : trust), ...(keys?.keys ?? []).map(({ did }) => did)];
  return linesOf(note, name, keyHash).length > 0 || issuers.includes(didKey(publicKey));
}

export function witnessWords({ name, at }: Witnessed): string {
  return `witnessed by ${name} at ${at}`;
}

function logFault(
  note: SignedNote,
  { logs }: LogPolicy,
  isSignature: SignatureCheck,
): string | null {
  if (logs.length === 0) return null;
  const origin = parseCheckpoint(note.text)?.origin ?? null;
  const bytes = utf8ToBytes(note.text);
  const verdicts = logs.flatMap(({ key }) => {
    if (key.name !== origin) return [];
    const signature = signatureIn(note, key.name, keyHashOf(key, sha256));
    return signature === null ? [] : [isSignature(signature, bytes, key.publicKey)];
  });
  if (verdicts.length === 0)
    return `signed by no log of the policy: it is of "${origin}", whose key is at /log/vkey`;
  return verdicts.every(Boolean) ? null : 'the signature of its log does not hold';
}

/**
 * Whether a key of the list that is still in use signed a checkpoint, for an overlap has two; else which past key did, and
 * until when that counted.
 */
export function checkpointSigner(note: string, trusted: KeyTrust & PolicyTrust) {
  const { keys, now, isSignature } = trusted;
  if (keys === undefined) return { isPresent: false, past: null };
  const believed = believedDids(trusted, keys.keys[0]?.did);
  const listed = keys.keys.flatMap(({ did }) => (believed.includes(did) ? [did] : []));
  const { signers } = judgeNote(note, listed, isSignature);
  const over = signers.flatMap((did) => endOfKey(did, { keys, now }) ?? []);
  if (over.length < signers.length) return { isPresent: true, past: null };
  const [shortest = null] = over.sort((a, b) => Date.parse(a.until) - Date.parse(b.until));
  return { isPresent: false, past: shortest };
}

/** Whether the quorum of the reader's policy cosigned a checkpoint before a time, ISO-8601. */
export function isWitnessed(
  note: string,
  trusted: PolicyTrust & Partial<KeyTrust>,
  before: string,
): boolean {
  const { policy } = trusted;
  const parsed = parseNote(note);
  if (policy === undefined || policy.quorum === null || parsed === null) return false;
  const { cosigned } = cosignersOf(parsed, trusted);
  const end = Date.parse(before);
  return hasWitnessed(
    policy.quorum,
    new Set(cosigned.flatMap(({ witness, at }) => (at < end ? [witness] : []))),
  );
}

/**
 * Why whoever has a key that has ended may have made a release; null where a key in use signed it or its log, or witnesses
 * saw that in time.
 */
export function pastRelease(
  { issuer_did: did }: Pick<Release, 'issuer_did'>,
  note: string | null,
  trusted: KeyTrust & PolicyTrust,
): string | null {
  const { keys, now } = trusted;
  const end = keys === undefined ? null : endOf(did, [keys], now);
  if (end === null || (note !== null && pastSigner(note, trusted) === null)) return null;
  return `signed by ${did}, which was in use until ${end}: ${WHOEVER_HAS_IT}`;
}

/** Why a checkpoint shows nothing; null where a key that is still in use signed it, or witnesses saw it while its key was. */
export function pastSigner(note: string, trusted: KeyTrust & PolicyTrust): string | null {
  const { past } = checkpointSigner(note, trusted);
  if (past === null || isWitnessed(note, trusted, past.until)) return null;
  return `its checkpoint is signed by keys of the past alone: ${past.words}`;
}
