import { sha256 } from '@noble/hashes/sha2.js';
import { canonicalJson } from '../format/canonical.ts';
import { logOrigin } from '../format/checkpoint.ts';
import {
  type Citation,
  citationSchema,
  citedBase,
  citedTarget,
  keyIdOf,
  sampleIn,
  withoutProof,
} from '../format/citation.ts';
import { messageOf } from '../format/errors.ts';
import { hasEnded } from '../format/key-history.ts';
import { leafHash } from '../format/merkle.ts';
import { type HashedRecord, hashCore, RECORD_HASH } from '../format/record-hash.ts';
import { isObject, type JsonObject, type JsonValue } from '../format/strict-json.ts';
import { logEntry } from '../format/tiles.ts';
import { isLeafProven, parseTlogProof, type ReadTlogProof } from '../format/tlog-proof.ts';
import { rosterCore, rosterKindOf } from '../products/collections.ts';
import { seriesHead } from '../products/shapes/series.ts';
import {
  agreement,
  type BodyCheck,
  type BodyReport,
  canonicalHash,
  checkAt,
  memberPath,
  type ObjectNode,
  objectNodes,
} from './body-check.ts';
import { believedDids, judgeSigner, soundVerdict } from './key-trust.ts';
import { judgeSigners } from './log-notes.ts';
import { nobodyWitnessed } from './logged-check.ts';
import {
  checkpointSigner,
  isWitnessed,
  judgeByPolicy,
  type PolicyTrust,
  pastSigner,
  witnessWords,
} from './policy-check.ts';
import { isSeries, recordHashChecks, seriesChecks } from './series-checks.ts';
import { type CitationTrust, isVerified, verifyCitation } from './verify-citation.ts';

/**
 * The judge of bodies of format 2, which nobody makes any more and many have saved.
 *
 *  1. The citation: its members, its hash, its signature, the addresses in it, and whether its key is believed.
 *  2. The content: the hash of the whole body that the citation signs, the record hashes, the chain of a series.
 *  3. The proof that came with it: that its reading or its statement is an entry of its issuer's log.
 *  4. The age: what a key signed that has ended or was revoked counts only if the log shows that it is older.
 *
 * Known limits: in format 2 nobody signs the moment of an answer, so its words of time ("fresh", "overdue") are not judged.
 * What only a release folder of format 2 shows is left to the last program of that format, and so are answers of `/resolve`,
 * of which the signed parts alone are judged. No socket is opened, and the clock is given.
 */

/** Whom the reader of a body believes, by which clock, and what is asked of its proof. */
export interface Format2Trust extends CitationTrust, PolicyTrust {
  /** `demanded`: a body without a proof fails. `noted`: that it has none is said. Without either it is not. */
  readonly proof?: 'demanded' | 'noted';
}

/** Members of request time by the signed member that they stand beside; no hash of format 2 covers them. */
const WORDS_OF_TIME: Readonly<Record<string, readonly string[]>> = {
  freshness_basis: ['age_hours_now', 'freshness', 'freshness_leg', 'dead_source'],
  last_looked_at: ['update_status'],
};

const NOT_JUDGED = checkAt('request_time', '').notApplicable(
  'words of time: not judged (format 2)',
);

/**
 * Whether a delivered body is of format 2. One of format 3 signs in its provenance which words of time it owes, so nobody can
 * take that list out. A body without a provenance, such as a thin form, has no such words; its proof tells, which has an extra
 * line since. Whoever buys takes no body of format 2 for a new one.
 */
export function isFormat2(delivered: JsonValue): boolean {
  const { body, proof } = withoutProof(delivered);
  const signed = sampleIn(body) ?? body;
  if (!isObject(signed) || !isObject(signed._citation)) return false;
  if (signed._citation.claim === undefined) return false;
  if (isObject(signed.provenance)) return signed.provenance.at_request === undefined;
  return typeof proof === 'string' && !/^[^\n]*\nextra /.test(proof);
}

