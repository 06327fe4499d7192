import { sha256 } from '@noble/hashes/sha2.js';
import { citationSchema, keyIdOf } from '../contract/citation.ts';
import {
  type Credential,
  credentialDigest,
  credentialSchema,
  credentialSignature,
} from '../contract/credential.ts';
import { parseDidKey } from '../contract/did-key.ts';
import { hasEnded } from '../contract/key-standing.ts';
import type { JsonObject } from '../contract/strict-json.ts';
import { type BodyCheck, type BodyReport, checkAt, reason } from './body-check.ts';
import { judgeSigner } from './key-trust.ts';
import { memberPath } from './object-nodes.ts';
import { CLOCK_SKEW_MS } from './request-time-checks.ts';
import { isStrictSignature } from './strict-signature.ts';
import type { CitationTrust } from './verify-citation.ts';

interface CredentialJudge extends CitationTrust {
  readonly now?: number;
  /** How the body inside is judged, as if it had come alone. */
  readonly judge: (body: JsonObject) => BodyReport;
}

const INSIDE = 'credentialSubject.body';

/**
 * Judges a credential (contract/CREDENTIALS.md): its form, its proof and its times here, then the body inside as if it had
 * come alone. Whether the issuer is trusted is said once, at the citation of the body, whose signer signs the credential too.
 */
export function credentialReport(secured: JsonObject, by: CredentialJudge): BodyReport {
  const parsed = credentialSchema.safeParse(secured);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = issue?.path ?? [];
    const more = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    const at = checkAt('credential', [...path, ...more].join('.').slice(0, 120));
    const what = more.length > 0 ? 'a member that nothing judges' : 'missing or of another form';
    return { verdict: 'failed', issuer: null, checks: [at.fail(what)] };
  }
  const { data } = parsed;
  const { verdict, issuer, checks } = by.judge(data.credentialSubject.body);
  const own = [...proofChecks(data, by), ...timeChecks(data, by)];
  const inside = checks.map((one) => ({ ...one, where: placeInside(one.where) }));
  const isRefuted = own.some(({ status }) => status === 'fail');
  const isAged = !own.some(({ check }) => check === 'anchor') || verdict === 'failed';
  const sound = isAged && verdict !== 'partly_verified' ? verdict : 'unsigned';
  return { verdict: isRefuted ? 'failed' : sound, issuer, checks: [...own, ...inside] };
}

function placeInside(where: string): string {
  return where === '' ? INSIDE : memberPath(INSIDE, where);
}

function found(where: string, holds: boolean, what: string): BodyCheck {
  const at = checkAt('credential', where);
  return holds ? at.pass(what) : at.fail(`not so: ${what}`);
}

/** Who signed it, and with which key. */
function proofChecks(credential: Credential, trust: CredentialJudge): BodyCheck[] {
  const { issuer, proof } = credential;
  const citation = citationSchema.safeParse(credential.credentialSubject.body._citation);
  const signer = citation.success ? citation.data.issuer_DID : null;
  const method = keyIdOf(issuer);
  const isKey = proof.verificationMethod === method;
  return [
    found('issuer', issuer === signer, `the issuer is who signed the body, ${signer ?? 'nobody'}`),
    found('proof.verificationMethod', isKey, `the key is ${method}`),
    signatureCheck(credential, trust),
    ...keyChecks(credential, trust),
  ];
}

function signatureCheck(
  credential: Credential,
  { isSignature = isStrictSignature }: CitationTrust,
): BodyCheck {
  const { issuer, proof } = credential;
  const where = 'proof.proofValue';
  try {
    const signature = credentialSignature(proof.proofValue);
    const digest = credentialDigest(credential, sha256);
    const holds = isSignature(signature, digest, parseDidKey(issuer));
    return found(where, holds, `${issuer} signed the credential`);
  } catch (error) {
    return checkAt('credential', where).fail(`not verifiable: ${reason(error)}`);
  }
}

/** What a key that ended or was revoked signed: a thief can date a credential back, and no log lists credentials. */
function keyChecks({ issuer, proof }: Credential, { keys, now }: CredentialJudge): BodyCheck[] {
  if (keys === undefined) return [];
  const { status, detail } = judgeSigner({ trust: 'any', keys }, issuer, proof.created);
  if (status === 'refused') return [checkAt('credential', 'proof.created').fail(detail)];
  if (status !== 'suspect' && !hasEnded(keys, issuer, now)) return [];
  const why = status === 'suspect' ? detail : `${issuer} is no longer in use`;
  const advice = 'no log lists credentials; verify the body inside';
  return [checkAt('anchor', 'proof').notApplicable(`${why}: ${advice}`)];
}

function timeChecks(
  { validFrom, validUntil, proof, credentialSubject }: Credential,
  { now }: CredentialJudge,
): BodyCheck[] {
  const citation = citationSchema.safeParse(credentialSubject.body._citation);
  const retrieved = citation.success ? citation.data.retrieved_at : null;
  const [from, created] = [Date.parse(validFrom), Date.parse(proof.created)];
  const latest = (now ?? Number.POSITIVE_INFINITY) + CLOCK_SKEW_MS;
  return [
    found('validFrom', validFrom === retrieved, 'valid from when the body was collected on'),
    found('validFrom', from <= latest, 'its time has come by your clock'),
    found(
      'proof.created',
      created >= from && created <= latest,
      'signed after that, and not in a time to come',
    ),
    ...(validUntil === undefined ? [] : [untilCheck(validUntil, created, now)]),
  ];
}

function untilCheck(validUntil: string, created: number, now: number | undefined): BodyCheck {
  const until = Date.parse(validUntil);
  const at = checkAt('credential', 'validUntil');
  if (until < created) return at.fail('it had ended before it was signed');
  if (now === undefined) return at.notApplicable(`valid until ${validUntil}; no clock was given`);
  return found('validUntil', now <= until, `valid until ${validUntil} by your clock`);
}
