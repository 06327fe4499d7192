import { sha256 } from '@noble/hashes/sha2.js';
import { logOrigin } from '../contract/checkpoint.ts';
import { citationSchema, citedBase, owesProof, sampleIn } from '../contract/citation.ts';
import { leafHash } from '../contract/merkle.ts';
import { isObject, type JsonValue } from '../contract/strict-json.ts';
import { logEntry } from '../contract/tiles.ts';
import { isLeafProven, parseTlogProof, type ReadTlogProof } from '../contract/tlog-proof.ts';
import { type BodyCheck, checkAt, reason } from './body-check.ts';
import { checkpointSigner, isWitnessed, pastSigner } from './checkpoint-age.ts';
import type { GivenLog, LoggedPlace } from './given-log.ts';
import { believedDids, type KeyTrust } from './key-trust.ts';
import { judgeSigners } from './log-notes.ts';
import { judgeByPolicy, type PolicyTrust, type Witnessed, witnessWords } from './policy-check.ts';
import { type ProvableHash, provableHashes } from './provable-hashes.ts';
import type { SignatureCheck } from './strict-signature.ts';

/**
 * `demanded`: a body that is not proven to be in the log fails. `noted`: that it is not is said, of a body that owes a proof.
 * Without either it is not.
 */
export type ProofDemand = 'demanded' | 'noted';

/** Whom to believe about a log, and whether a body has to be proven. */
export interface ProofTrust extends KeyTrust, PolicyTrust {
  /** Checks signatures; strict RFC 8032 code without it. */
  readonly isSignature?: SignatureCheck;
  /** What is asked of a body that came without a proof of its own; nothing without it. */
  readonly proof?: ProofDemand;
  /** The log of a release that was passed: what it holds needs no proof of its own. */
  readonly log?: GivenLog;
}

const NO_PROOF = 'no proof that it is in the log came with it';
const HOW_TO_GET =
  'buy it without proof=0, pass a release folder whose log holds it with --keys, or do without with --no-proof';

/** What is said of a body that came without a proof; a policy cannot be met without one. */
export function unprovenChecks(body: JsonValue, trusted: ProofTrust): BodyCheck[] {
  const { proof, policy } = trusted;
  const demand = policy === undefined ? proof : 'demanded';
  if (demand === undefined || (demand === 'noted' && !owesProof(body))) return [];
  const at = checkAt('logged', '');
  const held = policy === undefined ? heldWords(body, trusted) : null;
  if (held !== null) return [at.pass(held)];
  const detail = `${NO_PROOF}; ${HOW_TO_GET}`;
  return [demand === 'noted' ? at.notApplicable(detail) : at.fail(detail)];
}

/** Where the log that was passed holds a body; null where it does not, or none was passed. */
function heldWords(body: JsonValue, { log }: ProofTrust): string | null {
  const signed = sampleIn(body) ?? body;
  const cited = citationSchema.safeParse(isObject(signed) ? signed._citation : undefined);
  if (log === undefined || !cited.success) return null;
  const { issuer_DID: signer } = cited.data;
  const origin = logOrigin(citedBase(cited.data));
  for (const { hash, of } of provableHashes(signed)) {
    const place = log({ origin, signer, hash });
    if (place !== null)
      return placeWords({ ...place, of, origin }, 'in the release that was passed');
  }
  return null;
}

/**
 * Judges the `_proof` of a body: its leaf is of this body, it leads to the root of its checkpoint, and that is of the log of
 * the service which the citation names, signed by a key that is known.
 */
export function loggedCheck(body: JsonValue, proof: JsonValue, trusted: ProofTrust): BodyCheck {
  const sample = sampleIn(body);
  const signed = sample ?? body;
  const at = checkAt('logged', sample === null ? '_proof' : 'sample._proof');
  const cited = citationSchema.safeParse(isObject(signed) ? signed._citation : undefined);
  if (!cited.success) return at.fail('no citation says of which log it has to be');
  if (typeof proof !== 'string') return at.fail('not a text');
  try {
    const read = parseTlogProof(proof);
    const origin = logOrigin(citedBase(cited.data));
    const known = believedDids(trusted, cited.data.issuer_DID);
    const fault = noteFault(read, { origin, known, isSignature: trusted.isSignature });
    if (fault !== null) return at.fail(fault);
    const leaf = provenLeaf(signed, read);
    if (leaf === null) return at.fail('no hash of this body is the entry that it proves');
    const past = pastSigner(read.checkpoint, trusted);
    if (past !== null) return unfitProof(body, past, trusted);
    const { fault: lack, witnessed } = judgeByPolicy(read.checkpoint, trusted);
    return lack === null ? at.pass(wordsOf(read, leaf, witnessed)) : at.fail(lack);
  } catch (error) {
    return at.fail(reason(error));
  }
}

