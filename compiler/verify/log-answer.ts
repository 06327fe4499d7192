import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { openNote } from '../contract/checkpoint.ts';
import { PROOF_MEMBER, withoutProof } from '../contract/citation.ts';
import { messageOf } from '../contract/errors.ts';
import { logBatch } from '../contract/log-batch.ts';
import { leafHash, verifyInclusion } from '../contract/merkle.ts';
import { RECORD_HASH } from '../contract/record-hash.ts';
import { isObject, type JsonObject, type JsonValue, parseJson } from '../contract/strict-json.ts';
import { logEntry } from '../contract/tiles.ts';
import { isLeafProven, parseTlogProof } from '../contract/tlog-proof.ts';
import { agreement, type BodyCheck, canonicalHash, checkAt, memberPath } from './body-check.ts';
import { believedDids, type KeyTrust } from './key-trust.ts';
import { judgeNote } from './log-notes.ts';
import {
  checkpointSigner,
  judgeByPolicy,
  type PolicyTrust,
  pastSigner,
  witnessWords,
} from './policy-check.ts';

const hex = z.string().regex(/^[0-9a-f]{64}$/);
const provedSchema = z.looseObject({
  index: z.int().min(0),
  size: z.int().min(1),
  root: hex,
  leaf_hash: hex,
  inclusion_proof: z.array(hex),
  checkpoint: z.string(),
});
type Proved = z.infer<typeof provedSchema>;

/** What an answer of `/proof/<hash>` or of `/gauge/anchor?hash=` proves. */
export interface LogAnswer {
  readonly checks: readonly BodyCheck[];
  /** The key that signed the checkpoint; null where no key that is known did. */
  readonly signer: string | null;
  readonly isFound: boolean;
}

/** Where an answer of the log keeps its proof, by its own name. */
const PLACE_OF_PROOF: ReadonlyMap<string, string> = new Map([
  ['proof', 'inclusion'],
  ['gauge/anchor', ''],
]);
/** The members of a proof, and all that an answer may have: another could say anything, and nothing signs it. */
const PROVED_MEMBERS = [...Object.keys(logBatch.shape), ...Object.keys(provedSchema.shape)];
const ANSWER_MEMBERS: ReadonlySet<string> = new Set([
  ...['endpoint', 'hash', 'found', 'kind', 'record_status', 'signal_id', 'entity', 'observed_at'],
  ...['hash_core', 'hash_core_members', 'recompute', 'tlog_proof', 'anchor', 'note'],
  ...['ots_state', 'bitcoin_height', 'bitcoin_block', 'stamped_at', 'ots_proof', 'ots_note'],
]);

function savedAnswer(
  body: JsonValue,
): { body: JsonObject; member: string; given: JsonValue | undefined } | null {
  if (!isObject(body) || typeof body.endpoint !== 'string' || body._citation !== undefined) {
    return null;
  }
  const member = PLACE_OF_PROOF.get(body.endpoint);
  if (member === undefined || typeof body.hash !== 'string') return null;
  return { body, member, given: member === '' ? body : body[member] };
}

/** The proof against the newest checkpoint in a saved answer of the log, a tlog-proof@v1 text; null where it holds none. */
function tlogProofOf(saved: JsonValue): string | null {
  const proof = savedAnswer(saved)?.body.tlog_proof;
  return typeof proof === 'string' ? proof : null;
}

/** The checks of a saved answer of the log about one hash; null for every other body. */
export function logAnswer(saved: JsonValue, trusted: KeyTrust & PolicyTrust): LogAnswer | null {
  const answer = savedAnswer(saved);
  if (answer === null) return null;
  const { body, member, given } = answer;
  if (body.found !== true || given === null) return ABSENT;
  const proved = provedSchema.safeParse(given);
  const hash = typeof body.hash === 'string' && RECORD_HASH.test(body.hash) ? body.hash : null;
  if (!proved.success || hash === null) return UNREADABLE;
  const { signer, checks } = checkpointChecks(proved.data, member, trusted);
  const own = [
    ...memberChecks(body, proved.data, member),
    ...coreChecks(body, hash),
    ...inclusionChecks(hash, proved.data, member),
  ];
  const age =
    signer === null ? [] : ageChecks({ hash, note: proved.data.checkpoint, saved }, trusted);
  const fresh = freshChecks({ hash, given: body.tlog_proof }, trusted);
  return { signer, isFound: true, checks: [...own, ...checks, ...fresh, ...age, WORDS] };
}

const ABSENT: LogAnswer = {
  checks: [checkAt('inclusion', 'hash').notApplicable('no entry was found, so nothing is proven')],
  signer: null,
  isFound: false,
};
const UNREADABLE: LogAnswer = {
  checks: [checkAt('inclusion', '').fail('not a whole record hash with its inclusion proof')],
  signer: null,
  isFound: true,
};
const WORDS = checkAt('cover', '').notApplicable(
  'outside the proof: status, batch, timestamp and note are words of the service',
);

function memberChecks(body: JsonObject, proved: Proved, member: string): BodyCheck[] {
  const isProved = (name: string): boolean => PROVED_MEMBERS.includes(name);
  const isOwn = (name: string): boolean =>
    ANSWER_MEMBERS.has(name) || (member === '' ? isProved(name) : name === member);
  const inside = member === '' ? [] : Object.keys(proved).filter((name) => !isProved(name));
  const strange = [
    ...Object.keys(body).filter((name) => !isOwn(name)),
    ...inside.map((name) => memberPath(member, name)),
  ];
  return strange.map((name) =>
    checkAt('inclusion', name).fail('no member of an answer of the log'),
  );
}