/** Judges a delivered body of format 2; needs the body alone. */
export function judgeFormat2(delivered: JsonValue, trust: Format2Trust): BodyReport {
  const unfit = unfitness(delivered);
  if (unfit !== null) return { verdict: 'failed', issuer: null, checks: [unfit] };
  const { body, proof } = withoutProof(delivered);
  const top = sampleIn(body) === null ? '' : 'sample';
  const signed = sampleIn(body) ?? (body as JsonObject);
  const issuer = issuerOf(signed);
  const isQuoted = repeatsPart(signed);
  const logged = proof === undefined ? null : loggedEntry(signed, proof, trust);
  const nodes = [...objectNodes(body)];
  const cited = nodes.filter(({ value }) => value._citation !== undefined);
  const checks = [
    ...cited.flatMap((node) => citationChecks(node, isQuoted && node.path === top, trust)),
    ...cited.flatMap((node) => ageChecks(node, { logged, top }, trust)),
    coverCheck(signed, isQuoted),
    ...nodes.flatMap(recordHashChecks),
    ...nodes.flatMap(seriesChecks),
    ...(isQuoted ? [] : loggedChecks(logged, memberPath(top, '_proof'), trust)),
    NOT_JUDGED,
  ];
  const isOpen = checks.some(
    ({ check, status }) => (check === 'anchor' || check === 'cover') && status !== 'pass',
  );
  const sound = isOpen ? 'unsigned' : soundVerdict(trust.trust);
  return { verdict: isVerified(checks) ? sound : 'failed', issuer, checks };
}

function unfitness(body: JsonValue): BodyCheck | null {
  try {
    canonicalJson(body);
    return isObject(body) ? null : checkAt('json', '').fail('not an object');
  } catch (error) {
    return checkAt('json', '').fail(messageOf(error));
  }
}

function issuerOf({ _citation }: JsonObject): string | null {
  const did = isObject(_citation) ? _citation.issuer_DID : undefined;
  return typeof did === 'string' ? did : null;
}

/** An answer of `/resolve` repeats the citation of a part. No signed body can: its content would hold its own hash. */
function repeatsPart(body: JsonObject): boolean {
  const { candidate_sources: rows, evidence, coverage } = body;
  const own = statementHash(body);
  const parts = [Array.isArray(rows) ? rows[0] : undefined, evidence, coverage];
  return own !== null && parts.some((part) => isObject(part) && statementHash(part) === own);
}

function statementHash({ _citation }: JsonObject): string | null {
  const hash = isObject(_citation) ? _citation.record_hash : undefined;
  return typeof hash === 'string' && RECORD_HASH.test(hash) ? hash : null;
}

function coverCheck({ _citation }: JsonObject, isQuoted: boolean): BodyCheck {
  const at = checkAt('cover', '');
  if (_citation === undefined) return at.notApplicable('no citation is about the whole body');
  return isQuoted
    ? at.notApplicable('an answer about filings: the last program of format 2 judges it whole')
    : at.pass('the citation is about the whole body');
}

/** Of a citation that is quoted from a part, the content is judged there. */
function citationChecks(
  { path, value }: ObjectNode,
  isQuoted: boolean,
  trust: Format2Trust,
): BodyCheck[] {
  const where = memberPath(path, '_citation');
  const placeOf = (check: string): string => {
    if (check === 'shape') return where;
    return memberPath(where, check === 'issuer' ? 'issuer_DID' : check);
  };
  const checks = verifyCitation(value._citation, trust).map(
    ({ check, status, detail }): BodyCheck => {
      return { check: 'citation', where: placeOf(check), status, detail };
    },
  );
  const parsed = citationSchema.safeParse(value._citation);
  if (!parsed.success) return checks;
  const citation = parsed.data;
  const { source, key_id, issuer_DID } = citation;
  const near = source.url === null || citedTarget(citation) !== null;
  return [
    ...checks,
    ...(isQuoted ? [] : [contentCheck({ path, value }, citation)]),
    agreement(placeOf('verify_url'), near, 'at the address of source.url'),
    agreement(placeOf('key_id'), key_id === keyIdOf(issuer_DID), 'the key of the issuer DID'),
  ];
}

function contentCheck({ path, value }: ObjectNode, { claim, source }: Citation): BodyCheck {
  const at = checkAt('content', memberPath(path, '_citation.source.content_hash'));
  if (claim === undefined) return at.fail('a citation without a claim is of no body of ours');
  const { _citation, ...content } = isSeries(value) ? seriesHead(value) : value;
  const hash = canonicalHash(withoutWordsOfTime(content as JsonObject));
  return hash === source.content_hash
    ? at.pass('recomputed from the body')
    : at.fail(`the body hashes to ${hash}`);
}

