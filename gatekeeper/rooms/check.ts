import { PROOF_MEMBER } from '../../compiler/format/citation.ts';
import { messageOf } from '../../compiler/format/errors.ts';
import { RECORD_HASH } from '../../compiler/format/record-hash.ts';
import {
  decodeUtf8,
  isObject,
  type JsonObject,
  type JsonValue,
} from '../../compiler/format/strict-json.ts';
import {
  CHECK_DETAILS_MAX,
  CHECKED_CITATIONS_MAX,
  type CheckBody,
} from '../../compiler/products/shapes/free-body-schemas.ts';
import { SERIES_CSV_HEADER } from '../../compiler/products/shapes/series.ts';
import {
  bodyOfText,
  isSignedCsv,
  UNSIGNED_CSV,
} from '../../compiler/products/shapes/series-csv.ts';
import { bulkSignatureCheck } from '../../compiler/verify/bulk-signature.ts';
import {
  type DemandedReport,
  expectingProof,
  type ProvenReport,
  type ProvenVerdict,
  withDemands,
} from '../../compiler/verify/demand-checks.ts';
import {
  type BodyTrust,
  coversContent,
  signerOf,
  verifyBody,
} from '../../compiler/verify/verify-body.ts';
import type { Answered, Question, Service } from '../heart/answers/service.ts';
import { findTaken } from '../heart/release/log-index.ts';
import { logTip } from '../heart/release/log-tip.ts';
import { isLogged } from '../heart/release/read-body.ts';
import type { ReleaseReader } from '../heart/release/release-index.ts';
import { jsonReply, type Reply } from '../wire/reply.ts';
import { jsonContent } from './json-content.ts';

/** Record hashes of one body that are looked up in the log. */
const INCLUSIONS_MAX = 64;
/** Entries of the log that are looked up for the proofs in one body. */
const PLACES_MAX = 64;
const USAGE =
  'POST a record, a whole delivered body, or {"record": …} as JSON, with "expect": "GET /gauge?…" beside it where it must answer that request; or a series as CSV that was delivered with format=csv-signed';

const NO_REQUEST = 'Cannot be judged: "expect" must be a text such as "GET /gauge?…"';

type BodyReport = ReturnType<typeof verifyBody>;
type HashOutcome = CheckBody['checks']['hash'];

interface SentBody {
  value: JsonValue;
  expect: string | undefined;
}

/** `POST /verify`: judges like the command line and keeps nothing. Computed, because the caller brings the body. */
export async function check({ body, spend }: Question, service: Service): Promise<Answered> {
  if (body === null) throw new TypeError('Cannot judge a body: none was read');
  const read = readBody(body, spend);
  if ('reply' in read) return { kind: 'reply', ...read };
  spend(read.cost);
  const { release, log } = service;
  const { keys } = release;
  const own = keys.keys.map(({ did }) => did);
  const reader = { release, log, spend };
  const now = service.clock();
  const trusted = {
    trust: own,
    keys,
    now,
    catalog: release.catalog,
    proof: 'noted',
    ...(await logFor(read.value, reader)),
  } as const;
  const report = judged(read.value, trusted);
  let demanded: DemandedReport;
  try {
    const { expect } = read;
    demanded = withDemands(report, read.value, { expect, catalog: release.catalog });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { kind: 'reply', ...refuse(400, messageOf(error)) };
  }
  const inclusion = await inclusionOf(hashesOf(read.value), reader);
  const { verdict, issuer } = report;
  const isOwn = verdict === 'verified' && issuer !== null && own.includes(issuer);
  return jsonContent(checkBody(expectingProof(demanded, read.expect), inclusion, isOwn), 0);
}

/**
 * The newest log, which leads a proof of a key that has ended to its checkpoint; none where it cannot be read, so that such a
 * body cannot be judged. Only the entries that the proofs name are looked up.
 */
async function logFor(
  value: JsonValue,
  { release, log }: Pick<Service, 'release' | 'log'>,
): Promise<Pick<BodyTrust, 'log'>> {
  const places = placesOf(value);
  if (places.size === 0) return {};
  try {
    const { proof, tree } = await logTip(release);
    const { entry: newest } = await tree.entry(tree.size - 1);
    const leaves = new Map<number, Uint8Array>();
    const held = [...places].filter((place) => place >= 0 && place < tree.size);
    for (const index of held.slice(0, PLACES_MAX)) {
      leaves.set(index, await tree.rangeHash({ start: index, end: index + 1 }));
    }
    const leafAt = (index: number): Uint8Array => {
      const leaf = leaves.get(index);
      if (leaf === undefined) throw new RangeError(`entry ${index} of the log was not looked up`);
      return leaf;
    };
    return { log: { note: proof.checkpoint, newest, leafAt } };
  } catch (error) {
    if (!isLogged(error)) log({ event: 'look_up_failed', error: messageOf(error) });
    return {};
  }
}

