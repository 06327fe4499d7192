import { basketOf } from '../contract/basket.ts';
import { legsLit } from '../contract/bundle.ts';
import { canonicalJson } from '../contract/canonical.ts';
import {
  type Citation,
  citationSchema,
  contentOf,
  sampleIn,
  withoutProof,
} from '../contract/citation.ts';
import { seriesHead } from '../contract/series.ts';
import { isObject, type JsonObject, type JsonValue } from '../contract/strict-json.ts';
import { type AnchorTrust, anchorChecks } from './anchor-checks.ts';
import { basketReport } from './basket-report.ts';
import {
  agreement,
  type BodyCheck,
  type BodyReport,
  type BodyVerdict,
  canonicalHash,
  checkAt,
  reason,
} from './body-check.ts';
import { catalogChecks, type JudgingCatalog } from './catalog-checks.ts';
import { addressCheck, citedChecks, lineageChecks, lookChecks } from './consistency-checks.ts';
import { soundVerdict } from './key-trust.ts';
import { type LogAnswer, logAnswer } from './log-answer.ts';
import { loggedCheck, unprovenChecks } from './logged-check.ts';
import { memberPath, type ObjectNode, objectNodes } from './object-nodes.ts';
import { recordHashChecks } from './record-hash-checks.ts';
import { isSame } from './relation.ts';
import { requestTimeChecks } from './request-time-checks.ts';
import { type SettlementAnswer, settlementAnswer } from './resolve-checks.ts';
import { isSeries, seriesChecks } from './series-checks.ts';
import {
  type CitationTrust,
  isVerified,
  type NamedCheck,
  verifyCitation,
} from './verify-citation.ts';

/**
 * The second reader. It derives again what one delivered body says about itself, and believes no member of it.
 *
 *  1. The citation: its members, its hash, its signature, and whether its key is one that the reader chose.
 *  2. The content: the hash of the whole body that the citation signs. A settlement answer is checked against its parts.
 *  3. The record hashes, the chain of a series, the lineage and the legs: all that follows from signed members.
 *  4. The members of request time, which nobody signs: there has to be one instant of which all of them are true.
 *  5. The proof that came with it, outside of all hashes: that it is in the log of its issuer.
 *
 * The steps are those of contract/FORMAT.md, section 11. No socket is opened, and the clock is given.
 *
 * Known limits: a key that the body names proves nothing, so without a chosen issuer the best verdict is
 * `issuer_unknown`. A signature tells who said something, not whether the source was right. The instant of the request
 * cannot be proven. Which question a body answers is for its buyer to compare (`client/judge-purchase.ts`).
 */

/** Whom to believe, and what shows that something is older than the end of its key. */
export interface BodyTrust extends CitationTrust, AnchorTrust {
  /** What readings are judged by: a catalogue of the issuer, proven. Without it only what is built in says what is lit. */
  readonly judgedBy?: JudgingCatalog;
  /** Clock of the reader, epoch milliseconds: what a body says of a later moment is false. Without it no moment is. */
  readonly now?: number;
  /** How the answer to one request of a basket is judged; as the basket without it. */
  readonly ofRequest?: (request: string) => BodyTrust;
}

/** Re-derives everything that one delivered body says about itself; needs the body alone. */
export function verifyBody(delivered: JsonValue, trust: BodyTrust): BodyReport {
  const unfit = unfitness(delivered);
  if (unfit !== null) return { verdict: 'failed', issuer: null, checks: [unfit] };
  const basket = basketOf(delivered);
  if (basket !== null) {
    const judge = (answer: JsonValue, request: string): BodyReport =>
      verifyBody(answer, trust.ofRequest?.(request) ?? trust);
    return basketReport(basket, { judge, catalog: trust.judgedBy?.catalog });
  }
  const answered = logAnswer(delivered, trust);
  if (answered !== null) return proofReport(answered, trust);
  return deliveredReport(delivered, trust);
}