/** A deep copy; of a member of request time nobody can add the signed one that makes it such. */
function withoutWordsOfTime(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutWordsOfTime);
  const left = Object.entries(WORDS_OF_TIME).flatMap(([basis, words]) =>
    Object.hasOwn(value, basis) ? words : [],
  );
  return Object.fromEntries(
    Object.entries<JsonValue>(value as JsonObject).flatMap(([name, member]) =>
      left.includes(name) ? [] : [[name, withoutWordsOfTime(member)]],
    ),
  );
}

/**
 * What a leaf of the log is the hash of: the reading that a body bears whole; a reading that it only names, so that its own
 * figures are in no entry; its signed statement.
 */
interface Leaf {
  readonly hash: string;
  readonly of: 'reading' | 'named reading' | 'statement';
}

const LEAF_WORDS: Readonly<Record<Leaf['of'], string>> = {
  reading: 'its reading',
  'named reading': 'the reading that it names, not its own figures,',
  statement: 'its signed statement',
};

/** Operations of format 2 whose bodies are about one reading, or about one row that they hold whole. */
const OF_READING = ['', '/ruler', '/calibrated', '/strata', '/history', '/history-series'].map(
  (product) => `/gauge${product}`,
);
const OF_ROW = [
  ...['/trust/precheck', '/mcp/server', '/stable/coin', '/pay/tier2', '/pay/tier3'],
  ...['/shadow/chatter', '/shadow/signal-plus', '/shadow/region-plus'],
  ...['/gauge/macro-reconcile-full', '/gauge/taiwan-region', '/gauge/japan-region'],
  '/gauge/chokepoint-region',
];

/** The hashes of which one has to be the leaf of a body's proof, the best first. */
function leavesOf(body: JsonObject, citation: Citation): Leaf[] {
  const statement: Leaf = { hash: citation.record_hash, of: 'statement' };
  const { record_hash: hash } = body;
  if (typeof hash !== 'string' || !RECORD_HASH.test(hash)) return [statement];
  // By the signed address: a body that joins several readings cannot borrow the entry of one of them.
  const [path = '', query] = citedTarget(citation)?.split('?', 2) ?? [];
  const asked = new URLSearchParams(query);
  if (OF_ROW.includes(path)) {
    return bearsReading(body, hash) ? [{ hash, of: 'reading' }, statement] : [statement];
  }
  const isOwn = ['signal_id', 'entity'].every((name) => asked.get(name) === body[name]);
  if (!OF_READING.includes(path) || !isOwn) return [statement];
  if (path !== '/gauge' || asked.has('format')) return [{ hash, of: 'named reading' }, statement];
  return bearsReading(body, hash) ? [{ hash, of: 'reading' }, statement] : [statement];
}

/** Whether a hash is that of a body's own members, and not of a core that somebody put beside them. */
function bearsReading(body: JsonObject, hash: string): boolean {
  try {
    const kind = rosterKindOf(body);
    const core = kind === null ? hashCore(body as HashedRecord) : rosterCore(kind, body);
    return !Object.hasOwn(body, '_hash_core') && canonicalHash(core) === hash;
  } catch {
    return false;
  }
}

/** The entry that a proof leads to, or why it leads to none of this body. */
type Logged =
  | { readonly read: ReadTlogProof; readonly of: Leaf['of']; readonly fault: null }
  | { readonly fault: string };

/** The proof leads to a checkpoint of the log of the service which the citation names, signed by a key that is believed. */
function loggedEntry(signed: JsonObject, proof: JsonValue, trust: Format2Trust): Logged {
  const cited = citationSchema.safeParse(signed._citation);
  if (!cited.success) return { fault: 'no citation says of which log it has to be' };
  if (typeof proof !== 'string') return { fault: 'not a text' };
  try {
    const read = parseTlogProof(proof);
    const [found, own] = [read.signed.origin, logOrigin(citedBase(cited.data))];
    if (found !== own) {
      return { fault: `its checkpoint is of the log "${found}", and the body is of "${own}"` };
    }
    const believed = believedDids(trust, cited.data.issuer_DID);
    const { fault } = judgeSigners(read, believed, trust.isSignature);
    if (fault !== null) return { fault: `its checkpoint: ${fault}` };
    const leaf = leavesOf(signed, cited.data).find(({ hash }) =>
      isLeafProven(read, leafHash(logEntry(hash), sha256), sha256),
    );
    if (leaf === undefined) return { fault: 'no hash of this body is the entry that it proves' };
    return { read, of: leaf.of, fault: null };
  } catch (error) {
    return { fault: messageOf(error) };
  }
}

