import { sha256 } from '@noble/hashes/sha2.js';
import { logOrigin } from '../contract/checkpoint.ts';
import {
  type Citation,
  citationSchema,
  citedBase,
  citedTarget,
  hashedIn,
  owesProof,
  sampleIn,
} from '../contract/citation.ts';
import { TABLE } from '../contract/endpoints.ts';
import { messageOf } from '../contract/errors.ts';
import { hasEnded, type IssuerKey } from '../contract/key-history.ts';
import { leafHash } from '../contract/merkle.ts';
import { RECORD_HASH } from '../contract/record-hash.ts';
import { isObject, type JsonObject, type JsonValue } from '../contract/strict-json.ts';
import { logEntry } from '../contract/tiles.ts';
import { isLeafProven, parseTlogProof, type ReadTlogProof } from '../contract/tlog-proof.ts';
import { type BodyCheck, checkAt, memberPath, type ObjectNode } from './body-check.ts';
import { believedDids, judgeSigner, type KeyTrust } from './key-trust.ts';
import { judgeSigners } from './log-notes.ts';
import {
  checkpointSigner,
  isWitnessed,
  judgeByPolicy,
  type PolicyTrust,
  pastSigner,
  type Witnessed,
  witnessWords,
} from './policy-check.ts';
import { bearsCore } from './series-checks.ts';
import type { SignatureCheck } from './strict-signature.ts';

/**
 * `demanded`: a body that is not proven to be in the log fails. `noted`: that it is not is said, of a body that owes a proof.
 * Without either it is not.
 */
export type ProofDemand = 'demanded' | 'noted';

interface LoggedPlace {
  readonly index: number;
  readonly size: number;
}

/** Looks an entry up in a log that its reader passed; null where it is none of it, or the log is of another issuer or service. */
export type GivenLog = (leaf: {
  hash: string;
  origin: string;
  signer: string;
}) => LoggedPlace | null;

