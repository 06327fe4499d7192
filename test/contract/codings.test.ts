import { describe, expect, it } from 'vitest';
import { CODINGS, isPacked, packedPath, unpackedPath } from '../../compiler/contract/release.ts';

describe('packedPath()', () => {
  it('has an inverse, which knows no other path', () => {
    for (const coding of CODINGS) {
      const path = packedPath('well-known/openapi.json', coding);
      expect(unpackedPath(path)).toEqual({ path: 'well-known/openapi.json', coding });
    }
    for (const path of ['a.json', 'a.gz.json', 'a.zst', 'log/tile/0/000']) {
      expect(unpackedPath(path)).toBeNull();
    }
  });
});

describe('isPacked()', () => {
  it('is for what is longer than a packet or two', () => {
    expect([4095, 4096].map((length) => isPacked(new Uint8Array(length)))).toEqual([false, true]);
  });
});
