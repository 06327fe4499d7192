/**
 * `signalpress/verify`: judges a delivered body where it was saved, in a browser as in Node. It opens no socket and
 * holds no key. The judge is that of `signalpress verify`, so the page and the command always agree.
 */
import { BUILTIN } from '../contract/catalog/builtin.ts';
import type { Catalog } from '../contract/catalog/catalog.ts';
import { readKeyHistory } from '../contract/key-history.ts';
import { SERIES_CSV_HEADER } from '../contract/series.ts';
import { bodyOfText, UNSIGNED_CSV } from '../contract/series-csv.ts';
import { decodeUtf8, type JsonValue } from '../contract/strict-json.ts';
import { type BodyReport, checkAt, reason } from '../verify/body-check.ts';
import {
  type Demands,
  expectingProof,
  type ProvenReport,
  withDemands,
} from '../verify/demand-checks.ts';
import { withFreshProof } from '../verify/fresh-proof.ts';
import { type KeyTrust, trustedBy, trustedList } from '../verify/key-trust.ts';
import type { ProofDemand } from '../verify/logged-check.ts';
import { type PolicyTrust, readPolicy } from '../verify/policy-check.ts';
import { provenCatalog } from '../verify/proven-catalog.ts';
import { type BodyTrust, verifyBody } from '../verify/verify-body.ts';
import { isSignedBy } from '../verify/verify-citation.ts';
import { type VerificationStep, verificationSteps } from './verification-steps.ts';

export interface VerifyOptions extends Pick<Demands, 'expect' | 'maxAgeMs'> {
  /** DIDs that you trust, learnt from a source of your own; without one the best verdict is `issuer_unknown`. */
  readonly issuer?: string | readonly string[];
  /** DIDs of root keys of the issuer, as many as a version of its root needs: they vouch for `keys`, in place of `issuer`. */
  readonly root?: string | readonly string[];
  /** The parsed `/.well-known/keys.json` of the issuer: which keys follow the trusted one, and which were revoked. */
  readonly keys?: unknown;
  /** The bytes of `/.well-known/catalog.json` and `release.json` of the service: what requests for its own lines mean. */
  readonly catalog?: { readonly file: Uint8Array; readonly head: Uint8Array };
  /** Logs and witnesses that you trust, as the text of a tlog-policy: the proof of a body must be witnessed by its quorum. */
  readonly policy?: string | Uint8Array;
  /** Whether a body that is not proven to be in the log fails, or is taken; by default it is `unproven`. */
  readonly demandsProof?: boolean | undefined;
  /** A proof that was fetched later, in the place of that of the body: the text of an answer of `/proof/<hash>`, or a tlog-proof. */
  readonly freshProof?: string;
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
  const { expect, maxAgeMs, demandsProof, freshProof } = options;
  // What a request means is for the catalogue of the reader to say, whoever signed the body.
  const demands = {
    expect,
    maxAgeMs,
    now: trust.now,
    catalog: catalog ?? BUILTIN,
  };
  const read = readText(saved);
  if ('body' in read && freshProof !== undefined) read.body = withFreshProof(read.body, freshProof);
  return verified(read, { trust, demands, expectsProof: demandsProof === undefined });
}

/** As `verify`, for trust that was read before. */
export function verifyText(
  saved: string | Uint8Array,
  trust: BodyTrust,
  { demandsProof }: Pick<VerifyOptions, 'demandsProof'>,
): Verification {
  const { now, catalog = BUILTIN } = trust;
  const demands = { now, catalog };
  const proof = proofDemand(demandsProof);
  const judging = { trust: { ...trust, proof }, demands, expectsProof: demandsProof === undefined };
  return verified(readText(saved), judging);
}

/** How a body is judged, and what is demanded of it. */
interface Judging {
  readonly trust: BodyTrust;
  readonly demands: Demands;
  /** Whether what is not proven to be in the log is left open. */
  readonly expectsProof: boolean;
}

function verified(read: ReadText, { trust, demands, expectsProof }: Judging): Verification {
  const body = 'body' in read ? read.body : null;
  const report = 'body' in read ? verifyBody(read.body, trust) : read.report;
  const demanded = withDemands(report, body, demands);
  const said = expectsProof ? expectingProof(demanded) : demanded;
  return { ...said, body, steps: verificationSteps(said.checks) };
}

/** The body of a text; a report where it cannot be judged as one. */
type ReadText = { body: JsonValue } | { readonly report: BodyReport };

function readText(saved: string | Uint8Array): ReadText {
  try {
    const text = typeof saved === 'string' ? saved : decodeUtf8(saved);
    if (text.startsWith(SERIES_CSV_HEADER)) return { report: UNSIGNED_TABLE };
    return { body: bodyOfText(text) };
  } catch (error) {
    const checks = [checkAt('json', '').fail(reason(error))];
    return { report: { verdict: 'failed', issuer: null, checks } };
  }
}

function proofDemand(demandsProof: boolean | undefined): ProofDemand {
  return demandsProof === true ? 'demanded' : 'noted';
}

function trustOf(options: VerifyOptions): BodyTrust {
  const { policy, demandsProof, now = Date.now() } = options;
  const proof = proofDemand(demandsProof);
  return { now, proof, ...knownKeys(options), ...knownPolicy(policy) };
}

/** Whom a caller trusts, with the keys as they were passed; throws for a list that does not hold, and for root keys without one. */
export function knownKeys({
  issuer = [],
  root = [],
  keys,
}: Pick<VerifyOptions, 'issuer' | 'root' | 'keys'>): KeyTrust {
  const trusted = trustedBy(listed(issuer), listed(root));
  if (keys !== undefined) {
    return { ...trusted, keys: trustedList(readKeyHistory(keys, isSignedBy), trusted) };
  }
  if (trusted.roots === undefined) return trusted;
  throw new RangeError('Cannot trust root keys alone: they vouch for a list of keys; pass "keys"');
}

function listed(dids: string | readonly string[]): readonly string[] {
  return typeof dids === 'string' ? [dids] : dids;
}

/** A policy as it was passed; throws a RangeError for a text that is none. */
export function knownPolicy(policy: string | Uint8Array | undefined): Pick<PolicyTrust, 'policy'> {
  if (policy === undefined) return {};
  const bytes = typeof policy === 'string' ? new TextEncoder().encode(policy) : policy;
  return { policy: readPolicy(bytes) };
}

/** The catalogue that was passed; throws for one that its head does not prove. */
function catalogOf({ catalog }: VerifyOptions, trust: KeyTrust): Catalog | undefined {
  if (catalog === undefined) return undefined;
  return provenCatalog({ catalog: catalog.file, head: catalog.head, ...trust }).catalog;
}
