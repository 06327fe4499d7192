import * as ed from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';

// The synchronous calls of @noble/ed25519 have no SHA-512 of their own; this is the one place that gives it to them.
ed.hashes.sha512 = sha512;

/** Whether 64 bytes are the Ed25519 signature of a 32-byte key over a message; throws for a weak key. */
export type SignatureCheck = (
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
) => boolean;

/** RFC 8032 decoding: the laxer ZIP215 rules give one signature several spellings. */
export const isStrictSignature: SignatureCheck = (signature, message, publicKey) =>
  ed.verify(signature, message, publicKey, { zip215: false });
