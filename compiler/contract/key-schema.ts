import { z } from 'zod';

/** Most keys of one issuer, most revocations, and most statements about receipt keys: one a month for twenty years. */
export const KEYS_MAX = 256;

/** A DID of an Ed25519 key, and a time, as statements about keys name them. */
export const did = z.string().startsWith('did:key:z6Mk').max(80);
export const time = z.iso.datetime();

/** Whether a base64url Ed25519 signature is the DID's over these bytes; may throw for a malformed one. */
export type SignatureOf = (did: string, bytes: Uint8Array, signature: string) => boolean;

/** Says why a list of keys proves nothing, as a RangeError. */
export function refuseKeys(state: string, cause?: unknown): never {
  throw new RangeError(
    `Cannot trust the list of issuer keys: ${state}; take the one that the issuer publishes`,
    { cause },
  );
}
