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
import {
  isChecked,
  type LogPolicy,
  type PolicyMember,
  type PolicyWitness,
  parseLogPolicy,
  shortfall,
} from '../contract/log-policy.ts';
import { keyHashOf } from '../contract/verifier-key.ts';
import { CLOCK_SKEW_MS } from './request-time-checks.ts';
import { isStrictSignature, type SignatureCheck } from './strict-signature.ts';

/** What a reader demands of checkpoints beside the signature of the issuer. */
export interface PolicyTrust {
  /** Logs and witnesses that the reader knows; without one cosignatures are not looked at. */
  readonly policy?: LogPolicy;
  /** Clock of the reader, epoch milliseconds: a cosignature of a later moment does not count. */
  readonly now?: number;
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

/** Who witnessed a checkpoint, in words. */
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

interface CosignatureCheck {
  readonly now: number | undefined;
  readonly isSignature: SignatureCheck;
}

/** When a witness cosigned, by its own clock: the earliest where it did so twice; null for not, or not yet. */
function cosignedBy(
  witness: PolicyWitness,
  note: SignedNote,
  { now = Number.POSITIVE_INFINITY, isSignature }: CosignatureCheck,
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
