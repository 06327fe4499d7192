import { BUILTIN } from '../catalog/builtin.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { canonicalJson } from '../format/canonical.ts';
import {
  type Citation,
  citationSchema,
  citedTarget,
  contentOf,
  keyIdOf,
  PROOF_MEMBER,
  sampleIn,
  withoutProof,
} from '../format/citation.ts';
import { roundDecimal } from '../format/decimal.ts';
import { messageOf } from '../format/errors.ts';
import { HOUR_MS, utcTime } from '../format/iso-time.ts';
import { isObject, type JsonObject, type JsonValue } from '../format/strict-json.ts';
import {
  type BasketBody,
  type BasketPart,
  basketOf,
  isSoldPart,
  type SoldPart,
} from '../products/shapes/basket.ts';
import { bandOfRecord, isLit, legsLit } from '../products/shapes/bundle.ts';
import { parseFreshnessBasis } from '../products/shapes/freshness.ts';
import { atomicAmount, usdAmount } from '../products/shapes/price.ts';
import type { SignalRecord } from '../products/shapes/record.ts';
import { seriesHead } from '../products/shapes/series.ts';
import { answerFault, questionOf } from './answer-fault.ts';
import {
  agreement,
  type BodyCheck,
  type BodyReport,
  type BodyVerdict,
  canonicalHash,
  checkAt,
  memberPath,
  type ObjectNode,
  objectNodes,
} from './body-check.ts';
import { isFormat2, judgeFormat2 } from './format-2.ts';
import { soundVerdict } from './key-trust.ts';
import { logAnswer } from './log-answer.ts';
import { judgeProof, keyChecks, loggedChecks, type ProofTrust } from './logged-check.ts';
import { isSame } from './relation.ts';
import { requestTimeChecks, type TimeReader } from './request-time.ts';
import { isSeries, recordHashChecks, seriesChecks } from './series-checks.ts';
import { settlementChecks } from './settlement-checks.ts';
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
 *  2. The content: the hash of the whole body that the citation signs.
 *  3. The record hashes, the chain of a series, the lineage and the legs: all that follows from signed members.
 *  4. The members of request time, which nobody signs: they are made again for the instant that the body names.
 *  5. The proof that came with it, outside of all hashes: that it is the answer of a release in the log of its issuer, at
 *     whose time the key of each citation was valid.
 *
 * The steps are those of format/FORMAT.md. No socket is opened, and the clock is given.
 *
 * Known limits: a key that the body names proves nothing, so without a chosen issuer the best verdict is
 * `issuer_unknown`. A signature tells who said something, not whether the source was right. That a body was delivered at the
 * instant that it names, and answers what was asked for, is for its buyer to compare (`client/judge-purchase.ts`).
 */

/** Whom to believe, and what shows when a release was published. */
export interface BodyTrust extends CitationTrust, ProofTrust, TimeReader {
  /** What the requests of a basket mean: a proven catalogue of the issuer, the built-in one without it. */
  readonly catalog?: Catalog | undefined;
  /** How the answer to one request of a basket is judged; as the basket without it. */
  readonly ofRequest?: (request: string) => BodyTrust;
}

/** Re-derives everything that one delivered body says about itself; needs the body alone. */
export function verifyBody(delivered: JsonValue, trust: BodyTrust): BodyReport {
  const unfit = unfitness(delivered);
  if (unfit !== null) return { verdict: 'failed', issuer: null, checks: [unfit] };
  if (!isObject(delivered)) {
    const checks = [checkAt('cover', '').notApplicable('not an object: nobody signed it')];
    return { verdict: 'unsigned', issuer: null, checks };
  }
  const basket = basketOf(delivered);
  if (basket !== null) {
    const judge = (answer: JsonValue, request: string): BodyReport =>
      verifyBody(answer, trust.ofRequest?.(request) ?? trust);
    return basketReport(basket, { judge, catalog: trust.catalog });
  }
  const answered = logAnswer(delivered, trust);
  if (answered !== null) {
    const isOpen =
      !answered.isFound ||
      answered.checks.some(({ check, status }) => check === 'anchor' && status !== 'pass');
    const sound = isOpen ? 'unsigned' : soundBody(answered.checks, trust);
    return {
      verdict: isVerified(answered.checks) ? sound : 'failed',
      issuer: answered.signer,
      checks: answered.checks,
    };
  }
  if (isFormat2(delivered)) return judgeFormat2(delivered, trust);
  return deliveredReport(delivered, trust);
}