function loggedChecks(logged: Logged | null, where: string, trust: Format2Trust): BodyCheck[] {
  const at = checkAt('logged', where);
  if (logged === null) {
    const demand = trust.policy === undefined ? trust.proof : 'demanded';
    const none = 'no proof that it is in the log came with it';
    if (demand === undefined) return [];
    return [demand === 'demanded' ? at.fail(none) : at.notApplicable(none)];
  }
  if (logged.fault !== null) return [at.fail(logged.fault)];
  const { index, checkpoint, signed, note } = logged.read;
  // A key of the past may have made the whole tree.
  const past = pastSigner(checkpoint, trust);
  if (past !== null) return [trust.proof === 'demanded' ? at.fail(past) : at.notApplicable(past)];
  const { fault, witnessed } = judgeByPolicy(checkpoint, trust);
  if (fault !== null) return [at.fail(fault)];
  const others = note.signatures.filter(({ name }) => name !== signed.origin).length;
  const unknown = nobodyWitnessed(others);
  const when =
    witnessed.length > 0 ? witnessed.map(witnessWords).join(', ') : `no time proven (${unknown})`;
  const entry = `${LEAF_WORDS[logged.of]} is entry ${index} of ${signed.origin}`;
  return [at.pass(`at size ${signed.size}, ${when}: ${entry}`)];
}

/**
 * Whoever has a key that has ended, or that was revoked, can date back what it signs, with a tree and a checkpoint of its own.
 * It counts where witnesses saw its statement in time; of an ended key also where a key in use signed a log with it.
 */
function ageChecks(
  { path, value }: ObjectNode,
  { logged, top }: { readonly logged: Logged | null; readonly top: string },
  trust: Format2Trust,
): BodyCheck[] {
  const parsed = citationSchema.safeParse(value._citation);
  if (!parsed.success || trust.keys === undefined) return [];
  const { issuer_DID: did, retrieved_at } = parsed.data;
  const key = trust.keys.keys.find((each) => each.did === did);
  const before = key?.revoked_from ?? key?.valid_until ?? null;
  const { status } = judgeSigner(trust, did, retrieved_at);
  if (key === undefined || before === null || status === 'refused') return [];
  const isRevoked = key.revoked_from !== null;
  if (!isRevoked && !hasEnded(trust.keys, did, trust.now)) return [];
  const entry = logged !== null && logged.fault === null ? logged : null;
  const shown =
    entry === null ? null : shownBy(entry.read.checkpoint, { before, isRevoked }, trust);
  const at = checkAt('anchor', memberPath(path, '_citation'));
  if (shown !== null && entry?.of === 'statement' && (path === top || !isRevoked)) {
    return [at.pass(`in the log, ${shown}`)];
  }
  const what =
    shown !== null && entry?.of === 'reading'
      ? 'only its reading is shown to be older'
      : 'nothing here shows that it is older';
  const remedy = 'the last program of format 2 may tell by a release folder';
  const why = isRevoked
    ? `${did} is revoked from ${before} on, and ${what}; ${remedy}`
    : `${did} was in use until ${before}, and ${what}; a newer proof of its citation shows it, or ${remedy}`;
  return [at.notApplicable(why)];
}

/** What shows that a tree is older than the end of a key, in words; null for nothing. */
function shownBy(
  checkpoint: string,
  { before, isRevoked }: { readonly before: string; readonly isRevoked: boolean },
  trust: Format2Trust,
): string | null {
  if (isWitnessed(checkpoint, trust, before)) return `as witnesses saw it before ${before}`;
  const isLater = !isRevoked && checkpointSigner(checkpoint, trust).isPresent;
  return isLater ? 'by a checkpoint of a key that is still in use' : null;
}
