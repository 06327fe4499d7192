import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { logOrigin, openNote, type SignedNote } from '../format/checkpoint.ts';
import { citationSchema, citedBase, citedTarget, owesProof, sampleIn } from '../format/citation.ts';
import { messageOf } from '../format/errors.ts';
import { utcTime } from '../format/iso-time.ts';
import { leafHash } from '../format/merkle.ts';
import type { ReleaseEntry } from '../format/release-entry.ts';
import { isObject, type JsonValue } from '../format/strict-json.ts';
import { isLeafProven, parseTlogProof, type ReadTlogProof } from '../format/tlog-proof.ts';
import { isStatementProven, parseProofExtra } from '../products/shapes/body-proof.ts';
import { type BodyCheck, checkAt, memberPath, type ObjectNode, objectNodes } from './body-check.ts';
import { type Backing, endOfKey, judgeKey, type KeyVerdict } from './key-rule.ts';
import { believedDids, judgeSigner, type KeyTrust } from './key-trust.ts';
import { judgeSigners } from './log-notes.ts';
import { cosignersOf, judgeByPolicy, type PolicyTrust, witnessWords } from './policy-check.ts';
import { CLOCK_SKEW_MS } from './request-time.ts';
import type { SignatureCheck } from './strict-signature.ts';

// The proof of a body: its statement is among those of a release, and the entry of that release is in the log of its issuer.
// That gives a time, at which the key of each citation has to have been valid (`key-rule.ts`).

/**
 * `demanded`: a body that is not proven to be in the log fails. `noted`: that it is not is said, of a body that owes a proof.
 * Without either it is not.
 */
export type ProofDemand = 'demanded' | 'noted';

/** A log as its reader passed it: it leads a proof under an older checkpoint to its newest one. */
export interface GivenLog {
  /** The signed note of its newest checkpoint, whose signatures are not checked yet. */
  readonly note: string;
  /** The newest entry, which leads to the root of the note; null where that is none of a release. */
  readonly newest: ReleaseEntry | null;
  /** The leaf hash of an entry, which leads to that root; throws a RangeError where the tiles do not give it. */
  leafAt(index: number): Uint8Array;
}

export interface ProofTrust extends KeyTrust, PolicyTrust {
  /** Checks signatures; strict RFC 8032 code without it. */
  readonly isSignature?: SignatureCheck;
  /** What is asked of a body that came without a proof of its own; nothing without it. */
  readonly proof?: ProofDemand;
  readonly log?: GivenLog;
  /** The log that the reader named; any of the issuer without it. */
  readonly origin?: string | undefined;
  /** The root of a log, in hex, that the reader found in a Bitcoin block, and the ISO-8601 time of that block. */
  readonly block?: { readonly root: string; readonly at: string } | undefined;
}

/** A proof that holds, of the release that an answer came from. */
interface ProvenBody {
  readonly read: ReadTlogProof;
  readonly entry: ReleaseEntry;
  /** Checkpoints over that entry: that of the proof, and that of the log which was passed. */
  readonly backings: readonly Backing[];
  /** What else is to say: who saw it when, and what does not count. */
  readonly words: readonly string[];
}

/** What a proof shows of a body; null where none came. */
export type JudgedProof = { readonly proven: ProvenBody } | { readonly fault: string } | null;

export function judgeProof(
  body: JsonValue,
  proof: JsonValue | undefined,
  trusted: ProofTrust,
): JudgedProof {
  if (proof === undefined) return null;
  try {
    return { proven: provenBody(sampleIn(body) ?? body, proof, trusted) };
  } catch (error) {
    return { fault: messageOf(error) };
  }
}

