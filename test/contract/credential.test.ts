import { readFileSync } from 'node:fs';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { describe, expect, it } from 'vitest';
import {
  bodyWithin,
  credentialDigest,
  credentialSchema,
  credentialSignature,
  isCredential,
  signedCredential,
  unsignedCredential,
} from '../../compiler/contract/credential.ts';
import { parseDidKey } from '../../compiler/contract/did-key.ts';
import { isStrictSignature } from '../../compiler/verify/strict-signature.ts';

interface Row {
  readonly comment: string;
  readonly input: { readonly key: string; readonly secured: { readonly proof: Proof } };
  readonly want?: Readonly<Record<string, string>>;
  readonly error?: string;
}
interface Proof {
  readonly proofValue: string;
}
const ROWS = JSON.parse(readFileSync('test/vectors/credential.json', 'utf8')) as Row[];
const DID = 'did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw';

function made({ key, secured }: Row['input']): Row['want'] {
  const signature = credentialSignature(secured.proof.proofValue);
  const digest = credentialDigest(secured, sha256);
  const isSigned = isStrictSignature(signature, digest, parseDidKey(`did:key:${key}`));
  if (!isSigned) throw new RangeError('not signed');
  const hex = bytesToHex(digest);
  const hashes = { proof_hash: hex.slice(0, 64), document_hash: hex.slice(64) };
  return { ...hashes, signature: bytesToHex(signature), key };
}

describe('credentialDigest() and credentialSignature() on the vectors', () => {
  it.each(ROWS)('$comment', ({ input, want, error }) => {
    if (want !== undefined) expect(made(input)).toEqual(want);
    else expect(() => made(input)).toThrow(error);
  });
});

describe('unsignedCredential()', () => {
  const times = { validFrom: '2026-11-20T11:30:00Z', created: '2026-11-21T12:00:00Z' };
  const unsigned = unsignedCredential(DID, { a: 1 }, times);

  it('has the form that is read, with the end or without', () => {
    expect(credentialSchema.parse(unsigned)).toEqual(unsigned);
    const ended = unsignedCredential(DID, {}, { ...times, validUntil: '2026-12-01T00:00:00Z' });
    expect(credentialSchema.parse(ended).validUntil).toBe('2026-12-01T00:00:00Z');
    expect(unsigned).not.toHaveProperty('validUntil');
    expect(credentialSchema.safeParse({ ...unsigned, id: 'urn:x' }).success).toBe(false);
  });

  it('takes a signature of 64 bytes, which is read again, and no other', () => {
    const signature = new Uint8Array(64).fill(9);
    const { proof } = signedCredential(unsigned, signature);
    expect(credentialSignature(proof.proofValue)).toEqual(signature);
    const short = signedCredential(unsigned, signature.slice(1)).proof.proofValue;
    expect(() => credentialSignature(short)).toThrow('63 bytes instead of 64');
  });
});

describe('isCredential() and bodyWithin()', () => {
  it('I66: knows a credential by any of its marks, so that taking one away hides nothing', () => {
    const marks = [
      { credentialSubject: {} },
      { proof: { cryptosuite: 'x' } },
      { type: ['VerifiableCredential'] },
    ];
    expect(marks.map(isCredential)).toEqual([true, true, true]);
    const others = [null, 1, [], {}, { proof: [] }, { type: 'x' }, { _citation: {}, proof: {} }];
    expect(others.map(isCredential)).toEqual(others.map(() => false));
  });

  it('gives the body inside, and anything else as it is', () => {
    expect(bodyWithin({ credentialSubject: { body: { a: 1 } } })).toEqual({ a: 1 });
    expect(bodyWithin({ credentialSubject: {} })).toEqual({ credentialSubject: {} });
    expect(bodyWithin({ a: 1 })).toEqual({ a: 1 });
  });
});