/** One body, with the proof that came with it. */
function deliveredReport(delivered: JsonValue, trust: BodyTrust): BodyReport {
  const { body, proof } = withoutProof(delivered);
  const nodes = [...objectNodes(body)];
  const cited = nodes.filter((node) => node.value._citation !== undefined);
  const answer = settlementAnswer(body);
  const cover = answer?.cover ?? coverCheck(body, cited);
  const isAlone = proof === undefined && cited.every(({ path }) => path === '');
  const checks = [
    ...cited.flatMap((node) => citationChecks(node, { ...trust, answer, isAlone })),
    ...anchorChecks(cited, { body, proof }, trust),
    cover,
    ...(answer?.checks ?? []),
    ...nodes.flatMap(recordHashChecks),
    ...nodes.flatMap(seriesChecks),
    ...nodes.flatMap(lineageChecks),
    ...nodes.flatMap(countCheck),
    ...catalogChecks(nodes, trust.judgedBy),
    ...nodes.flatMap(lookChecks),
    ...requestTimeChecks(nodes, trust.now),
    ...(proof === undefined ? unprovenChecks(body, trust) : [loggedCheck(body, proof, trust)]),
  ];
  return { verdict: verdictOf(checks, cover, trust), issuer: issuerOf(cited), checks };
}

/** A proof that leads to a signed root stands for its hash alone. */
function proofReport({ checks, signer, isFound }: LogAnswer, trust: BodyTrust): BodyReport {
  const isOpen =
    !isFound || checks.some(({ check, status }) => check === 'anchor' && status !== 'pass');
  const sound = isOpen ? 'unsigned' : soundBody(checks, trust);
  return { verdict: isVerified(checks) ? sound : 'failed', issuer: signer, checks };
}

/** Of what holds in every way: verified only where all of the content is signed. */
function soundBody(checks: readonly BodyCheck[], { trust }: BodyTrust): BodyVerdict {
  const sound = soundVerdict(trust);
  return sound === 'verified' && !coversContent({ checks }) ? 'partly_verified' : sound;
}

/** Whether every citation in a body covers what it is attached to: a proof has none, and one of another issuer's form signs itself alone. */
export function coversContent({ checks }: Pick<BodyReport, 'checks'>): boolean {
  const contents = checks.filter((each) => each.check === 'content');
  return contents.length > 0 && contents.every((each) => each.status === 'pass');
}

/** Why a value cannot be hashed at all. */
function unfitness(body: JsonValue): BodyCheck | null {
  try {
    canonicalJson(body);
    return isObject(body) ? null : checkAt('json', '').fail('not an object');
  } catch (error) {
    return checkAt('json', '').fail(reason(error));
  }
}

function verdictOf(checks: readonly BodyCheck[], cover: BodyCheck, trust: BodyTrust): BodyVerdict {
  if (!isVerified(checks)) return 'failed';
  if (checks.some((each) => each.check === 'anchor' && each.status !== 'pass')) return 'unsigned';
  return cover.status === 'pass' ? soundBody(checks, trust) : 'unsigned';
}

/** Who signed a body, where a readable citation says so. */
export function signerOf(body: JsonValue): string | null {
  if (unfitness(body) !== null) return null;
  return issuerOf([...objectNodes(body)].filter(({ value }) => value._citation !== undefined));
}

/** The hash of the statement about a whole body, by which a release lists it; null where no readable citation covers all. */
export function statementOf(body: JsonValue): string | null {
  if (!isObject(body)) return null;
  const cited = sampleIn(body) ?? body;
  const citation = citationSchema.safeParse(cited._citation);
  return citation.success ? citation.data.record_hash : null;
}

function issuerOf([first]: readonly ObjectNode[]): string | null {
  const citation = first?.value._citation;
  const did = isObject(citation) ? citation.issuer_DID : undefined;
  return typeof did === 'string' ? did : null;
}

/** Whether some citation is about the whole body: its own, or that of the record a sample wraps. */
function coverCheck(body: JsonValue, cited: readonly ObjectNode[]): BodyCheck {
  const at = checkAt('cover', '');
  const paths = new Set(cited.map((node) => node.path));
  const wraps = sampleIn(body) !== null && paths.has('sample');
  if (paths.has('') || wraps) return at.pass('the citation is about the whole body');
  return at.notApplicable(
    paths.size === 0
      ? 'no citation: the record hashes can be looked up, nothing here is signed'
      : 'parts of the body stand outside every citation',
  );
}

interface CitedBy extends CitationTrust {
  /** The body as a settlement answer, if it is one. */
  readonly answer: SettlementAnswer | null;
  /** Whether it is the only citation, at the top of a body without a proof. */
  readonly isAlone: boolean;
}

