/**
 * `signalpress/verify`: judges a delivered body where it was saved, in a browser as in Node. It opens no socket and
 * holds no key. The judge is that of `signalpress verify`, so the page and the command always agree.
 */

import { BUILTIN } from '../catalog/builtin.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { messageOf } from '../format/errors.ts';
import { readKeyHistory } from '../format/key-history.ts';
import { decodeUtf8, type JsonValue } from '../format/strict-json.ts';
import { SERIES_CSV_HEADER } from '../products/shapes/series.ts';
import { bodyOfText, UNSIGNED_CSV } from '../products/shapes/series-csv.ts';
import {
  type BodyCheck,
  type BodyCheckName,
  type BodyReport,
  type CheckStatus,
  checkAt,
} from '../verify/body-check.ts';
import {
  type Demands,
  expectingProof,
  type ProvenReport,
  withDemands,
} from '../verify/demand-checks.ts';
import { type KeyTrust, trustedBy, trustedList } from '../verify/key-trust.ts';
import type { ProofDemand } from '../verify/logged-check.ts';
import { provenCatalog } from '../verify/signed-head.ts';
import { type FileTrust, parseTrust, trustOfFile } from '../verify/trust-file.ts';
import { type BodyTrust, verifyBody } from '../verify/verify-body.ts';
import { isSignedBy } from '../verify/verify-citation.ts';

export interface VerifyOptions {
  /** The request that it must answer: path and query, with or without `GET` and the address of the service. */
  readonly expect?: string | undefined;
  /** Longest age of what was observed, milliseconds by `now`. */
  readonly maxAgeMs?: number | undefined;
  /** DIDs that you trust, learnt from a source of your own; without one the best verdict is `issuer_unknown`. */
  readonly issuer?: string | readonly string[];
  /** The parsed `/.well-known/keys.json` of the issuer: which keys follow the trusted one, and which were revoked. */
  readonly keys?: unknown;
  /** In place of both: the text of a `signalpress.trust`, with its witnesses and its longest age. */
  readonly trust?: string | Uint8Array;
  /** The bytes of `/.well-known/catalog.json` and `release.json` of the service: what requests for its own lines mean. */
  readonly catalog?: { readonly file: Uint8Array; readonly head: Uint8Array };
  /** Whether a body that is not proven to be in the log fails, or is taken; by default it is `unproven`. */
  readonly demandsProof?: boolean | undefined;
  /** The root of a log, in hex, that you found in a Bitcoin block, and the time of that block: it shows that a proof is no younger. */
  readonly block?: { readonly root: string; readonly at: string } | undefined;
  /** Your clock, milliseconds since 1970; this machine's by default. */
  readonly now?: number;
}

export interface Verification extends ProvenReport {
  /** What was read; null for a text that is not strict JSON. */
  readonly body: JsonValue | null;
  /** The checks in plain words, in the order in which they are made. */
  readonly steps: readonly VerificationStep[];
}

const UNSIGNED_TABLE: BodyReport = {
  verdict: 'unsigned',
  issuer: null,
  checks: [checkAt('cover', '').notApplicable(UNSIGNED_CSV)],
};

/** Re-derives everything that a saved body says about itself. Bad text is a verdict; a bad option throws. */
export function verify(saved: string | Uint8Array, options: VerifyOptions = {}): Verification {
  const own = trustOf(options);
  const catalog = catalogOf(options, own);
  const trust = catalog === undefined ? own : { ...own, catalog };
  const { expect, maxAgeMs = own.maxAgeMs, demandsProof } = options;
  // What a request means is for the catalogue of the reader to say, whoever signed the body.
  const demands = { expect, maxAgeMs, now: trust.now, catalog: catalog ?? BUILTIN };
  return verified(readText(saved), { trust, demands, expectsProof: demandsProof === undefined });
}

/** As `verify`, for trust that was read before. @internal */
export function verifyText(
  saved: string | Uint8Array,
  trust: BodyTrust & Pick<FileTrust, 'maxAgeMs'>,
  { demandsProof }: Pick<VerifyOptions, 'demandsProof'>,
): Verification {
  const { now, maxAgeMs, catalog = BUILTIN } = trust;
  const demands = { now, maxAgeMs, catalog };
  const proof = proofDemand(demandsProof);
  const judging = { trust: { ...trust, proof }, demands, expectsProof: demandsProof === undefined };
  return verified(readText(saved), judging);
}