/** Throws a RangeError that says what does not hold. */
function provenBody(signed: JsonValue, proof: JsonValue, trusted: ProofTrust): ProvenBody {
  const cited = citationSchema.safeParse(isObject(signed) ? signed._citation : undefined);
  if (!cited.success) throw new RangeError('no citation says of which log it has to be');
  if (typeof proof !== 'string') throw new RangeError('not a text');
  const read = parseTlogProof(proof);
  if (read.extra === undefined) {
    throw new RangeError('it names no release: it is of a format of before; ask for it again');
  }
  const { entry, entryBytes, index, hashes } = parseProofExtra(read.extra);
  const origin = logOrigin(citedBase(cited.data));
  if (read.signed.origin !== origin) {
    throw new RangeError(
      `its checkpoint is of the log "${read.signed.origin}", and the body is of "${origin}"`,
    );
  }
  if (origin !== (trusted.origin ?? origin)) {
    throw new RangeError(
      `its checkpoint is of the log "${origin}", and you named "${trusted.origin}"`,
    );
  }
  const believed = believedDids(trusted, cited.data.issuer_DID);
  const { fault, signers } = believedSigners(read, believed, trusted);
  if (fault !== null) throw new RangeError(`its checkpoint: ${fault}`);
  const leaf = leafHash(entryBytes, sha256);
  if (!isLeafProven(read, leaf, sha256)) {
    throw new RangeError('it does not lead from the entry of its release to its checkpoint');
  }
  const statement = { target: citedTarget(cited.data) ?? '', statement: cited.data.record_hash };
  if (!isStatementProven({ entry, index, hashes }, statement, sha256)) {
    throw new RangeError(
      'it does not lead from the statement of this body to its release: that answers the request otherwise, or not at all',
    );
  }
  const disorder = timeFault(signed, cited.data.retrieved_at, { entry, now: trusted.now });
  if (disorder !== null) throw new RangeError(disorder);
  const policy = judgeByPolicy(read.checkpoint, trusted, entry.as_of);
  if (policy.fault !== null) throw new RangeError(policy.fault);
  const own = { note: read.note, root: read.signed.root, signers };
  const of = { index: read.index, leaf, entry, origin };
  const backings = backingsOf(own, of, believed, trusted);
  const words = [...policy.witnessed.map(witnessWords), ...policy.ignored];
  return { read, entry, backings, words: [...words, ...strayBlock(trusted, entry)] };
}

/** The believed keys that signed a checkpoint: one is enough, and the line of each key that is known has to hold. */
export function believedSigners(
  read: Pick<ReadTlogProof, 'note' | 'signed'>,
  believed: readonly string[],
  { keys, isSignature }: ProofTrust,
): ReturnType<typeof judgeSigners> {
  const listed = keys?.keys.map(({ did }) => did) ?? [];
  const { fault, signers } = judgeSigners(
    read,
    [...new Set([...believed, ...listed])],
    isSignature,
  );
  const own = signers.filter((did) => believed.includes(did));
  const none = own.length === 0 ? 'signed by no key that is trusted' : null;
  return { fault: fault ?? none, signers: own };
}

/** A checkpoint over an entry, and which keys that are believed signed it. */
interface SignedTree {
  readonly note: SignedNote;
  readonly root: Uint8Array;
  readonly signers: readonly string[];
}

interface EntryPlace {
  readonly index: number;
  readonly leaf: Uint8Array;
  readonly entry: ReleaseEntry;
  /** Of the log that it is in. */
  readonly origin: string;
}

/**
 * What stands behind an entry: the checkpoint that it came with, and the newest one of the log that was passed. Throws a RangeError
 * where that log shows that its issuer never published the entry there.
 */
export function backingsOf(
  own: SignedTree,
  place: EntryPlace,
  believed: readonly string[],
  trusted: ProofTrust,
): Backing[] {
  const { as_of } = place.entry;
  const { block } = trusted;
  const counts = block !== undefined && strayBlock(trusted, place.entry).length === 0;
  return [own, ...ledTo(place, believed, trusted)].map(({ note, root, signers }) => {
    const isStamped = counts && block.root === bytesToHex(root);
    const cosigned = cosignersOf(note, trusted, as_of).cosigned;
    return { signers, cosigned, block: isStamped ? Date.parse(block.at) : undefined };
  });
}

/** Times in their order: collected, published, answered, judged; clocks may differ by some minutes. */
function timeFault(
  body: JsonValue,
  retrieved_at: string,
  {
    entry: { as_of },
    now = Number.POSITIVE_INFINITY,
  }: { entry: ReleaseEntry; now?: number | undefined },
): string | null {
  const at = Date.parse(as_of);
  if (!(utcTime(retrieved_at) <= at + CLOCK_SKEW_MS)) {
    return `it was retrieved at ${retrieved_at}, after its release of ${as_of}`;
  }
  for (const { value } of objectNodes(body)) {
    const { last_looked_at: looked } = value;
    if (looked === undefined || utcTime(String(looked)) <= at + CLOCK_SKEW_MS) continue;
    return `it was looked at at ${String(looked)}, after its release of ${as_of}`;
  }
  const provenance = isObject(body) ? body.provenance : undefined;
  const answered = isObject(provenance) ? provenance.answered_at : undefined;
  if (answered !== undefined && !(at <= utcTime(String(answered)) + CLOCK_SKEW_MS)) {
    return `it was answered at ${String(answered)}, before its release of ${as_of}`;
  }
  return at <= now + CLOCK_SKEW_MS ? null : `its release is of ${as_of}, which is still to come`;
}