function deliveredReport(delivered: JsonValue, trust: BodyTrust): BodyReport {
  const { body, proof } = withoutProof(delivered);
  const nodes = [...objectNodes(body)];
  const cited = nodes.filter((node) => node.value._citation !== undefined);
  const cover = coverCheck(body, cited);
  const judged = judgeProof(body, proof, trust);
  const isAlone = proof === undefined && cited.every(({ path }) => path === '');
  const checks = [
    ...cited.flatMap((node) => citationChecks(node, { ...trust, isAlone })),
    ...keyChecks(cited, judged, trust),
    cover,
    ...settlementChecks(body),
    ...nodes.flatMap(recordHashChecks),
    ...nodes.flatMap(seriesChecks),
    ...nodes.flatMap(lineageChecks),
    ...nodes.flatMap(countCheck),
    ...nodes.flatMap(({ path, value }) => {
      const { signal_id, lit, provenance, position = provenance } = value;
      const signal = BUILTIN.entryById.get(String(signal_id))?.signal;
      if (lit === undefined || position === undefined || signal === undefined) return [];
      const band =
        value.band === undefined ? bandOfRecord(value as unknown as SignalRecord) : value.band;
      const right = isLit(signal, typeof band === 'string' ? band : null);
      const where = memberPath(path, 'lit');
      return [agreement(where, lit === right, `${right}, which follows from its class`)];
    }),
    ...nodes.flatMap(lookChecks),
    ...requestTimeChecks(nodes, trust),
    ...loggedChecks(body, judged, trust),
  ];
  const release = judged !== null && 'proven' in judged ? { release: judged.proven.entry } : {};
  return { verdict: verdictOf(checks, cover, trust), issuer: issuerOf(cited), ...release, checks };
}

/** Of what holds in every way: verified only where all of the content is signed. */
function soundBody(checks: readonly BodyCheck[], { trust }: BodyTrust): BodyVerdict {
  const sound = soundVerdict(trust);
  return sound === 'verified' && !coversContent({ checks }) ? 'partly_verified' : sound;
}

/**
 * Whether every citation in a body covers what it is attached to: a proof has none, and one of another issuer's form signs
 * itself alone.
 */
export function coversContent({ checks }: Pick<BodyReport, 'checks'>): boolean {
  const contents = checks.filter((each) => each.check === 'content');
  return contents.length > 0 && contents.every((each) => each.status === 'pass');
}

