import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { type Checkpoint, noteKeyHash, openNote, signatureIn } from '../contract/checkpoint.ts';
import { parseDidKey } from '../contract/did-key.ts';
import { isStrictSignature, type SignatureCheck } from './strict-signature.ts';

/** A note that was judged: what it states, or why that is not worth a look. */
type JudgedNote =
  | { readonly checkpoint: Checkpoint; readonly fault: null }
  | { readonly checkpoint: null; readonly fault: string };

/** Judges the signed note of a checkpoint: form, and a signature of one of these issuers under the name of the log. */
export function judgeNote(
  note: string,
  issuers: readonly string[],
  isSignature: SignatureCheck = isStrictSignature,
): JudgedNote {
  const opened = openNote(note);
  if (opened === null) return bad('not the signed note of a checkpoint');
  const { note: parsed, checkpoint } = opened;
  const bytes = utf8ToBytes(parsed.text);
  const { origin } = checkpoint;
  const verdicts = issuers.map(parseDidKey).flatMap((key) => {
    const signature = signatureIn(parsed, origin, noteKeyHash(origin, key, sha256));
    return signature === null ? [] : [isSignature(signature, bytes, key)];
  });
  if (verdicts.length === 0)
    return bad('signed by no key that is known, or twice; pass --issuer for older keys');
  return verdicts.every(Boolean) ? { checkpoint, fault: null } : bad('its signature does not hold');
}

function bad(fault: string): JudgedNote {
  return { checkpoint: null, fault };
}
