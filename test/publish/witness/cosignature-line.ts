import type { NoteSignature } from '../../../compiler/format/checkpoint.ts';
import type { Sha256 } from '../../../compiler/format/merkle.ts';
import { keyHashOf, type VerifierKey } from '../../../compiler/format/verifier-key.ts';

/** The signature line of a cosignature, as a witness writes it: its time in 8 bytes, then the signature. */
export function cosignatureLine(
  { seconds, signature }: { seconds: number; signature: Uint8Array },
  witness: VerifierKey,
  sha256: Sha256,
): NoteSignature {
  const bytes = new Uint8Array(8 + 64);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(seconds));
  bytes.set(signature, 8);
  return { name: witness.name, keyHash: keyHashOf(witness, sha256), signature: bytes };
}