/** Entries that are named by the proofs in a body, and by an answer of the log. */
function placesOf(value: JsonValue, found = new Set<number>()): Set<number> {
  if (typeof value !== 'object' || value === null) return found;
  for (const [name, member] of Object.entries<JsonValue>(value as JsonObject)) {
    if (name === PROOF_MEMBER && typeof member === 'string') {
      const [, index] = /\nindex (\d{1,15})\n/.exec(member) ?? [];
      if (index !== undefined) found.add(Number(index));
    } else if (name === 'entry_index' && Number.isSafeInteger(member)) {
      found.add(Number(member));
    } else placesOf(member, found);
  }
  return found;
}

/** Judges a body for this issuer, or else as any issuer's, whose requests this catalogue does not define. */
function judged(value: JsonValue, trusted: BodyTrust): BodyReport {
  // The judge runs in the serving thread: signatures are left to OpenSSL.
  const isSignature = bulkSignatureCheck();
  const isOwn = trusted.trust.includes(signerOf(value) ?? '');
  const { catalog: _, ...ofOthers } = trusted;
  const report = verifyBody(value, { ...(isOwn ? trusted : ofOthers), isSignature });
  const failed = report.checks.filter(({ status }) => status === 'fail');
  const isOthers = report.issuer !== null && !trusted.trust.includes(report.issuer);
  const isSound = failed.every(({ where }) => where.endsWith('_citation.issuer_DID'));
  return isOthers && isSound
    ? verifyBody(value, { ...ofOthers, trust: 'any', isSignature })
    : report;
}

function readBody(
  bytes: Buffer,
  spend: Question['spend'],
): (SentBody & { cost: number }) | { reply: Reply } {
  let sent: JsonValue;
  try {
    const text = decodeUtf8(bytes);
    if (text.startsWith(SERIES_CSV_HEADER)) return refuse(400, `Cannot be judged: ${UNSIGNED_CSV}`);
    if (isSignedCsv(text)) spend(bytes.length / TABLE_BYTES_A_UNIT);
    sent = bodyOfText(text);
  } catch (error) {
    return refuse(400, `Cannot be judged: ${messageOf(error)}`);
  }
  const { value, expect } = unwrapped(sent);
  if (expect !== undefined && typeof expect !== 'string') return refuse(400, NO_REQUEST);
  const weight = checkCost(value);
  const isMany = weight.citations > CHECKED_CITATIONS_MAX;
  if (isMany || weight.cost > CHECK_COST_MAX) {
    const excess = isMany
      ? `${weight.citations} citations, more than ${CHECKED_CITATIONS_MAX}`
      : 'too much content for one request';
    return refuse(413, `Cannot be judged here: ${excess}; use signalpress verify`);
  }
  return { value, expect, cost: judgingCost(weight) };
}

function refuse(status: number, error: string): { reply: Reply } {
  return { reply: jsonReply(status, { error, usage: USAGE, no_charge: true }) };
}

/** `{record}` is the record, alone or with what it must answer; beside any other member it belongs to the body. */
function unwrapped(sent: JsonValue): { value: JsonValue; expect?: JsonValue } {
  if (!isObject(sent) || sent.record === undefined) return { value: sent };
  const { record: value, expect, ...others } = sent;
  if (Object.keys(others).length > 0) return { value: sent };
  return expect === undefined ? { value } : { value, expect };
}

/** Record hashes of readings and rows; those of statements are in no entry. */
function hashesOf(value: JsonValue, found = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return found;
  for (const [key, member] of Object.entries(value)) {
    if (key === 'record_hash' && typeof member === 'string' && RECORD_HASH.test(member)) {
      found.add(member);
    } else if (key !== '_citation') hashesOf(member, found);
  }
  return found;
}

async function inclusionOf(
  hashes: ReadonlySet<string>,
  { log, ...reader }: ReleaseReader & Pick<Service, 'log'>,
): Promise<CheckBody['checks']['inclusion']> {
  if (hashes.size === 0)
    return { status: 'not_applicable', detail: 'the body names no record hash' };
  try {
    const looked = [...hashes].slice(0, INCLUSIONS_MAX);
    const missing: string[] = [];
    for (const hash of looked) {
      const taken = await findTaken(hash.slice('sha256:'.length), reader);
      if (taken.length === 0) missing.push(hash);
    }
    const rest = looked.length < hashes.size ? ` of the first ${INCLUSIONS_MAX}` : '';
    const detail = `${looked.length - missing.length} of ${looked.length}${rest} are in the log`;
    return { status: missing.length === 0 ? 'pass' : 'fail', detail };
  } catch (error) {
    if (!isLogged(error)) log({ event: 'look_up_failed', error: messageOf(error) });
    return { status: 'undetermined', detail: 'the look-up could not be completed; ask again' };
  }
}

