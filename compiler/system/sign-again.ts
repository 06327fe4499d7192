import { hash } from 'node:crypto';
import { citationStatement } from '../format/citation.ts';
import { jcs } from './jcs.ts';
import { citationOf, type Issuer, type Sealer } from './sealer.ts';

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
