// The verifier key of a C2SP signed-note: who may sign under a name, and in which form.

import { bytesToHex } from '@noble/hashes/utils.js';
import { decodeBase64, encodeBase64 } from './base64.ts';
import { refuseWeakKey } from './did-key.ts';
import type { Sha256 } from './merkle.ts';

/** First byte of a key: Ed25519 signatures of a log, timestamped ones of a witness, and those of ML-DSA-44, which nothing here checks. */
export const NOTE_KEY = { log: 1, witness: 4, mldsaWitness: 6 } as const;

/** Bytes of the hash that a signature line names its key by. */
export const KEY_HASH_BYTES = 4;
const PUBLIC_KEY_BYTES = 32;
/** Longest text that is looked at: a key of ML-DSA-44 has 1,312 bytes. */
const VERIFIER_KEY_CHARS_MAX = 4096;

/** A key with the name that it signs under; only `type` 1 and 4 are Ed25519. */
export interface VerifierKey {
  readonly name: string;
  readonly type: number;
  readonly publicKey: Uint8Array;
}

/** A name that a signature line can carry: not empty, no space, plus or control character. */
const NOTE_NAME = /^[^\s+\p{Cc}]+$/u;

/** The first four bytes of SHA-256 over name, line end, type and public key. */
export function keyHashOf({ name, type, publicKey }: VerifierKey, sha256: Sha256): Uint8Array {
  const start = new TextEncoder().encode(`${name}\n`);
  return sha256(Uint8Array.of(...start, type, ...publicKey)).slice(0, KEY_HASH_BYTES);
}

/** The text of a key: name, key hash in hex, type and public key in base64. */
export function formatVerifierKey(key: VerifierKey, sha256: Sha256): string {
  const { name, type, publicKey } = key;
  return `${name}+${bytesToHex(keyHashOf(key, sha256))}+${encodeBase64(Uint8Array.of(type, ...publicKey))}`;
}

/** The inverse of formatVerifierKey; throws a RangeError that says what is wrong, for a weak key too. */
export function parseVerifierKey(text: string, sha256: Sha256): VerifierKey {
  if (text.length > VERIFIER_KEY_CHARS_MAX) throw unusable(text, 'too long');
  const [, name = '', hash, base64 = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? [];
  if (!NOTE_NAME.test(name)) throw unusable(text, 'not <name>+<8 hex digits>+<base64>');
  const [type, ...publicKey] = decodeBase64(base64) ?? [];
  if (type === undefined) throw unusable(text, 'its key is not base64');
  const key = { name, type, publicKey: Uint8Array.from(publicKey) };
  const isEd25519 = type === NOTE_KEY.log || type === NOTE_KEY.witness;
  if (isEd25519) {
    if (key.publicKey.length !== PUBLIC_KEY_BYTES) throw unusable(text, 'its key is not 32 bytes');
    try {
      refuseWeakKey(key.publicKey, text);
    } catch (cause) {
      throw unusable(text, 'signatures under its key can be forged', cause);
    }
  }
  if (bytesToHex(keyHashOf(key, sha256)) !== hash) {
    throw unusable(text, 'its hash is not that of its name and key');
  }
  return key;
}

function unusable(text: string, why: string, cause?: unknown): RangeError {
  return new RangeError(
    `Cannot use verifier key "${text.slice(0, 160)}": ${why}; copy it whole from whoever publishes it`,
    { cause },
  );
}
