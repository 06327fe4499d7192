import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from 'node:crypto';
import { type Citation, citationStatement, type Statement, verifyUrl } from '../format/citation.ts';
import { didKey } from '../format/did-key.ts';
import { hashCore } from '../format/record-hash.ts';
import { canonicalDigest, jcs } from './jcs.ts';

/** The publisher, named in every citation and part of what is signed. */
export interface Issuer {
  readonly name: string;
  readonly did: string;
  readonly keyId: string;
  readonly baseUrl: string;
}

/** Hashes cores and signs bodies with node:crypto. */
export interface Sealer {
  recordHash(core: Parameters<typeof hashCore>[0]): string;
  /** `body` as it is stored: without a citation, and without the members of request time. */
  seal<T extends object>(body: T, statement: Statement): T & { _citation: Citation };
  /** Ed25519 signature over the UTF-8 bytes of a text that is not a citation, base64url. */
  signText(text: string): string;
  /** The keys that sign checkpoints of the log, that of the issuer first. */
  readonly logSigners: readonly { did: string; signText(text: string): string }[];
}

/** A sealer whose checkpoints another key signs too. */
export function withOverlapKey(sealer: Sealer, key: KeyObject | null): Sealer {
  if (key === null) return sealer;
  const other = { did: issuerDid(key), signText: textSigner(key) };
  return { ...sealer, logSigners: [...sealer.logSigners, other] };
}

function textSigner(key: KeyObject): (text: string) => string {
  return (text) => signBytes(Buffer.from(text, 'utf8'), key);
}

const sha256 = (text: string): string => hash('sha256', text, 'hex');
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The node key of a 32-byte Ed25519 seed. */
export function signingKey(seed: Uint8Array): KeyObject {
  const der = Buffer.concat([PKCS8_ED25519, seed]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

export function issuerDid(key: KeyObject): string {
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return didKey(new Uint8Array(spki.subarray(-32)));
}

/** An Ed25519 signature, base64url. */
export function signBytes(bytes: Uint8Array, key: KeyObject): string {
  return sign(null, bytes, key).toString('base64url');
}

export function makeSealer(issuer: Issuer, key: KeyObject): Sealer {
  const signText = textSigner(key);
  return {
    logSigners: [{ did: issuer.did, signText }],
    recordHash: (record) => canonicalDigest(hashCore(record)),
    signText,
    seal(body, statement) {
      if ('_citation' in body) throw new TypeError('Cannot seal a body: it has a citation already');
      const claims = citationClaims(issuer, statement, canonicalDigest(body));
      const text = jcs(claims);
      const digest = sha256(text);
      const record_hash = `sha256:${digest}`;
      // A spread of the claims would cost a quarter of what is not the signature.
      const _citation: Citation = Object.assign(claims, {
        record_hash,
        signature: signText(text),
        key_id: issuer.keyId,
        issuer_DID: issuer.did,
        verify_url: verifyUrl(issuer.baseUrl, record_hash),
      });
      return { ...body, _citation };
    },
  };
}

/** The signed part of a citation, in the order it is published. */
function citationClaims(
  issuer: Issuer,
  statement: Statement,
  content_hash: string,
): ReturnType<typeof citationStatement> {
  return {
    schema_version: '1.0',
    statement_type: 'description',
    not_advice: true,
    claim: statement.claim,
    fact: statement.fact,
    source: {
      issuer: issuer.name,
      type: 'aggregator',
      url: issuer.baseUrl + statement.target,
      content_hash,
      published_at: statement.observed_at,
    },
    retrieved_at: statement.retrieved_at,
    status: 'as_published',
    translated: false,
  };
}

/** The citation of a sealed body; undefined for a body that is given away unsigned. */
export function citationOf(body: { readonly _citation?: Citation } | object): Citation | undefined {
  return '_citation' in body ? body._citation : undefined;
}

interface Signer {
  readonly issuer: Pick<Issuer, 'did' | 'keyId'>;
  readonly sealer: Pick<Sealer, 'signText'>;
}

/**
 * A stored body whose citation another key of the issuer signs: what it states, and so its place among all statements, stays
 * as it is. Null for a body without a citation of the key before; throws a RangeError for one that is not what was signed.
 */
export function signedAgain(bytes: Buffer, was: string, { issuer, sealer }: Signer): Buffer | null {
  if (!bytes.includes(`"issuer_DID":"${was}"`)) return null;
  const text = bytes.toString('utf8');
  const body = JSON.parse(text);
  // A sample is a whole record in a member of its own.
  const citation = citationOf(body.sample ?? body);
  if (citation?.issuer_DID !== was) return null;
  const claims = jcs(citationStatement(citation));
  if (`sha256:${hash('sha256', claims)}` !== citation.record_hash) {
    throw new RangeError('its citation is not what was signed');
  }
  const before = sealText(citation.signature, citation.key_id, was);
  const after = sealText(sealer.signText(claims), issuer.keyId, issuer.did);
  return Buffer.from(text.replaceAll(before, after));
}

function sealText(signature: string, keyId: string, did: string): string {
  const members = { signature, key_id: keyId, issuer_DID: did };
  return JSON.stringify(members).slice(1, -1);
}
