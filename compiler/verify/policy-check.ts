import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import {
  parseCheckpoint,
  parseNote,
  type SignedNote,
  signatureIn,
} from '../contract/checkpoint.ts';
import { cosignaturesOf, cosignedBytes } from '../contract/cosignature.ts';
import { isoTime } from '../contract/iso-time.ts';
import { hasEnded } from '../contract/key-history.ts';
import {
  isChecked,
  type LogPolicy,
  type PolicyMember,
  type PolicyWitness,
  parseLogPolicy,
  shortfall,
} from '../contract/log-policy.ts';
import type { Release } from '../contract/release.ts';
import { keyHashOf } from '../contract/verifier-key.ts';
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
}

const UNASKED: PolicyVerdict = { fault: null, witnessed: [] };

/** The policy in a text; throws a RangeError that says which line is wrong. */
export function readPolicy(bytes: Uint8Array): LogPolicy {
  return parseLogPolicy(bytes, sha256);
}

/**
 * Judges the signed note of a checkpoint by the policy of its reader: a log that it lists signed, no line of a key that it
 * knows is forged, and the witnesses that cosigned are a quorum. Without a policy nothing is asked.
 */
export function judgeByPolicy(
  note: string,
  { policy, now, isSignature = isStrictSignature }: PolicyTrust,
): PolicyVerdict {
  if (policy === undefined) return UNASKED;
  const parsed = parseNote(note);
  if (parsed === null) return { fault: 'not the signed note of a checkpoint', witnessed: [] };
  const fault = logFault(parsed, policy, isSignature);
  if (fault !== null) return { fault, witnessed: [] };
  const cosigned = new Set<PolicyMember>();
  const witnessed: Witnessed[] = [];
  for (const witness of policy.witnesses) {
    const { forged, at } = cosignedBy(witness, parsed, { now, isSignature });
    if (forged) return { fault: `the cosignature of ${witness.name} does not hold`, witnessed: [] };
    if (at === null) continue;
    cosigned.add(witness);
    witnessed.push({ name: witness.name, at });
  }
  const lack = policy.quorum === null ? '' : shortfall(policy.quorum, cosigned);
  return { fault: lack === '' ? null : `not witnessed as the policy demands: ${lack}`, witnessed };
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

/** When a witness cosigned, by its own clock: the earliest where it did so twice; null for not, or not yet. */
function cosignedBy(
  witness: PolicyWitness,
  note: SignedNote,
  {
    now = Number.POSITIVE_INFINITY,
    isSignature,
  }: { now: number | undefined; isSignature: SignatureCheck },
): { readonly forged: boolean; readonly at: string | null } {
  if (!isChecked(witness)) return { forged: false, at: null };
  const found = cosignaturesOf(note, witness.key, sha256);
  const genuine = found.flatMap((one) => {
    if (one === null) return [];
    const bytes = cosignedBytes(note.text, one.seconds);
    return isSignature(one.signature, bytes, witness.key.publicKey) ? [one] : [];
  });
  if (genuine.length < found.length) return { forged: true, at: null };
  const times = genuine.map(({ seconds }) => seconds * 1000);
  const past = times.filter((time) => time - now <= CLOCK_SKEW_MS);
  return { forged: false, at: past.length === 0 ? null : isoTime(Math.min(...past)) };
}

/** Whether a key of the list that is still in use signed a checkpoint, for an overlap has two; else which past key did, and until when that counted. */
export function checkpointSigner(note: string, trusted: KeyTrust & PolicyTrust) {
  const { keys, now, isSignature } = trusted;
  if (keys === undefined) return { isPresent: false, past: null };
  const past = new Map(
    keys.keys
      .flatMap(({ did, revoked_from, valid_until }) => {
        const signed = `${did}, which signed its checkpoint,`;
        if (revoked_from !== null) {
          return [
            { did, until: revoked_from, detail: `${signed} is revoked from ${revoked_from} on` },
          ];
        }
        if (valid_until === null || !hasEnded(keys, did, now)) return [];
        return [{ did, until: valid_until, detail: `${signed} was in use until ${valid_until}` }];
      })
      .map((key) => [key.did, key]),
  );
  const believed = believedDids(trusted, keys.keys[0]?.did);
  const listed = keys.keys.flatMap(({ did }) => (believed.includes(did) ? [did] : []));
  const { signers } = judgeNote(note, listed, isSignature);
  const over = signers.flatMap((did) => past.get(did) ?? []);
  if (over.length < signers.length) return { isPresent: true, past: null };
  const [shortest = null] = over.sort((a, b) => Date.parse(a.until) - Date.parse(b.until));
  return { isPresent: false, past: shortest };
}

/** Whether the quorum of the reader's policy cosigned a checkpoint before a time, ISO-8601. */
export function isWitnessed(note: string, { policy, now }: PolicyTrust, before: string): boolean {
  if (policy === undefined || policy.quorum === null) return false;
  // A cosignature from after `now` counts up to the allowed skew of clocks; here none does.
  const latest = Math.min(now ?? Number.POSITIVE_INFINITY, Date.parse(before) - 1 - CLOCK_SKEW_MS);
  const { fault, witnessed } = judgeByPolicy(note, { policy, now: latest });
  return fault === null && witnessed.length > 0;
}

/** Why whoever has a key that has ended may have made a release; null where a key in use signed it or its log, or witnesses saw that in time. */
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
  return past === null || isWitnessed(note, trusted, past.until) ? null : past.detail;
}