/** What is said of a body whose own proof a thief may have made. */
function unfitProof(body: JsonValue, why: string, trusted: ProofTrust): BodyCheck {
  const at = checkAt('logged', '_proof');
  const held = trusted.policy === undefined ? heldWords(body, trusted) : null;
  if (held !== null) return at.pass(held);
  return trusted.proof === 'demanded' ? at.fail(why) : at.notApplicable(why);
}

interface WantedLog {
  readonly origin: string;
  /** Keys of whom the note has to be signed. */
  readonly known: readonly string[];
  readonly isSignature: SignatureCheck | undefined;
}

function noteFault(read: ReadTlogProof, { origin, known, isSignature }: WantedLog): string | null {
  if (read.signed.origin !== origin) {
    return `its checkpoint is of the log "${read.signed.origin}", and the body is of "${origin}"`;
  }
  const { fault } = judgeSigners(read, known, isSignature);
  return fault === null ? null : `its checkpoint: ${fault}`;
}

function provenLeaf(body: JsonValue, read: ReadTlogProof): ProvableHash['of'] | null {
  const proven = provableHashes(body).find(({ hash }) =>
    isLeafProven(read, leafHash(logEntry(hash), sha256), sha256),
  );
  return proven?.of ?? null;
}

/** An entry that no thief of a past key could have made: witnesses saw it before, or a key that is still in use signed since. */
export interface ShownLeaf {
  readonly leaf: ProvableHash['of'];
  readonly by: 'witnesses' | 'present key';
}

/** What the proof of a body shows that no thief of a past key could have made; null for nothing. */
export function shownLeaf(
  { body, proof }: { readonly body: JsonValue; readonly proof: JsonValue },
  trusted: ProofTrust,
  before: string,
): ShownLeaf | null {
  const signed = sampleIn(body) ?? body;
  const cited = citationSchema.safeParse(isObject(signed) ? signed._citation : undefined);
  if (!cited.success || typeof proof !== 'string') return null;
  try {
    const read = parseTlogProof(proof);
    const origin = logOrigin(citedBase(cited.data));
    const known = believedDids(trusted, cited.data.issuer_DID);
    const fault = noteFault(read, { origin, known, isSignature: trusted.isSignature });
    const leaf = fault === null ? provenLeaf(signed, read) : null;
    if (leaf === null) return null;
    if (isWitnessed(read.checkpoint, trusted, before)) return { leaf, by: 'witnesses' };
    const { isPresent } = checkpointSigner(read.checkpoint, trusted);
    return isPresent ? { leaf, by: 'present key' } : null;
  } catch {
    return null;
  }
}

const LEAF_WORDS = {
  reading: 'its reading',
  'named reading': 'the reading that it names, not its own figures,',
  statement: 'its signed statement',
} as const;

interface LeafPlace extends LoggedPlace {
  readonly of: keyof typeof LEAF_WORDS;
  readonly origin: string;
}

/** Behind the word `logged`: `at size 12, WHEN: its reading is entry 5 of readings.example/log`. */
function placeWords({ of, index, origin, size }: LeafPlace, when: string): string {
  return `at size ${size}, ${when}: ${LEAF_WORDS[of]} is entry ${index} of ${origin}`;
}

/** Only a cosignature of a witness states a time, and only a reader who knows the witness can check it. */
function wordsOf(
  { index, signed: { origin, size }, note }: ReadTlogProof,
  of: keyof typeof LEAF_WORDS,
  witnessed: readonly Witnessed[],
): string {
  const others = note.signatures.filter(({ name }) => name !== origin).length;
  const unknown =
    others < 1 ? 'no witness signed' : `${others} further signatures, of nobody that is known`;
  const when =
    witnessed.length > 0 ? witnessed.map(witnessWords).join(', ') : `no time proven (${unknown})`;
  return placeWords({ index, size, of, origin }, when);
}