function citationChecks(node: ObjectNode, by: CitedBy): BodyCheck[] {
  const { answer, ...trust } = by;
  const where = memberPath(node.path, '_citation');
  const checks = verifyCitation(node.value._citation, trust).map((each) => named(each, where));
  const parsed = citationSchema.safeParse(node.value._citation);
  if (!parsed.success) return checks;
  if (node.path === '' && answer !== null) {
    return [...checks, quotedContent(answer), addressCheck(node, parsed.data)];
  }
  const isOwnForm = parsed.data.claim !== undefined;
  return [
    ...checks,
    isOwnForm ? contentCheck(node, parsed.data) : uncoveredCheck(node, parsed.data, by),
    addressCheck(node, parsed.data),
    ...(isOwnForm ? citedChecks(node, parsed.data) : []),
  ];
}

/** The content is checked where it stands; what the answer adds is checked against it. */
function quotedContent({ quoted }: SettlementAnswer): BodyCheck {
  return checkAt('content', '_citation').pass(`about "${quoted}", which carries the same citation`);
}

/** Where each check of a citation looks. */
const CITATION_MEMBER: Readonly<Record<NamedCheck['check'], string | null>> = {
  shape: null,
  record_hash: 'record_hash',
  signature: 'signature',
  issuer: 'issuer_DID',
  key_id: 'key_id',
  verify_url: 'verify_url',
};

function named({ check, status, detail }: NamedCheck, where: string): BodyCheck {
  const member = CITATION_MEMBER[check];
  return {
    check: 'citation',
    where: member === null ? where : memberPath(where, member),
    status,
    detail,
  };
}

/** Statements of this format carry a claim, and a content hash that covers the body. */
function contentCheck(node: ObjectNode, { source }: Citation): BodyCheck {
  const at = contentAt(node);
  const signed = isSeries(node.value) ? seriesHead(node.value) : node.value;
  const hash = canonicalHash(contentOf(signed));
  const isCovered = hash === source.content_hash;
  return isCovered ? at.pass('recomputed from the body') : at.fail(`the body hashes to ${hash}`);
}

function contentAt({ path }: ObjectNode) {
  return checkAt('content', memberPath(path, '_citation.source.content_hash'));
}

/**
 * A statement without a claim is of another issuer's form and signs itself alone. It is taken where nothing around it is of
 * this format: whoever has a list of keys, and whoever sells with a proof, signs what a body says.
 */
function uncoveredCheck(
  node: ObjectNode,
  { key_id, issuer_DID }: Citation,
  { isAlone, keys }: CitedBy,
): BodyCheck {
  const at = contentAt(node);
  const isListed = keys?.keys.some(({ did }) => did === issuer_DID);
  if (!isAlone || isListed || key_id.startsWith('did:')) {
    return at.fail('a citation without a claim signs itself alone, and this is no other form');
  }
  return at.notApplicable(
    'not recomputable: a citation without a claim signs itself alone, and nothing signs the content',
  );
}

/** The names are in causal order; members of an object have none, so positions must not fall. */
function countCheck({ path, value }: ObjectNode): BodyCheck[] {
  const { legs, legs_lit: shown, leg_availability } = value;
  if (shown === undefined || !isObject(legs) || !isObject(shown)) return [];
  const of = isObject(leg_availability) ? leg_availability.expected : Object.keys(legs).length;
  const members = legs as Readonly<Record<string, { readonly lit?: JsonValue }>>;
  const right = legsLit(members, Number(of));
  const { names } = shown;
  const holds =
    isNames(names) &&
    isSame(shown, { count: right.count, of: right.of, names }) &&
    isSame([...names].sort(), [...right.names].sort()) &&
    isAscending(names.map((name) => positionOf(legs, name)));
  const odd = Object.keys(legs).find((name) => !isLitOrNot(legs[name]));
  return [
    agreement(memberPath(path, 'legs_lit'), holds, 'the count of the legs that are lit'),
    ...(odd === undefined
      ? []
      : [
          agreement(
            memberPath(path, `legs.${odd}.lit`),
            false,
            'true or false of a class, or null',
          ),
        ]),
  ];
}

/** Only a leg with a class is lit or not. */
function isLitOrNot(leg: JsonValue | undefined): boolean {
  if (!isObject(leg)) return false;
  const { lit, band = null } = leg;
  return lit === null || (typeof lit === 'boolean' && band !== null);
}

function isNames(value: JsonValue | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((name: JsonValue) => typeof name === 'string');
}

function positionOf(legs: JsonObject, name: string): number {
  const leg = legs[name];
  return isObject(leg) && typeof leg.position === 'number' ? leg.position : Number.NaN;
}

function isAscending(positions: readonly number[]): boolean {
  return positions.slice(1).every((position, at) => {
    const before = positions[at];
    return before !== undefined && position >= before;
  });
}