/** The core that a hash is taken of, where the answer gives it; what else is said of the record must be in it. */
function coreChecks(body: JsonObject, hash: string): BodyCheck[] {
  const core = body.hash_core;
  const at = checkAt('record_hash', 'hash_core');
  if (!isObject(core)) return [at.notApplicable('its hash core is not in this body')];
  const made = canonicalHash(core);
  const repeated = ['signal_id', 'entity', 'observed_at'].filter(
    (name) => Object.hasOwn(core, name) && Object.hasOwn(body, name),
  );
  return [
    made === hash ? at.pass('recomputed from the hash core') : at.fail(`it hashes to ${made}`),
    ...repeated.map((name) => agreement(name, body[name] === core[name], 'that of the hash core')),
  ];
}

function inclusionChecks(hash: string, proved: Proved, member: string): BodyCheck[] {
  const leaf = leafHash(logEntry(hash), sha256);
  const at = checkAt('inclusion', memberPath(member, 'inclusion_proof'));
  const { index, size, root, inclusion_proof } = proved;
  const claim = {
    index,
    size,
    leaf,
    root: hexToBytes(root),
    proof: inclusion_proof.map(hexToBytes),
  };
  return [
    agreement(
      memberPath(member, 'leaf_hash'),
      proved.leaf_hash === bytesToHex(leaf),
      'the leaf of the hash',
    ),
    verifyInclusion(claim, sha256)
      ? at.pass(`entry ${index} of the ${size} under the root`)
      : at.fail('does not lead from the hash to the root'),
  ];
}

function checkpointChecks(
  { checkpoint, size, root }: Proved,
  member: string,
  trusted: KeyTrust & PolicyTrust,
) {
  const at = checkAt('checkpoint', memberPath(member, 'checkpoint'));
  const stated = openNote(checkpoint)?.checkpoint;
  const isSame = stated?.size === size && bytesToHex(stated.root) === root;
  if (!isSame) return { signer: null, checks: [at.fail('not the signed note of this tree')] };
  const { fault: lack, witnessed } = judgeByPolicy(checkpoint, trusted);
  if (lack !== null) return { signer: null, checks: [at.fail(lack)] };
  const known = believedDids(trusted, trusted.keys?.keys[0]?.did);
  if (known.length === 0) {
    const detail = 'its signature is not checked: a note does not hold its key; pass --issuer';
    return { signer: null, checks: [at.notApplicable(detail)] };
  }
  const { fault, signers } = judgeNote(checkpoint, known, trusted.isSignature);
  const [signer = null] = signers;
  if (fault !== null) return { signer: null, checks: [at.fail(fault)] };
  const words = ['states this tree, signed', ...witnessed.map(witnessWords)].join(', ');
  return { signer, checks: [at.pass(words)] };
}

/** The proof against the newest checkpoint, where an answer brings one: it is of the same hash, and signed. */
function freshChecks(
  { hash, given = null }: { readonly hash: string; readonly given: JsonValue | undefined },
  trusted: KeyTrust & PolicyTrust,
): BodyCheck[] {
  if (given === null) return [];
  const at = checkAt('inclusion', 'tlog_proof');
  if (typeof given !== 'string') return [at.fail('not a text')];
  try {
    const proof = parseTlogProof(given);
    const known = believedDids(trusted, trusted.keys?.keys[0]?.did);
    const { fault } = known.length === 0 ? { fault: null } : judgeNote(proof.checkpoint, known);
    if (fault !== null) return [at.fail(fault)];
    const isLeaf = isLeafProven(proof, leafHash(logEntry(hash), sha256), sha256);
    return [isLeaf ? at.pass('of the newest tree') : at.fail('does not lead to its root')];
  } catch (error) {
    return [at.fail(messageOf(error))];
  }
}

/** A note has no time that a thief of a past key could not choose; then its proof against the newest checkpoint has to do. */
function ageChecks(
  { hash, note, saved }: { hash: string; note: string; saved: JsonValue },
  trusted: KeyTrust & PolicyTrust,
): BodyCheck[] {
  const past = pastSigner(note, trusted);
  if (past === null) return [];
  const at = checkAt('anchor', 'tlog_proof');
  if (isProvenNow(hash, saved, trusted)) return [at.pass('by a checkpoint of a key still in use')];
  return [at.notApplicable(`${past}: ask /proof/<hash> again, for a checkpoint of a later key`)];
}

function isProvenNow(hash: string, saved: JsonValue, trusted: KeyTrust & PolicyTrust): boolean {
  const text = tlogProofOf(saved);
  if (text === null) return false;
  try {
    const proof = parseTlogProof(text);
    const isLeaf = isLeafProven(proof, leafHash(logEntry(hash), sha256), sha256);
    return isLeaf && checkpointSigner(proof.checkpoint, trusted).isPresent;
  } catch {
    return false;
  }
}

/**
 * A body with a proof that was fetched later in the place of its own: a tlog-proof@v1 text, or the saved answer of
 * `/proof/<hash>`. Throws a RangeError for anything else; whether it proves the body is judged with the body.
 */
export function withFreshProof(body: JsonValue, text: string): JsonValue {
  const proof = tlogProofIn(text);
  if (!isObject(body)) return body;
  const { body: bare } = withoutProof(body);
  return { ...(bare as typeof body), [PROOF_MEMBER]: proof };
}

function tlogProofIn(text: string): string {
  try {
    const proof = text.startsWith('{') ? tlogProofOf(parseJson(text)) : text;
    if (proof === null) throw new RangeError('the answer holds no proof');
    parseTlogProof(proof);
    return proof;
  } catch (cause) {
    throw new RangeError(
      'Cannot use the fresh proof: not a tlog-proof@v1, nor an answer of /proof/<hash> with one; save that answer as it is',
      { cause },
    );
  }
}
