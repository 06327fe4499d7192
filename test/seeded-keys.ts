import { issuerDid, signingKey } from '../compiler/system/sealer.ts';

/** The seed of a key that tests make: 32 bytes of one value. */
export function seed(fill: number): Uint8Array {
  return new Uint8Array(32).fill(fill);
}

/** The DID of that key. */
export function didOf(fill: number): string {
  return issuerDid(signingKey(seed(fill)));
}