function checkBody(
  { verdict, issuer, checks, about }: ProvenReport,
  inclusion: CheckBody['checks']['inclusion'],
  isOwn: boolean,
): CheckBody {
  const of = (...names: readonly string[]): HashOutcome =>
    outcomeOf(checks.filter((one) => names.includes(one.check)));
  const isCovered = verdict !== 'issuer_unknown' || coversContent({ checks });
  // The age is for the reader's own clock to say.
  let signed: CheckBody['about'] = null;
  if (about !== null) {
    const { age_hours: _, ...ageless } = about;
    signed = ageless;
  }
  const worstFirst = [...checks].sort((a, b) => rank(a.status) - rank(b.status));
  return {
    endpoint: 'verify',
    verdict,
    issuer,
    is_issuer_record: isOwn,
    checks: {
      hash: of('record_hash'),
      signature: of('citation', 'anchor', 'cover', 'checkpoint'),
      content: of(
        'json',
        'content',
        'consistency',
        'request_time',
        'series',
        'inclusion',
        'logged',
      ),
      inclusion,
      ...(checks.some(({ check: name }) => name === 'expect') ? { expect: of('expect') } : {}),
    },
    about: signed,
    details: worstFirst.slice(0, CHECK_DETAILS_MAX),
    details_count: checks.length,
    statement: STATEMENTS[isCovered ? verdict : 'partly_verified'],
  };
}

const STATEMENTS: Readonly<Record<ProvenVerdict, string>> = {
  verified:
    'Everything in this body recomputes, and this issuer signed it; it describes and does not advise.',
  issuer_unknown:
    'Everything in this body recomputes, but an issuer other than this service signed it, and this service cannot vouch for that issuer.',
  partly_verified:
    'The citation alone, or the inclusion of one hash alone, holds; nothing signs the rest of this body.',
  failed:
    'Something in this body does not hold, or is not what was expected; the failed checks say what.',
  unproven:
    'Everything in this body recomputes, and this issuer signed it, but it came without the proof that it is in the log: buy it without proof=0, or say so in "expect".',
  unsigned: 'Nothing in this body contradicts itself, but not all of it is signed.',
};

function rank(status: HashOutcome['status']): number {
  return ['fail', 'pass', 'not_applicable'].indexOf(status);
}

/** The worst of several findings, with the detail of the first one that bad. */
function outcomeOf(findings: BodyReport['checks']): HashOutcome {
  const [worst] = [...findings].sort((a, b) => rank(a.status) - rank(b.status));
  if (worst === undefined)
    return { status: 'not_applicable', detail: 'the body holds nothing that this check covers' };
  const same = findings.filter(({ status }) => status === worst.status).length;
  const where = worst.where === '' ? 'the body' : worst.where;
  return {
    status: worst.status,
    detail: `${same} of ${findings.length}: ${where}: ${worst.detail}`,
  };
}

/** The most that judging a body may cost: some tens of milliseconds, far more than any sold body needs. */
export const CHECK_COST_MAX = 60_000;
/** Objects cost as much as this many plain values. */
const OBJECT_COST = 4;
/** So many characters of a text or a name cost as much as a plain value. */
const CHARS_A_VALUE = 64;

interface CheckCost {
  citations: number;
  /** Values read, each again for every hash that covers it. */
  cost: number;
}

/** Signatures cost the most: each costs as much as this many plain answers. */
const UNITS_A_CITATION = 12;
const COST_A_UNIT = 100;
/** The proof of a body has a signature of its own, and a hash for each level of the log. */
const PROOF_COST = 2 * UNITS_A_CITATION * COST_A_UNIT;
/** How often a proof is read: as a proof, as a note, and each of its lines as bytes. */
const PROOF_READINGS = 4;
/** Members that hold a signed note: the proof of a body, and that of an answer of the log. */
const NOTED = [PROOF_MEMBER, 'checkpoint'];

/** What judging a body costs in the units of the rate limit. */
export function judgingCost({ citations, cost }: CheckCost): number {
  return citations * UNITS_A_CITATION + cost / COST_A_UNIT;
}

/** Bytes of a table that cost one unit to read: several times what JSON costs, also where it is refused then. */
const TABLE_BYTES_A_UNIT = 500;

/**
 * Weighs a parsed body before it is judged; its depth is bounded by the parser, so this ends. `size` are the values read
 * once.
 */
export function checkCost(value: JsonValue): CheckCost & { size: number } {
  if (typeof value !== 'object' || value === null) {
    const size = 1 + (typeof value === 'string' ? value.length / CHARS_A_VALUE : 0);
    return { citations: 0, cost: size, size };
  }
  let [citations, cost, size] = [0, 0, OBJECT_COST];
  for (const [name, member] of Object.entries<JsonValue>(value as JsonObject)) {
    const inside = checkCost(member);
    citations += inside.citations;
    cost += inside.cost + (NOTED.includes(name) ? PROOF_COST + PROOF_READINGS * inside.size : 0);
    size += inside.size + name.length / CHARS_A_VALUE;
  }
  const own = Number(Object.hasOwn(value, '_citation'));
  const hashes = own + Number(Object.hasOwn(value, 'record_hash'));
  return { citations: citations + own, cost: cost + hashes * size + OBJECT_COST, size };
}