function verified(
  read: ReadText,
  { trust, demands, expectsProof }: { trust: BodyTrust; demands: Demands; expectsProof: boolean },
): Verification {
  const body = 'body' in read ? read.body : null;
  const report = 'body' in read ? verifyBody(read.body, trust) : read.report;
  const demanded = withDemands(report, body, demands);
  const said = expectsProof ? expectingProof(demanded, demands.expect) : demanded;
  return { ...said, body, steps: verificationSteps(said.checks) };
}

/** The body of a text; a report where it cannot be judged as one. */
type ReadText = { readonly body: JsonValue } | { readonly report: BodyReport };

function readText(saved: string | Uint8Array): ReadText {
  try {
    const text = typeof saved === 'string' ? saved : decodeUtf8(saved);
    if (text.startsWith(SERIES_CSV_HEADER)) return { report: UNSIGNED_TABLE };
    return { body: bodyOfText(text) };
  } catch (error) {
    const checks = [checkAt('json', '').fail(messageOf(error))];
    return { report: { verdict: 'failed', issuer: null, checks } };
  }
}

function proofDemand(demandsProof: boolean | undefined): ProofDemand {
  return demandsProof === true ? 'demanded' : 'noted';
}

function trustOf(options: VerifyOptions): BodyTrust & Pick<FileTrust, 'maxAgeMs'> {
  const { demandsProof, block, now = Date.now() } = options;
  return { now, proof: proofDemand(demandsProof), block, ...knownTrust(options) };
}

/**
 * Whom a caller trusts: as its file says, or its issuer with the keys that were passed; throws for what does not hold.
 * @internal
 */
export function knownTrust({
  issuer,
  keys,
  trust,
}: Pick<VerifyOptions, 'issuer' | 'keys' | 'trust'>): KeyTrust & Partial<FileTrust> {
  if (trust !== undefined) {
    if (issuer === undefined && keys === undefined) return trustOfFile(parseTrust(trust));
    throw new RangeError('Cannot use "trust" with "issuer" or "keys": the file names both');
  }
  const trusted = trustedBy(typeof issuer === 'string' ? [issuer] : issuer);
  if (keys === undefined) return trusted;
  return { ...trusted, keys: trustedList(readKeyHistory(keys, isSignedBy), trusted) };
}

/** The catalogue that was passed; throws for one that its head does not prove. */
function catalogOf({ catalog }: VerifyOptions, trust: KeyTrust): Catalog | undefined {
  if (catalog === undefined) return undefined;
  return provenCatalog({ catalog: catalog.file, head: catalog.head, ...trust }).catalog;
}

export type StepId =
  | 'readable'
  | 'signature'
  | 'issuer'
  | 'content'
  | 'record_hash'
  | 'series'
  | 'log'
  | 'logged'
  | 'revocation'
  | 'consistency'
  | 'request_time'
  | 'expect'
  | 'max_age';

/** Several checks of one kind, told to a person. */
export interface VerificationStep {
  readonly id: StepId;
  /** What holds if the step passed. */
  readonly title: string;
  readonly proves: string;
  readonly doesNotProve: string;
  /** `not_applicable`: the body holds nothing that this step is about, or nobody said whom to trust. */
  readonly status: CheckStatus;
  readonly findings: readonly BodyCheck[];
}

