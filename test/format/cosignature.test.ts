import { createPrivateKey, createPublicKey, hash, sign, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  checkpointText,
  formatNote,
  noteKeyHash,
  parseCheckpoint,
  parseNote,
} from '../../compiler/format/checkpoint.ts';
import { cosignaturesOf, cosignedBytes } from '../../compiler/format/cosignature.ts';
import {
  NOTE_KEY,
  parseVerifierKey,
  type VerifierKey,
} from '../../compiler/format/verifier-key.ts';
import { cosignatureLine } from '../publish/witness/invented-witness.ts';

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');
const KEY = createPrivateKey({
  key: Buffer.from(`302e020100300506032b657004220420${'2a'.repeat(32)}`, 'hex'),
  format: 'der',
  type: 'pkcs8',
});
const publicKey = createPublicKey(KEY).export({ format: 'der', type: 'spki' }).subarray(-32);
const WITNESS: VerifierKey = { name: 'witness.example/w1', type: NOTE_KEY.witness, publicKey };
const TEXT = checkpointText({ origin: 'a.example/log', size: 9, root: new Uint8Array(32).fill(7) });

function cosigned(seconds: number) {
  const signature = new Uint8Array(sign(null, cosignedBytes(TEXT, seconds), KEY));
  return cosignatureLine({ seconds, signature }, WITNESS, sha256);
}

describe('cosignedBytes()', () => {
  it('puts the header line and the time in front of the whole text', () => {
    expect(Buffer.from(cosignedBytes(TEXT, 1679315147)).toString()).toBe(
      `cosignature/v1\ntime 1679315147\n${TEXT}`,
    );
  });

  it('refuses a time that cannot be stated', () => {
    for (const seconds of [0, -1, 1.5, Number.NaN, 2 ** 53, 253_402_300_800]) {
      expect(() => cosignedBytes(TEXT, seconds)).toThrow(RangeError);
    }
  });
});

/** A checkpoint of a public log as a public witness cosigned it: programs and keys of others. */
const PUBLISHED = `arche2025h1.staging.ct.transparency.dev
1432088532
U7WM79jrzyhGZ5/GUBTpM7NzwdyfFx61t3RovgcC4Ro=

\u2014 arche2025h1.staging.ct.transparency.dev ui8GwCF1+kWqZrxGdhj4aX3gcw7XUlXQQabg/27lefwhUkzbC3NygNI75MdhL1bfTW9g8Ei59RA23oHP7Ry1k3ZFWwQ=
\u2014 witness1.smartit.nu/witness1 pIyCDwAAAABqEiEghIp82KWebrw7/oHQwlTAm3g2RKS4+eebl8eO0WH+/iEcxZ75W3u5hNI7TOQtmJbqmNWVuE0tgh0XwzdZsDsUAQ==
\u2014 remora.n621.de 2net5wAAAABqEiEgPlfF3V06o0Y+fHM+J5J9s27wgxxcOVSpZ/2g/KSiXCg9DEZI+aVCIobWX9sXTynk5XeU/zZ0WBxtqB0DrAWfBw==
`;
const PUBLISHED_KEY = 'remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2';

describe('a cosignature that others made', () => {
  const witness = parseVerifierKey(PUBLISHED_KEY, sha256);
  const x = Buffer.from(witness.publicKey).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const holds = (published: string): boolean[] => {
    const note = parseNote(published) ?? { text: '', signatures: [] };
    return cosignaturesOf(note, witness, sha256).map(
      (one) =>
        one !== null && verify(null, cosignedBytes(note.text, one.seconds), key, one.signature),
    );
  };

  it('is read and holds', () => {
    expect(parseCheckpoint(parseNote(PUBLISHED)?.text ?? '')?.size).toBe(1432088532);
    expect(holds(PUBLISHED)).toEqual([true]);
  });

  it('does not hold for another size or at another time', () => {
    expect(holds(PUBLISHED.replace('1432088532', '1432088533'))).toEqual([false]);
    expect(holds(PUBLISHED.replace('2net5wAAAABqEiEg', '2net5wAAAABqEiEh'))).toEqual([false]);
  });
});

describe('cosignaturesOf()', () => {
  it('finds what stands under the key of a witness, whatever stands beside it', () => {
    const log = {
      name: 'a.example/log',
      keyHash: noteKeyHash('a.example/log', publicKey, sha256),
      signature: new Uint8Array(64).fill(1),
    };
    const other = { ...cosigned(5), name: 'witness.example/w2' };
    const note = formatNote({ text: TEXT, signatures: [log, other, cosigned(1679315147)] });
    const [found, ...rest] = cosignaturesOf(parseNote(note) ?? { signatures: [] }, WITNESS, sha256);
    expect(rest).toEqual([]);
    expect(found?.seconds).toBe(1679315147);
    const bytes = cosignedBytes(TEXT, found?.seconds ?? 0);
    expect(verify(null, bytes, createPublicKey(KEY), found?.signature ?? Buffer.alloc(0))).toBe(
      true,
    );
    const later = cosignedBytes(TEXT, 1679315148);
    expect(verify(null, later, createPublicKey(KEY), found?.signature ?? Buffer.alloc(0))).toBe(
      false,
    );
  });

  it('gives null for a line of another form, and for a time that nobody can state', () => {
    const line = cosigned(1);
    const zero = new Uint8Array(line.signature).fill(0, 0, 8);
    const far = new Uint8Array(line.signature).fill(0xff, 0, 8);
    for (const signature of [line.signature.slice(1), line.signature.slice(8), zero, far]) {
      const signatures = [{ ...line, signature }];
      expect(cosignaturesOf({ signatures }, WITNESS, sha256)).toEqual([null]);
    }
  });

  it('finds none of the same key in the form of a log', () => {
    const asLog = { ...WITNESS, type: NOTE_KEY.log };
    expect(cosignaturesOf({ signatures: [cosigned(1)] }, asLog, sha256)).toEqual([]);
  });
});
