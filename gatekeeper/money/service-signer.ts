import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { didKey } from '../../compiler/contract/did-key.ts';
import { type KeyHistory, receiptKeyStanding } from '../../compiler/contract/key-history.ts';
import { jwsInput } from '../../compiler/contract/receipt.ts';
import type { JsonObject } from '../../compiler/contract/strict-json.ts';

/** PKCS #8 in front of the seed of an Ed25519 key, RFC 8410. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Signs what the service says of its sales, with a key that the issuer lists. */
export interface ServiceSigner {
  readonly did: string;
  /** From now on this list of keys says whether the key counts; before, it does not. */
  show(keys: KeyHistory): void;
  /** Why nothing is signed of a time (epoch milliseconds, else now), as the end of a sentence; null while the key is listed. */
  fault(atMs?: number): string | null;
  /** A compact JWS of a payload. */
  sign(payload: JsonObject): string;
}

interface ServiceSignerOptions {
  /** Seed of the Ed25519 key, 64 hex digits. */
  readonly seed: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

export function serviceSigner({ seed, clock }: ServiceSignerOptions): ServiceSigner {
  const der = Buffer.concat([PKCS8, Buffer.from(seed, 'hex')]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  const did = didKey(Buffer.from(x, 'base64url'));
  let keys: KeyHistory | null = null;
  return {
    did,
    show(next) {
      keys = next;
    },
    fault(atMs = clock()) {
      const at = new Date(atMs).toISOString();
      const standing = keys === null ? 'unlisted' : receiptKeyStanding(keys, did, at);
      return standing === 'listed' ? null : FAULTS[standing];
    },
    sign(payload) {
      const signed = jwsInput(did, payload);
      return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
    },
  };
}

const FAULTS = {
  unlisted:
    'the keys.json of the release does not list it; list it with "signalpress key receipt" and compile',
  early: 'the keys.json of the release lists it from a later time on',
  ended:
    'the keys.json of the release says that it ended; list another one with "signalpress key receipt"',
} as const;
