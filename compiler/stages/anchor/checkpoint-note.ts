import { createPublicKey, verify } from 'node:crypto';
import {
  type Checkpoint,
  checkpointText,
  formatNote,
  noteKeyHash,
  openNote,
  signatureIn,
} from '../../contract/checkpoint.ts';
import { decodeBase64Url, parseDidKey } from '../../contract/did-key.ts';
import type { Sealer } from '../seal/sealer.ts';
import { sha256 } from './log-tree.ts';

/** The signed note of a checkpoint, by the keys of the issuer under the name of the log: two in an overlap. */
export function signCheckpoint(
  checkpoint: Checkpoint,
  { logSigners }: Pick<Sealer, 'logSigners'>,
): string {
  const text = checkpointText(checkpoint);
  const name = checkpoint.origin;
  const signatures = logSigners.map(({ did, signText }) => {
    const keyHash = noteKeyHash(name, parseDidKey(did), sha256);
    return { name, keyHash, signature: decodeBase64Url(signText(text)) };
  });
  return formatNote({ text, signatures });
}

/** What a note states when one of these issuers signed it under the name of its log; null otherwise. */
export function openCheckpoint(note: string, issuers: readonly string[]): Checkpoint | null {
  const opened = openNote(note);
  if (opened === null) return null;
  const { note: parsed, checkpoint } = opened;
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