/** In the order of compiler/format/FORMAT.md, section 11: from the text to the statement, the body and the log. */
const WORDS: Readonly<Record<StepId, Pick<VerificationStep, 'title' | 'proves' | 'doesNotProve'>>> =
  {
    readable: {
      title: 'It can be read in one way only',
      proves:
        'The text is strict JSON: no name stands twice, and no number changes when it is read.',
      doesNotProve: 'That any of it is true.',
    },
    signature: {
      title: 'The signature fits the statement',
      proves: 'The owner of the named key signed this statement. Nothing in it was changed since.',
      doesNotProve: 'Who owns the key. Anybody can make one.',
    },
    issuer: {
      title: 'The signer is the issuer that you trust',
      proves: 'The key that signed is the one you named, or one that it announced.',
      doesNotProve:
        'That the issuer copied the agency correctly. Compare it with the agency’s own page.',
    },
    content: {
      title: 'The body is the one that was signed',
      proves:
        'The signed statement holds the hash of this body. One altered digit gives another hash.',
      doesNotProve:
        'Members of the moment of the request, such as the age. They are checked below.',
    },
    record_hash: {
      title: 'The reading has its own fingerprint',
      proves: 'Value, time and source of the reading give exactly its record hash.',
      doesNotProve: 'That the instrument of the agency was right.',
    },
    series: {
      title: 'No row is missing',
      proves: 'Each row names the one before it, and the statement signs where the chain ends.',
      doesNotProve: 'That there was nothing before the first row.',
    },
    log: {
      title: 'The log holds it',
      proves: 'The proof leads from the hash to the root of the log that the checkpoint states.',
      doesNotProve: 'What the hash stands for. The body that you bought shows that.',
    },
    logged: {
      title: 'The log of the issuer holds it',
      proves:
        'The proof leads from this statement to a release, as its answer to the request, and from there to a checkpoint that the issuer signed.',
      doesNotProve:
        'That no later release answers otherwise. Only a witness who signed the checkpoint too states a time.',
    },
    revocation: {
      title: 'Its key was valid when it was published',
      proves:
        'The release that the proof leads to is of a time at which this key was valid, and no later thief of the key can have made it.',
      doesNotProve: 'Anything about what the key signed later.',
    },
    consistency: {
      title: 'It does not contradict itself',
      proves: 'Whatever the body says twice, it says alike: times, sources, legs and classes.',
      doesNotProve: 'That two sources agree with each other.',
    },
    request_time: {
      title: 'Age and freshness follow from signed times',
      proves:
        'They change by the minute, so nobody signs them. They are those of the moment that it names, and none is missing.',
      doesNotProve: 'That it was delivered at that moment: it may have been kept since.',
    },
    expect: {
      title: 'It answers the request that you expect',
      proves: 'Operation, subject and parameters that were signed are those of your request.',
      doesNotProve: 'That nothing newer exists. Its age shows how old it is.',
    },
    max_age: {
      title: 'It is as young as you demand',
      proves: 'The time of observation that was signed lies within that age of your clock.',
      doesNotProve: 'That your clock is right.',
    },
  };

const STEP_OF: Readonly<Record<BodyCheckName, StepId>> = {
  json: 'readable',
  citation: 'signature',
  anchor: 'revocation',
  cover: 'content',
  content: 'content',
  record_hash: 'record_hash',
  series: 'series',
  consistency: 'consistency',
  request_time: 'request_time',
  inclusion: 'log',
  checkpoint: 'log',
  logged: 'logged',
  echo: 'content',
  expect: 'expect',
  max_age: 'max_age',
};
/** Steps that every body is told about, also where it holds nothing of the kind. */
const ALWAYS: readonly StepId[] = ['readable', 'signature', 'issuer', 'content'];
/** A proof of the log signs no body: its steps are those of the log. */
const OF_BODIES: readonly StepId[] = ['signature', 'issuer', 'content'];

/** The checks of a report as steps, in their order; a step that a body of this kind does not have is left out. */
export function verificationSteps(checks: readonly BodyCheck[]): VerificationStep[] {
  const isProof = checks.some(({ check }) => check === 'inclusion');
  const isRead = !checks.some(({ check, status }) => check === 'json' && status === 'fail');
  return (Object.keys(WORDS) as StepId[]).flatMap((id) => {
    const findings = checks.filter((check) => stepOf(check) === id);
    const isAlwaysShown = ALWAYS.includes(id) && !(isProof && OF_BODIES.includes(id));
    if (findings.length === 0 && !isAlwaysShown) return [];
    const status = id === 'readable' && isRead ? 'pass' : worst(findings);
    return [{ id, ...WORDS[id], status, findings }];
  });
}

function stepOf({ check, where }: BodyCheck): StepId {
  return check === 'citation' && where.endsWith('_citation.issuer_DID') ? 'issuer' : STEP_OF[check];
}

function worst(findings: readonly BodyCheck[]): CheckStatus {
  const has = (status: CheckStatus): boolean => findings.some((one) => one.status === status);
  if (has('fail')) return 'fail';
  return has('pass') ? 'pass' : 'not_applicable';
}
