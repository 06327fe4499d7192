import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import { keccak256 } from '../../../gatekeeper/money/address.ts';

describe('keccak256()', () => {
  it('is the hash of Ethereum', () => {
    const empty = 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470';
    expect(Buffer.from(keccak256(new Uint8Array())).toString('hex')).toBe(empty);
  });

  it('is what another implementation computes, for every length around its block', () => {
    for (let length = 0; length < 300; length++) {
      const bytes = Uint8Array.from({ length }, (_, at) => (at * 31 + length) & 255);
      expect(keccak256(bytes)).toEqual(keccak_256(bytes));
    }
  });
});
