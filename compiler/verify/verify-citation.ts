import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { z } from 'zod';
import { canonicalJson } from '../format/canonical.ts';
import { type Citation, citationSchema, citationStatement } from '../format/citation.ts';
import { decodeBase64Url, parseDidKey } from '../format/did-key.ts';
import { messageOf } from '../format/errors.ts';
import { recordHashText } from '../format/record-hash.ts';
import { judgeSigner, type KeyTrust } from './key-trust.ts';
import { isStrictSignature, type SignatureCheck } from './strict-signature.ts';

const SIGNATURE_BYTES = 64;

type CitationCheckName = 'shape' | 'record_hash' | 'signature' | 'issuer' | 'key_id' | 'verify_url';

export interface NamedCheck {
  readonly check: CitationCheckName;
  readonly status: 'pass' | 'fail' | 'not_applicable';
  readonly detail: string;
}

/** One entry for each check; a citation is verified when none of them failed. */
type CitationCheck = readonly NamedCheck[];

export interface CitationTrust extends KeyTrust {
  /** Another implementation for bulk work; RFC 8032 in JavaScript otherwise. */
  readonly isSignature?: SignatureCheck;
}

export function isVerified(checks: readonly Pick<NamedCheck, 'status'>[]): boolean {
  return checks.every((each) => each.status !== 'fail');
}

/** Checks a citation offline; an unreadable one is a failed check, never an exception. */
export function verifyCitation(
  citation: unknown,
  { isSignature = isStrictSignature, ...trusted }: CitationTrust,
): CitationCheck {
  const parsed = citationSchema.safeParse(citation);
  if (!parsed.success) {
    const names = ['record_hash', 'signature', 'issuer', 'key_id', 'verify_url'] as const;
    return [
      {
        check: 'shape',
        status: 'fail',
        detail: `not a citation: ${faultOf(parsed.error).slice(0, 120)}`,
      },
      ...names.map(
        (check): NamedCheck => ({ check, status: 'not_applicable', detail: 'no citation' }),
      ),
    ];
  }
  const read = parsed.data;
  const { status, detail } = judgeSigner(trusted, read.issuer_DID, read.retrieved_at);
  return [
    { check: 'shape', status: 'pass', detail: 'all members of a citation, no other' },
    ...textChecks(read, isSignature),
    { check: 'issuer', status: ISSUER_STATUS[status], detail },
    keyIdCheck(read),
    outcome('verify_url', read.verify_url.endsWith(`/v/${read.record_hash}`), 'ends with the hash'),
  ];
}

function outcome(check: CitationCheckName, passed: boolean, claim: string): NamedCheck {
  return { check, status: passed ? 'pass' : 'fail', detail: passed ? claim : `not so: ${claim}` };
}

function faultOf({ issues: [issue] }: z.ZodError): string {
  if (issue?.code === 'unrecognized_keys') return `unknown member "${issue.keys[0]}"`;
  const at = issue?.path.join('.') ?? '';
  return at === '' ? 'it is no object' : `"${at}" is missing or of another form`;
}

/** Both checks of the signed text; a statement without canonical JSON fails both. */
function textChecks(citation: Citation, isSignature: SignatureCheck): CitationCheck {
  let bytes: Uint8Array;
  try {
    bytes = utf8ToBytes(canonicalJson(citationStatement(citation)));
  } catch (error) {
    const detail = `no canonical JSON: ${messageOf(error)}`;
    return [
      { check: 'record_hash', status: 'fail', detail },
      { check: 'signature', status: 'fail', detail },
    ];
  }
  const recomputed = recordHashText(bytesToHex(sha256(bytes)));
  return [
    outcome(
      'record_hash',
      recomputed === citation.record_hash,
      `the statement hashes to ${recomputed}`,
    ),
    signatureCheck(citation, bytes, isSignature),
  ];
}

function signatureCheck(
  { issuer_DID, signature }: Citation,
  bytes: Uint8Array,
  isSignature: SignatureCheck,
): NamedCheck {
  try {
    const signed = isSignature(signatureBytes(signature), bytes, parseDidKey(issuer_DID));
    return outcome('signature', signed, `${issuer_DID} signed the statement`);
  } catch (error) {
    return { check: 'signature', status: 'fail', detail: `not verifiable: ${messageOf(error)}` };
  }
}

/** Whether a base64url Ed25519 signature is the DID's over these bytes; throws a TypeError for a weak key or a second spelling. */
export function isSignedBy(did: string, bytes: Uint8Array, signature: string): boolean {
  return isStrictSignature(signatureBytes(signature), bytes, parseDidKey(did));
}

function signatureBytes(signature: string): Uint8Array {
  const decoded = decodeBase64Url(signature);
  if (decoded.length === SIGNATURE_BYTES) return decoded;
  throw new TypeError(`Cannot verify the signature: ${decoded.length} bytes instead of 64`);
}

/** What a revoked key signed before is judged by its anchor, where the whole body is known. */
const ISSUER_STATUS = {
  trusted: 'pass',
  refused: 'fail',
  suspect: 'not_applicable',
  unpinned: 'not_applicable',
} as const;

function keyIdCheck({ key_id, issuer_DID }: Citation): NamedCheck {
  if (!key_id.startsWith('did:')) {
    return { check: 'key_id', status: 'not_applicable', detail: `"${key_id}" is not a DID URL` };
  }
  return outcome('key_id', key_id.startsWith(`${issuer_DID}#`), `a key of ${issuer_DID}`);
}
