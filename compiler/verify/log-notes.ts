import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { type Checkpoint, noteKeyHash, openNote, signatureIn } from '../format/checkpoint.ts';
import { parseDidKey } from '../format/did-key.ts';
import type { ReadTlogProof } from '../format/tlog-proof.ts';
import { isStrictSignature, type SignatureCheck } from './strict-signature.ts';

type JudgedNote =
  | { readonly checkpoint: Checkpoint; readonly fault: null; readonly signers: readonly string[] }
  | { readonly checkpoint: null; readonly fault: string; readonly signers: readonly string[] };

/** Judges the signed note of a checkpoint: form, and a signature of one of these issuers under the name of the log. */
export function judgeNote(
  text: string,
  issuers: readonly string[],
  isSignature?: SignatureCheck,
): JudgedNote {
  const opened = openNote(text);
  if (opened === null) {
    return { checkpoint: null, fault: 'not the signed note of a checkpoint', signers: [] };
  }
  const { note, checkpoint } = opened;
  const { fault, signers } = judgeSigners({ note, signed: checkpoint }, issuers, isSignature);
  return fault === null ? { checkpoint, fault, signers } : { checkpoint: null, fault, signers };
}

/** Which of these issuers signed a note that was read, and why that does not do; null where it does. */
export function judgeSigners(
  { note, signed: { origin } }: Pick<ReadTlogProof, 'note' | 'signed'>,
  issuers: readonly string[],
  isSignature: SignatureCheck = isStrictSignature,
): { readonly fault: string | null; readonly signers: readonly string[] } {
  const bytes = utf8ToBytes(note.text);
  const lines = issuers.flatMap((did) => {
    const key = parseDidKey(did);
    const signature = signatureIn(note, origin, noteKeyHash(origin, key, sha256));
    return signature === null ? [] : [{ did, holds: isSignature(signature, bytes, key) }];
  });
  const signers = lines.filter(({ holds }) => holds).map(({ did }) => did);
  if (lines.length === 0) {
    return {
      fault: 'signed by no key that is known, or twice; pass --issuer for older keys',
      signers,
    };
  }
  return { fault: signers.length === lines.length ? null : 'its signature does not hold', signers };
}
