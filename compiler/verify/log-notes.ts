import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import {
  type Checkpoint,
  type NoteSignature,
  noteKeyHash,
  parseCheckpoint,
  parseNote,
} from '../contract/checkpoint.ts';
import { parseDidKey } from '../contract/did-key.ts';
import { isStrictSignature } from './strict-signature.ts';

/** A note that was judged: what it states, or why that is not worth a look. */
export type JudgedNote =
  | { readonly checkpoint: Checkpoint; readonly problem: null }
  | { readonly checkpoint: null; readonly problem: string };

/** Judges the signed note of a checkpoint: form, and a signature of one of these issuers under the name of the log. */
export function judgeNote(note: string, issuers: readonly string[]): JudgedNote {
  const parsed = parseNote(note);
  const checkpoint = parsed === null ? null : parseCheckpoint(parsed.text);
  if (parsed === null || checkpoint === null) return bad('not the signed note of a checkpoint');
  const own = parsed.signatures.filter(({ name }) => name === checkpoint.origin);
  const keys = issuers.map((did) => parseDidKey(did));
  const known = own.flatMap((line) => {
    const key = keys.find((each) => isKeyOf(each, line));
    return key === undefined ? [] : [{ line, key }];
  });
  if (known.length === 0)
    return bad('signed by no key that is known; pass --issuer for older keys');
  const bytes = utf8ToBytes(parsed.text);
  const isSigned = known.every(({ line, key }) => isStrictSignature(line.signature, bytes, key));
  return isSigned ? { checkpoint, problem: null } : bad('its signature does not hold');
}

function isKeyOf(key: Uint8Array, { name, keyHash }: NoteSignature): boolean {
  return bytesToHex(noteKeyHash(name, key, sha256)) === bytesToHex(keyHash);
}

function bad(problem: string): JudgedNote {
  return { checkpoint: null, problem };
}
