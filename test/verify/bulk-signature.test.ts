import { createPublicKey, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { bulkSignatureCheck } from '../../compiler/verify/bulk-signature.ts';
import { isStrictSignature } from '../../compiler/verify/strict-signature.ts';
import { flipBit } from './overlay-disk.ts';
import { KEY } from './small-release.ts';

const message = Buffer.from('a statement');
const publicKey = new Uint8Array(
  createPublicKey(KEY).export({ format: 'der', type: 'spki' }).subarray(-32),
);
const signature = new Uint8Array(sign(null, message, KEY));

describe('bulkSignatureCheck()', () => {
  const check = bulkSignatureCheck();

  it('I31: agrees with the strict check on a signature, and on each of its bits flipped', () => {
    expect(check(signature, message, publicKey)).toBe(true);
    expect(isStrictSignature(signature, message, publicKey)).toBe(true);
    for (let bit = 0; bit < signature.length * 8; bit += 7) {
      const bent = flipBit(signature, bit);
      expect([check(bent, message, publicKey), strict(bent)]).toEqual([false, false]);
    }
  });

  it('I30: refuses a second spelling of the scalar, and another message', () => {
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const scalar =
      BigInt(`0x${Buffer.from(signature.slice(32)).reverse().toString('hex')}`) + order;
    const hex = scalar.toString(16).padStart(64, '0');
    const other = Buffer.concat([signature.slice(0, 32), Buffer.from(hex, 'hex').reverse()]);
    expect([check(other, message, publicKey), strict(other)]).toEqual([false, false]);
    expect(check(signature, Buffer.from('another'), publicKey)).toBe(false);
  });
});

function strict(bytes: Uint8Array): boolean {
  try {
    return isStrictSignature(bytes, message, publicKey);
  } catch {
    return false;
  }
}