function unfitness(body: JsonValue): BodyCheck | null {
  try {
    canonicalJson(body);
    return null;
  } catch (error) {
    return checkAt('json', '').fail(messageOf(error));
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
  /** Whether it is the only citation, at the top of a body without a proof. */
  readonly isAlone: boolean;
}

function citationChecks(node: ObjectNode, by: CitedBy): BodyCheck[] {
  const where = memberPath(node.path, '_citation');
  const checks = verifyCitation(node.value._citation, by).map((each) => named(each, where));
  const parsed = citationSchema.safeParse(node.value._citation);
  if (!parsed.success) return checks;
  const isOwnForm = parsed.data.claim !== undefined;
  return [
    ...checks,
    isOwnForm ? contentCheck(node, parsed.data) : uncoveredCheck(node, parsed.data, by),
    addressCheck(node, parsed.data),
    ...(isOwnForm ? citedChecks(node, parsed.data) : []),
  ];
}

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
function contentCheck(node: ObjectNode, { source, fact }: Citation): BodyCheck {
  const at = contentAt(node);
  const { [PROOF_MEMBER]: _, ...body } = node.value;
  const signed = isSeries(node.value) ? seriesHead(body) : body;
  const hash = canonicalHash(contentOf(signed));
  const isCovered = hash === source.content_hash;
  // A hash does not tell which member differs; the statement beside it tells what they were.
  const states = `the body hashes to ${hash}; its statement says "${fact.slice(0, QUOTED_MAX)}"`;
  return isCovered ? at.pass('recomputed from the body') : at.fail(states);
}

const QUOTED_MAX = 300;

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
    isAscending(
      names.map((name) => {
        const leg = legs[name];
        return isObject(leg) && typeof leg.position === 'number' ? leg.position : Number.NaN;
      }),
    );
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

function isAscending(positions: readonly number[]): boolean {
  return positions.slice(1).every((position, at) => {
    const before = positions[at];
    return before !== undefined && position >= before;
  });
}

type Verdict = Exclude<BodyReport['verdict'], 'partly_verified'>;

interface PartJudge {
  readonly judge: (answer: JsonValue, request: string) => BodyReport;
  /** Of the publisher; without it the built-in one. */
  readonly catalog: Catalog | undefined;
}

/** The better of two verdicts stands further on. */
const FROM_WORST: readonly Verdict[] = ['failed', 'unsigned', 'issuer_unknown', 'verified'];

/**
 * Judges a basket by its answers, each as if it had come alone, and by whether each answers the request that it stands
 * under. Nobody signs the basket itself: that a request was not sold, and what was paid, is the word of who delivered it.
 */
function basketReport(basket: BasketBody, by: PartJudge): BodyReport {
  const answers = basket.parts.map((part, at) => partReport(part, `parts[${at}]`, by));
  const sum = sumCheck(basket);
  const verdicts = answers.flatMap(({ verdict }) => verdict ?? []);
  const signers = new Set(answers.flatMap(({ issuer }) => issuer ?? []));
  const [issuer = null] = signers;
  const checks = [
    ...answers.flatMap((one) => one.checks),
    sum,
    agreement('parts', signers.size <= 1, 'signed by one issuer'),
  ];
  const isRefuted = checks.some(({ status }) => status === 'fail');
  const worst = FROM_WORST.find((verdict) => verdicts.includes(verdict)) ?? 'unsigned';
  return { verdict: isRefuted ? 'failed' : worst, issuer, checks };
}

/** The verdict is null for a request without an answer. */
function partReport(part: BasketPart, where: string, by: PartJudge) {
  if (!isSoldPart(part)) {
    const check = checkAt('cover', where).notApplicable(`not sold: ${part.not_sold}`);
    return { verdict: null, issuer: null, checks: [check] };
  }
  const { verdict, issuer, checks } = by.judge(part.answer as JsonValue, part.request);
  const inside = checks.map((one) => ({ ...one, where: placeIn(`${where}.answer`, one.where) }));
  const question = questionCheck(part, `${where}.request`, by.catalog);
  const isCompared = question.status !== 'not_applicable' || verdict === 'failed';
  const own = isCompared && verdict !== 'partly_verified' ? verdict : 'unsigned';
  return { verdict: own, issuer, checks: [...inside, question] };
}

function placeIn(holder: string, where: string): string {
  return where === '' ? holder : `${holder}.${where}`;
}

/** A true answer under another request's name is a lie too; a request that the catalogue lacks cannot be compared. */
function questionCheck(
  { request, answer }: SoldPart,
  where: string,
  catalog: Catalog = BUILTIN,
): BodyCheck {
  const at = checkAt('consistency', where);
  const question = questionOf(request, catalog);
  if (question === null) {
    return at.notApplicable('no operation of this catalogue; pass that of the publisher');
  }
  const fault = answerFault(question, answer as JsonValue, catalog);
  return fault === null ? at.pass('the answer is to this request') : at.fail(fault);
}

function sumCheck({ parts, total_usd }: BasketBody): BodyCheck {
  const prices = parts.flatMap((part) => (isSoldPart(part) ? [atomicAmount(part.price_usd)] : []));
  const sum = prices.reduce((total, price) => total + BigInt(price), 0n);
  return agreement('total_usd', total_usd === usdAmount(String(sum)), 'the sum of the prices');
}

/** Whether the lineage of a body names the readings that the body holds, and no other. */
function lineageChecks({ path, value }: ObjectNode): BodyCheck[] {
  const { provenance } = value;
  if (!isObject(provenance) || !Array.isArray(provenance.data_lineage)) return [];
  const where = memberPath(path, 'provenance');
  const links = provenance.data_lineage.filter(isObject);
  // What a body holds by record hash, its own provenance left aside.
  const held = new Map<string, JsonObject>();
  for (const node of objectNodes(value)) {
    const { record_hash } = node.value;
    if (typeof record_hash !== 'string' || /(^|\.)provenance\./.test(node.path)) continue;
    if (!held.has(record_hash)) held.set(record_hash, node.value);
  }
  if (held.size === 0) return [];
  return [
    ...links.flatMap((link, i) => linkChecks(link, held, memberPath(where, `data_lineage.${i}`))),
    ...missingLink(value, links, memberPath(where, 'data_lineage')),
    ...oldestCheck(provenance, links, where),
  ];
}

function linkChecks(link: JsonObject, held: Map<string, JsonObject>, where: string): BodyCheck[] {
  const { record_hash } = link;
  if (typeof record_hash !== 'string') return [];
  const at = checkAt('consistency', memberPath(where, 'record_hash'));
  const reading = held.get(record_hash);
  if (reading === undefined) return [at.fail('names a reading that the body does not hold')];
  const pairs = [
    ['observed_at', reading.observed_at],
    ['signal', reading.signal_id],
    ['source_ref', reading.source_ref],
  ] as const;
  const off = pairs.find(([name, own]) => own !== undefined && link[name] !== own);
  if (off === undefined) return [at.pass('names a reading of the body')];
  return [checkAt('consistency', memberPath(where, off[0])).fail('differs from its reading')];
}

/** A body about one reading, and a body of legs, must name each of them. */
function missingLink(value: JsonObject, links: readonly JsonObject[], where: string): BodyCheck[] {
  const legs = isObject(value.legs) ? Object.values(value.legs).filter(isObject) : [];
  const named = new Set(links.map((link) => link.record_hash));
  const unnamed = [value, ...legs].find(
    ({ record_hash }) => typeof record_hash === 'string' && !named.has(record_hash),
  );
  if (unnamed === undefined) return [];
  return [checkAt('consistency', where).fail(`does not name ${String(unnamed.record_hash)}`)];
}

function oldestCheck(provenance: JsonObject, links: readonly JsonObject[], where: string) {
  const at = checkAt('consistency', memberPath(where, 'oldest_leg_as_of'));
  const times = links.map((link) => instant(link.observed_at));
  if (times.length === 0 || times.some(Number.isNaN)) return [];
  return instant(provenance.oldest_leg_as_of) === Math.min(...times)
    ? [at.pass('the oldest time of the lineage')]
    : [at.fail('not the oldest time of the lineage')];
}

/** The address of a citation is not signed itself, but it must lie where the signed source does. */
function addressCheck({ path }: ObjectNode, citation: Citation): BodyCheck {
  const near = citation.source.url === null || citedTarget(citation) !== null;
  return agreement(memberPath(path, '_citation.verify_url'), near, 'at the address of source.url');
}

/** Checks the members of a citation that are unsigned or repeat its body; for citations of this format only. */
function citedChecks({ path, value }: ObjectNode, citation: Citation): BodyCheck[] {
  const { source, key_id, issuer_DID } = citation;
  const provenance = isObject(value.provenance) ? value.provenance : {};
  const expected: readonly (readonly [where: string, holds: boolean, what: string])[] = [
    ['key_id', key_id === keyIdOf(issuer_DID), 'the key of the issuer DID'],
    [
      'source.published_at',
      source.published_at === (value.observed_at ?? provenance.oldest_leg_as_of),
      'the observation time of the body',
    ],
  ];
  const cited = expected.map(([where, holds, what]) =>
    agreement(memberPath(path, `_citation.${where}`), holds, what),
  );
  return [...cited, ...collectionChecks({ path, value }, citation.retrieved_at)];
}

/** Times that a body about one reading derives from when the reading was collected. */
function collectionChecks({ path, value }: ObjectNode, collectedAt: string): BodyCheck[] {
  const { observed_at, record_hash, data_age_hours, snapshot_date, provenance } = value;
  if (typeof observed_at !== 'string' || typeof record_hash !== 'string') return [];
  const age = Math.max(0, instant(collectedAt) - instant(observed_at)) / HOUR_MS;
  if (Number.isNaN(age)) return [];
  const hours = roundDecimal(age, 1);
  const joined = isObject(provenance) ? provenance.data_age_hours : undefined;
  const derived = [
    ['data_age_hours', data_age_hours, hours],
    ['provenance.data_age_hours', joined, hours],
    ['snapshot_date', snapshot_date, `${collectedAt.slice(0, 10)}T00:00:00Z`],
  ] as const;
  return derived
    .filter(([, found]) => found !== undefined && found !== null)
    .map(([where, found, want]) =>
      agreement(memberPath(path, where), found === want, `${want}, from the time of collection`),
    );
}

/**
 * What the publication state of a record follows from: its cadence is said twice, and it was looked at no earlier than
 * observed or collected.
 */
function lookChecks({ path, value }: ObjectNode): BodyCheck[] {
  const { last_looked_at, official_cadence, observed_at, provenance, _citation } = value;
  if (last_looked_at === undefined || !isObject(provenance)) return [];
  const basis = String(provenance.freshness_basis);
  const collected = isObject(_citation) ? _citation.retrieved_at : observed_at;
  const looked = instant(last_looked_at);
  const isLater = [observed_at, collected].every((time) => !(looked < instant(time)));
  return [
    agreement(
      memberPath(path, 'official_cadence'),
      parseFreshnessBasis(basis) === official_cadence,
      'the cadence of the freshness_basis',
    ),
    agreement(memberPath(path, 'last_looked_at'), isLater, 'at or after the collection'),
  ];
}

function instant(time: unknown): number {
  return typeof time === 'string' ? utcTime(time) : Number.NaN;
}