interface ProofTrust extends KeyTrust, PolicyTrust {
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
 * The entry that the proof of a body leads to: it is of this body, under a checkpoint of the log of the service which the
 * citation names, signed by a key that is known. Throws a RangeError that says what does not hold.
 */
function provenEntry(body: JsonValue, proof: JsonValue, trusted: ProofTrust) {
  const signed = sampleIn(body) ?? body;
  const cited = citationSchema.safeParse(isObject(signed) ? signed._citation : undefined);
  if (!cited.success) throw new RangeError('no citation says of which log it has to be');
  if (typeof proof !== 'string') throw new RangeError('not a text');
  const read = parseTlogProof(proof);
  const origin = logOrigin(citedBase(cited.data));
  if (read.signed.origin !== origin) {
    throw new RangeError(
      `its checkpoint is of the log "${read.signed.origin}", and the body is of "${origin}"`,
    );
  }
  const known = believedDids(trusted, cited.data.issuer_DID);
  const { fault } = judgeSigners(read, known, trusted.isSignature);
  if (fault !== null) throw new RangeError(`its checkpoint: ${fault}`);
  const proven = provableHashes(signed).find(({ hash }) =>
    isLeafProven(read, leafHash(logEntry(hash), sha256), sha256),
  );
  if (proven === undefined)
    throw new RangeError('no hash of this body is the entry that it proves');
  return { read, leaf: proven.of };
}

export function loggedCheck(body: JsonValue, proof: JsonValue, trusted: ProofTrust): BodyCheck {
  const at = checkAt('logged', sampleIn(body) === null ? '_proof' : 'sample._proof');
  try {
    const { read, leaf } = provenEntry(body, proof, trusted);
    const past = pastSigner(read.checkpoint, trusted);
    if (past !== null) return unfitProof(body, past, trusted);
    const { fault: lack, witnessed } = judgeByPolicy(read.checkpoint, trusted);
    return lack === null ? at.pass(wordsOf(read, leaf, witnessed)) : at.fail(lack);
  } catch (error) {
    return at.fail(messageOf(error));
  }
}

/** What is said of a body whose own proof a thief may have made. */
function unfitProof(body: JsonValue, why: string, trusted: ProofTrust): BodyCheck {
  const at = checkAt('logged', '_proof');
  const held = trusted.policy === undefined ? heldWords(body, trusted) : null;
  if (held !== null) return at.pass(held);
  return trusted.proof === 'demanded' ? at.fail(why) : at.notApplicable(why);
}

/** An entry that no thief of a past key could have made: witnesses saw it before, or a key that is still in use signed since. */
interface ShownLeaf {
  readonly leaf: ProvableHash['of'];
  readonly by: 'witnesses' | 'present key';
}

function shownLeaf(
  delivered: { body: JsonValue; proof: JsonValue },
  trusted: ProofTrust,
  before: string,
): ShownLeaf | null {
  try {
    const { read, leaf } = provenEntry(delivered.body, delivered.proof, trusted);
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

/** Behind the word `logged`: `at size 12, WHEN: its reading is entry 5 of readings.example/log`. */
function placeWords(
  { of, index, origin, size }: LoggedPlace & { of: keyof typeof LEAF_WORDS; origin: string },
  when: string,
): string {
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

/** Something that a key signed which was revoked later, or which ended. */
export interface AnchorQuestion {
  readonly body: JsonObject;
  /** The hash that must be an entry of the log; null for a body that has none. */
  readonly leaf: ProvableHash | null;
  /** Hash of the signed statement, and of when it says that it is. */
  readonly statement: string;
  readonly retrieved_at: string;
  /** From when the key was revoked, or until when it was valid. */
  readonly before: string;
  readonly isRevoked: boolean;
}

/**
 * `anchored`: shown to be older. `reading`: only its reading is, which it bears whole. `forged`: the log shows that it is not
 * older. `open`: the log shows neither.
 */
export interface AnchorAnswer {
  readonly state: 'anchored' | 'reading' | 'forged' | 'open';
  readonly detail: string;
}

/** Null where the log cannot tell: the release is of a time at which the key still signed. */
export type AnchorCheck = (question: AnchorQuestion) => AnchorAnswer | null;

export interface AnchorTrust extends ProofTrust {
  readonly anchors?: AnchorCheck;
}

const STATUS = {
  anchored: 'pass',
  reading: 'notApplicable',
  forged: 'fail',
  open: 'notApplicable',
} as const;
const HOW_TO_SHOW =
  'pass a release folder with --keys, or a fresh proof of its citation with --fresh-proof';

/**
 * A key that was revoked or that has ended can date back what it signs, with a tree and a checkpoint of its own: its citations
 * need something that it cannot have made, from before.
 */
export function anchorChecks(
  cited: readonly ObjectNode[],
  delivered: { body: JsonValue; proof: JsonValue | undefined },
  trust: AnchorTrust,
): BodyCheck[] {
  // The proof is one, however many citations a body has.
  const shown = new Map<string, ShownLeaf | null>();
  const shownBy = (before: string): ShownLeaf | null => {
    const { body, proof } = delivered;
    const known = shown.get(before);
    if (known !== undefined || proof === undefined) return known ?? null;
    const leaf = shownLeaf({ body, proof }, trust, before);
    shown.set(before, leaf);
    return leaf;
  };
  return cited.flatMap((node) => anchorCheck(node, shownBy, trust));
}

function anchorCheck(
  node: ObjectNode,
  shownBy: (before: string) => ShownLeaf | null,
  trust: AnchorTrust,
): BodyCheck[] {
  const parsed = citationSchema.safeParse(node.value._citation);
  const key = trust.keys?.keys.find(({ did }) => did === parsed.data?.issuer_DID);
  if (!parsed.success || key === undefined) return [];
  const limit = limitOf(parsed.data, key, trust);
  if (limit === null) return [];
  const at = checkAt('anchor', memberPath(node.path, '_citation'));
  const { retrieved_at, record_hash: statement } = parsed.data;
  const [leaf = null] = provableHashes(node.value);
  const question = { body: node.value, leaf, statement, retrieved_at, ...limit };
  const own = limit.detail === null ? null : answerOf(node, limit, shownBy(limit.before));
  const answer = best(own, trust.anchors?.(question) ?? null);
  if (answer !== null) return [at[STATUS[answer.state]](answer.detail)];
  return limit.detail === null ? [] : [at.notApplicable(`${limit.detail}; ${HOW_TO_SHOW}`)];
}

interface Limit {
  readonly before: string;
  readonly isRevoked: boolean;
  /** Why its age has to be shown; null where only a log can tell that it has to be. */
  readonly detail: string | null;
}

function limitOf(
  { issuer_DID: did, retrieved_at }: Citation,
  { revoked_from, valid_until }: IssuerKey,
  trust: AnchorTrust,
): Limit | null {
  const { status, detail } = judgeSigner(trust, did, retrieved_at);
  if (status === 'refused') return null;
  if (revoked_from !== null) return { before: revoked_from, isRevoked: true, detail };
  if (valid_until === null) return null;
  const isOver = trust.keys !== undefined && hasEnded(trust.keys, did, trust.now);
  const ended = `${did} was in use until ${valid_until}: what it signed counts only if that is shown to be older`;
  return { before: valid_until, isRevoked: false, detail: isOver ? ended : null };
}

function answerOf(
  { path }: ObjectNode,
  { before, isRevoked }: Limit,
  shown: ShownLeaf | null,
): AnchorAnswer | null {
  if (shown === null || (isRevoked && shown.by === 'present key')) return null;
  // A statement about the whole body vouches for all that stands in it, a reading for itself, a hash that is named for nothing.
  const isTop = ['', 'sample'].includes(path);
  const words = SHOWN_WORDS[shown.by](before);
  if (shown.leaf === 'statement' && (isTop || !isRevoked)) {
    return { state: 'anchored', detail: `in the log, ${words}` };
  }
  if (shown.leaf !== 'reading' || !isTop) return null;
  const rest = `its other words are signed by a key of the past alone; ${HOW_TO_SHOW}`;
  return { state: 'reading', detail: `only its reading is proven: in the log, ${words}; ${rest}` };
}

const SHOWN_WORDS: Readonly<Record<ShownLeaf['by'], (before: string) => string>> = {
  witnesses: (before) => `as witnesses saw it before ${before}`,
  'present key': () => 'by a checkpoint of a key that is still in use',
};

function best(own: AnchorAnswer | null, given: AnchorAnswer | null): AnchorAnswer | null {
  const order = ['anchored', 'forged', 'reading', 'open'] as const;
  const answers = [own, given].flatMap((each) => each ?? []);
  return order.map((state) => answers.find((each) => each.state === state)).find(Boolean) ?? null;
}

/**
 * A hash whose entry in the log proves a body, and what it is the hash of: its reading, which the body bears whole; a reading
 * that it only names, so that its own figures are in no entry; its signed statement.
 */
interface ProvableHash {
  readonly hash: string;
  readonly of: 'reading' | 'named reading' | 'statement';
}

/**
 * The hashes of which one has to be the leaf of a body's proof, the best first: the record hash of the one reading that it
 * is about, else its signed statement.
 */
function provableHashes(body: JsonValue): ProvableHash[] {
  if (!isObject(body)) return [];
  const own = ofReading(body);
  const statement = statementHash(body);
  return [
    ...(own === null ? [] : [own]),
    ...(statement === null ? [] : [{ hash: statement, of: 'statement' as const }]),
  ];
}

/**
 * The record hash of the one reading or row that a body is about, by its signed address. A body that joins several cannot borrow
 * the entry of one of them. A record and a row are hashed whole, so they bear the core of the hash themselves.
 */
function ofReading(body: JsonObject): ProvableHash | null {
  const { record_hash: hash } = body;
  const [path, asked] = signedAddress(body);
  const row = TABLE.find((each) => each.path === path);
  const of = row === undefined ? null : hashedIn(row);
  if (of === null || typeof hash !== 'string' || !RECORD_HASH.test(hash)) return null;
  const isWhole = of === 'row' || (path === '/gauge' && !asked.has('format'));
  if (isWhole && !bearsCore(body, of)) return null;
  const isOfBody = (name: string): boolean => asked.get(name) === body[name];
  const isOwn = of === 'row' || ['signal_id', 'entity'].every(isOfBody);
  return isOwn ? { hash, of: isWhole ? 'reading' : 'named reading' } : null;
}

function signedAddress({ _citation }: JsonObject): [string | undefined, URLSearchParams] {
  const cited = citationSchema.safeParse(_citation);
  const [path, query] = (cited.success ? citedTarget(cited.data) : null)?.split('?', 2) ?? [];
  return [path, new URLSearchParams(query)];
}

function statementHash({ _citation }: JsonObject): string | null {
  const hash = isObject(_citation) ? _citation.record_hash : undefined;
  return typeof hash === 'string' && RECORD_HASH.test(hash) ? hash : null;
}
