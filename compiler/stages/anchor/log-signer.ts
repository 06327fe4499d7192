import { createPublicKey, verify } from 'node:crypto';
import {
  type Checkpoint,
  checkpointText,
  formatNote,
  noteKeyHash,
  parseCheckpoint,
  parseNote,
  signatureIn,
} from '../../contract/checkpoint.ts';
import { decodeBase64Url, parseDidKey } from '../../contract/did-key.ts';
import type { Press } from '../publish/press.ts';
import { sha256 } from './log-tree.ts';

/** The signed note of a checkpoint, by the key of the issuer under the name of the log. */
export function signCheckpoint(checkpoint: Checkpoint, { issuer, sealer }: Press): string {
  const text = checkpointText(checkpoint);
  const name = checkpoint.origin;
  const keyHash = noteKeyHash(name, parseDidKey(issuer.did), sha256);
  const signature = decodeBase64Url(sealer.signText(text));
  return formatNote({ text, signatures: [{ name, keyHash, signature }] });
}

/** What a note states when one of these issuers signed it under the name of its log; null otherwise. */
export function openCheckpoint(note: string, issuers: readonly string[]): Checkpoint | null {
  const parsed = parseNote(note);
  const checkpoint = parsed === null ? null : parseCheckpoint(parsed.text);
  if (parsed === null || checkpoint === null) return null;
  const { origin } = checkpoint;
  const isSigned = issuers.map(parseDidKey).some((key) => {
    const signature = signatureIn(parsed, origin, noteKeyHash(origin, key, sha256));
    return signature !== null && isSignature(signature, parsed.text, key);
  });
  return isSigned ? checkpoint : null;
}

function isSignature(signature: Uint8Array, text: string, publicKey: Uint8Array): boolean {
  const x = Buffer.from(publicKey).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, Buffer.from(text, 'utf8'), key, signature);
}
