import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { formatVerifierKey, parseVerifierKey } from '../../compiler/format/verifier-key.ts';

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');

/** Keys as others published them: two witnesses, the second by its test, and a log of the Go project. */
const PUBLISHED = [
  ['remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2', 4],
  ['sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8', 1],
] as const;

describe('parseVerifierKey()', () => {
  it.each(PUBLISHED)('reads "%s", and its inverse writes it', (vkey, type) => {
    const key = parseVerifierKey(vkey, sha256);
    expect([key.name, key.type, key.publicKey.length]).toEqual([vkey.split('+')[0], type, 32]);
    expect(formatVerifierKey(key, sha256)).toBe(vkey);
  });

  it('says what is wrong with any other text', () => {
    const [[vkey]] = PUBLISHED;
    const weak = (bytes: Uint8Array): string =>
      formatVerifierKey({ name: 'w', type: 4, publicKey: bytes }, sha256);
    const bad = [
      ['', 'not <name>'],
      ['remora.n621.de', 'not <name>'],
      [vkey.replace('remora', 'rem ora'), 'not <name>'],
      [vkey.replace('da77', 'DA77'), 'not <name>'],
      [vkey.replace('da77', 'da78'), 'its hash'],
      [vkey.replace('remora', 'remorb'), 'its hash'],
      [vkey.replace('+BOv', '+AOv'), 'its hash'],
      [vkey.replace('mtw2', 'mtw'), 'not base64'],
      [vkey.replace('mtw2', ''), 'not 32 bytes'],
      [weak(new Uint8Array(32)), 'can be forged'],
      [weak(new Uint8Array(32).fill(0xff)), 'can be forged'],
      [`w+00000000+${'A'.repeat(5000)}`, 'too long'],
    ] as const;
    for (const [text, why] of bad) {
      expect(() => parseVerifierKey(text, sha256), text).toThrow(why);
    }
  });
});
