import { createPublicKey, hash, type KeyObject, randomBytes, sign } from 'node:crypto';
import { decodeBase64, encodeBase64 } from '../contract/base64.ts';
import type { NoteSignature } from '../contract/checkpoint.ts';
import { cosignatureLine, cosignedBytes } from '../contract/cosignature.ts';
import type { Sha256 } from '../contract/merkle.ts';
import {
  formatVerifierKey,
  isNoteName,
  NOTE_KEY,
  type VerifierKey,
} from '../contract/verifier-key.ts';
import { signingKey } from '../stages/seal/sealer.ts';

/** First part of the text of a key, so that nobody takes it for an issuer key or the other way round. */
const FIRST_WORDS = 'PRIVATE+KEY+';
const SEED_BYTES = 32;
/** Longest name of a witness. */
const NAME_CHARS_MAX = 200;

export const sha256: Sha256 = (bytes) => hash('sha256', bytes, 'buffer');

/** Signs as one witness. */
export interface WitnessKey {
  readonly verifier: VerifierKey;
  /** As policies name it. */
  readonly vkey: string;
  /** The cosignature of a checkpoint, given its text; `seconds` since 1970. */
  cosign(checkpointText: string, seconds: number): NoteSignature;
}

/** The text of a new key; throws a RangeError for a name that no signature line can carry. */
export function newWitnessKey(name: string, seed: Uint8Array = randomBytes(SEED_BYTES)): string {
  if (!isNoteName(name) || name.length > NAME_CHARS_MAX) {
    throw new RangeError(
      `Cannot name a witness "${name.slice(0, NAME_CHARS_MAX)}": empty, too long, or with a space or a plus sign; pass an address without its scheme, such as witness.example/w1`,
    );
  }
  const [, keyHash = ''] = keyOf(name, seed).vkey.split('+');
  return `${FIRST_WORDS}${name}+${keyHash}+${encodeBase64(Uint8Array.of(NOTE_KEY.witness, ...seed))}\n`;
}

/** The inverse of newWitnessKey; throws a RangeError that never repeats the text. */
export function readWitnessKey(text: string): WitnessKey {
  const [name = '', keyHash, base64 = '', ...more] = text
    .trim()
    .slice(FIRST_WORDS.length)
    .split('+');
  // Base64 may have plus signs of its own.
  const [type, ...seed] = decodeBase64([base64, ...more].join('+')) ?? [];
  const isKey = text.startsWith(FIRST_WORDS) && isNoteName(name) && seed.length === SEED_BYTES;
  if (!isKey || type !== NOTE_KEY.witness) throw unusable('it is not the key of a witness');
  const key = keyOf(name, Uint8Array.from(seed));
  if (key.vkey.split('+')[1] !== keyHash)
    throw unusable('its hash is not that of its name and key');
  return key;
}

function keyOf(name: string, seed: Uint8Array): WitnessKey {
  const secret = signingKey(seed);
  const verifier = { name, type: NOTE_KEY.witness, publicKey: publicKeyOf(secret) };
  return {
    verifier,
    vkey: formatVerifierKey(verifier, sha256),
    cosign(checkpointText, seconds) {
      const signature = new Uint8Array(sign(null, cosignedBytes(checkpointText, seconds), secret));
      return cosignatureLine({ seconds, signature }, verifier, sha256);
    },
  };
}

function publicKeyOf(secret: KeyObject): Uint8Array {
  const der = createPublicKey(secret).export({ format: 'der', type: 'spki' });
  return Uint8Array.from(der.subarray(-SEED_BYTES));
}

function unusable(why: string): RangeError {
  return new RangeError(
    `Cannot read the key of the witness: ${why}; make one with "signalpress witness keygen"`,
  );
}