/** In words, the block of the reader where it claims to be older than what it holds. */
function strayBlock({ block }: ProofTrust, { as_of }: ReleaseEntry): string[] {
  if (block === undefined || Date.parse(block.at) >= Date.parse(as_of) - CLOCK_SKEW_MS) return [];
  return [`the block is of ${block.at}, which is before it was there, and does not count`];
}

/** The newest checkpoint of the log that was passed, if that goes on from the entry. */
function ledTo(at: EntryPlace, believed: readonly string[], trusted: ProofTrust): SignedTree[] {
  const { log } = trusted;
  const opened = log === undefined ? null : openNote(log.note);
  if (log === undefined || opened === null || opened.checkpoint.origin !== at.origin) return [];
  const { note, checkpoint } = opened;
  const { fault, signers } = believedSigners({ note, signed: checkpoint }, believed, trusted);
  if (fault !== null) return [];
  if (at.index >= checkpoint.size) {
    const isOlder =
      log.newest === null ||
      (log.newest.sequence < at.entry.sequence &&
        Date.parse(log.newest.as_of) <= Date.parse(at.entry.as_of));
    if (isOlder) return [];
    throw new RangeError('the log that was passed is newer, and does not hold its release');
  }
  const held = log.leafAt(at.index);
  if (!held.every((byte, position) => byte === at.leaf[position])) {
    throw new RangeError(`the log that was passed holds another release as entry ${at.index}`);
  }
  return [{ note, root: checkpoint.root, signers }];
}

const NO_PROOF = 'no proof that it is in the log came with it; buy it without proof=0';

/** Whether a body is in the log of its issuer; a policy cannot be met without a proof. */
export function loggedChecks(
  body: JsonValue,
  judged: JudgedProof,
  { proof, policy }: ProofTrust,
): BodyCheck[] {
  if (judged === null) {
    const at = checkAt('logged', '');
    const demand = policy === undefined ? proof : 'demanded';
    if (demand === 'demanded') return [at.fail(NO_PROOF)];
    return demand === 'noted' && owesProof(body) ? [at.notApplicable(NO_PROOF)] : [];
  }
  const at = checkAt('logged', sampleIn(body) === null ? '_proof' : 'sample._proof');
  if ('fault' in judged) return [at.fail(judged.fault)];
  const { read, entry, words } = judged.proven;
  const { origin } = read.signed;
  const others = read.note.signatures.filter(({ name }) => name !== origin).length;
  const unknown = nobodyWitnessed(others);
  const seen = words.length > 0 ? words.join(', ') : unknown;
  return [
    at.pass(
      `the answer to its request in release ${entry.sequence} of ${entry.as_of}, entry ${read.index} of ${origin}: ${seen}`,
    ),
  ];
}

/** What is said of a checkpoint that no witness of the reader cosigned. */
export const NOBODY = 'witnessed by nobody';

/** That in words, where so many signatures are of neither the log nor a known witness. */
export function nobodyWitnessed(others: number): string {
  return others < 1
    ? NOBODY
    : `${NOBODY} that you named (${others} other ${others === 1 ? 'signature' : 'signatures'})`;
}

const HOW_TO_LEAD =
  'pass a newer log of the issuer with --mirror (a release, data or mirror folder)';

/** A verdict of the one rule for every key, as a check. */
export function keyCheck(where: string, { state, detail }: KeyVerdict): BodyCheck {
  const at = checkAt('anchor', where);
  if (state === 'open') return at.notApplicable(`${detail}; ${HOW_TO_LEAD}`);
  return state === 'holds' ? at.pass(detail) : at.fail(detail);
}

/** Whether the key of each citation was valid when the release of the body was published. */
export function keyChecks(
  cited: readonly ObjectNode[],
  judged: JudgedProof,
  trusted: ProofTrust,
): BodyCheck[] {
  const { keys, now, policy } = trusted;
  if (keys === undefined) return [];
  const verdictOf = (did: string): KeyVerdict | null => {
    if (judged !== null && 'proven' in judged) {
      const { entry, backings } = judged.proven;
      return judgeKey({ did, as_of: entry.as_of, backings }, { keys, now, policy });
    }
    const end = endOfKey(did, { keys, now });
    const detail = `without a proof nothing shows that it is older: ${end?.words}`;
    return end === null ? null : { state: 'open', detail };
  };
  return cited.flatMap(({ path, value }) => {
    const parsed = citationSchema.safeParse(value._citation);
    if (!parsed.success) return [];
    const { issuer_DID: did, retrieved_at } = parsed.data;
    // Whose key is not believed is named with the citation.
    if (judgeSigner(trusted, did, retrieved_at).status === 'refused') return [];
    const verdict = verdictOf(did);
    return verdict === null ? [] : [keyCheck(memberPath(path, '_citation'), verdict)];
  });
}
