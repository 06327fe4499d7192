// C2SP tlog-checkpoint in a C2SP signed-note, signature type 0x01 (Ed25519).

import { bytesToHex } from '@noble/hashes/utils.js';
import { decodeBase64, encodeBase64 } from './base64.ts';
import { refuseWeakKey } from './did-key.ts';
import { HASH_BYTES, type Sha256 } from './merkle.ts';

const SIGNATURE_BYTES = 64;
/** Longest signed note that is looked at, in characters: room for 16 signatures of the longest kind, some 5 KB each. */
export const NOTE_CHARS_MAX = 131_072;
/** Most signature lines of a note, as its specification allows. */
const SIGNATURE_LINES_MAX = 100;

/** Longest origin: it is hashed once for each key that may have signed. */
const ORIGIN_CHARS_MAX = 1024;

/** What a checkpoint states. */
export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
}

/** A signed note: the text that is signed, with its line end, and who signed it. */
export interface SignedNote {
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** One signature line; `keyHash` tells which key of that name made it. A witness signs in a form and a length of its own. */
export interface NoteSignature {
  readonly name: string;
  readonly keyHash: Uint8Array;
  readonly signature: Uint8Array;
}

/** The origin line and key name of the log of a service: its address without the scheme, and `/log`; throws a RangeError for an address that a key name cannot hold. */
export function logOrigin(baseUrl: string): string {
  const origin = `${baseUrl.replace(/^[a-z]+:\/\//, '').replace(/\/+$/, '')}/log`;
  if (!isKeyName(origin)) {
    throw new RangeError(
      `Cannot name the log of "${baseUrl}": the address is too long, or holds a space, a plus sign or what is not ASCII; publish at another, a name of other letters in its xn-- form`,
    );
  }
  return origin;
}

function isKeyName(name: string): boolean {
  return name.length <= ORIGIN_CHARS_MAX && /^[\x21-\x2a\x2c-\x7e]+$/.test(name);
}

/** The text that is signed: origin, size in decimal, root in base64, each with a line end. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${encodeBase64(root)}\n`;
}

/** The inverse of checkpointText; null for any other text, extension lines included. */
export function parseCheckpoint(text: string): Checkpoint | null {
  const [origin = '', digits = '', base64 = ''] = text.split('\n');
  const root = decodeBase64(base64);
  if (!/^(0|[1-9][0-9]{0,15})$/.test(digits) || root?.length !== HASH_BYTES) return null;
  const checkpoint = { origin, size: Number(digits), root };
  const isOne = isKeyName(origin) && Number.isSafeInteger(checkpoint.size);
  return isOne && checkpointText(checkpoint) === text ? checkpoint : null;
}

/** The first four bytes of SHA-256 over key name, line end, algorithm and public key. */
export function noteKeyHash(name: string, publicKey: Uint8Array, sha256: Sha256): Uint8Array {
  return keyHashOf({ name, type: NOTE_KEY.log, publicKey }, sha256);
}

/** The verifier key of a log, as other programs take it: name, key hash in hex, algorithm and key in base64. */
export function verifierKey(name: string, publicKey: Uint8Array, sha256: Sha256): string {
  return formatVerifierKey({ name, type: NOTE_KEY.log, publicKey }, sha256);
}

/** Opens the signed note of a checkpoint, whose signers are for the caller to check; null for any other text. */
export function openNote(text: string) {
  const note = parseNote(text);
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  return note === null || checkpoint === null ? null : { note, checkpoint };
}

/** The text of a signed note: what was signed, an empty line, one line for each signature. */
export function formatNote({ text, signatures }: SignedNote): string {
  return `${text}\n${signatures.map(signatureLine).join('')}`;
}

/** One line of it, with its line end. */
export function signatureLine({ name, keyHash, signature }: NoteSignature): string {
  return `\u2014 ${name} ${encodeBase64(Uint8Array.of(...keyHash, ...signature))}\n`;
}

/** The inverse of formatNote; null for any text that it never makes. */
export function parseNote(note: string): SignedNote | null {
  const cut = note.lastIndexOf('\n\n');
  if (note.length > NOTE_CHARS_MAX || cut < 0) return null;
  const lines = note.slice(cut + 2).split('\n');
  if (lines.pop() !== '' || lines.length < 1 || lines.length > SIGNATURE_LINES_MAX) return null;
  const signatures = lines.flatMap((line) => parseSignature(line) ?? []);
  return signatures.length === lines.length ? { text: note.slice(0, cut + 1), signatures } : null;
}

/** A name holds no space of Unicode, no control character and no plus; what `\s` means differs between languages. */
const SIGNATURE = /^\u2014 ([^\p{White_Space}\p{Cc}+]+) (\S+)$/u;

function parseSignature(line: string): NoteSignature | null {
  const [, name, base64] = SIGNATURE.exec(line) ?? [];
  const bytes = base64 === undefined ? null : decodeBase64(base64);
  if (name === undefined || bytes === null || bytes.length <= KEY_HASH_BYTES) return null;
  const keyHash = bytes.slice(0, KEY_HASH_BYTES);
  return { name, keyHash, signature: bytes.slice(KEY_HASH_BYTES) };
}

/**
 * The Ed25519 signature of one key under one name in a note; null where it has none, or more than one. Lines of other
 * keys, such as cosignatures of witnesses, are left aside.
 */
export function signatureIn(
  { signatures }: SignedNote,
  name: string,
  keyHash: Uint8Array,
): Uint8Array | null {
  const own = linesOf({ signatures }, name, keyHash);
  const [only] = own;
  return own.length === 1 && only?.signature.length === SIGNATURE_BYTES ? only.signature : null;
}

/** The lines that stand under one key and one name. */
export function linesOf(
  { signatures }: Pick<SignedNote, 'signatures'>,
  name: string,
  keyHash: Uint8Array,
): NoteSignature[] {
  const isOf = (hash: Uint8Array): boolean => hash.every((byte, at) => byte === keyHash[at]);
  return signatures.filter((line) => line.name === name && isOf(line.keyHash));
}

// The verifier key of a C2SP signed-note: who may sign under a name, and in which form.

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

// C2SP tlog-cosignature, the Ed25519 form: a witness states that a checkpoint is the newest of its log that it saw, and when.

const TIME_BYTES = 8;
/** The last second of the year 9999: times beyond have no ISO-8601 form. */
const SECONDS_MAX = 253_402_300_799;

/** What a witness signs: when, and the text of the checkpoint; throws a RangeError for a time that cannot be stated. */
export function cosignedBytes(checkpointText: string, seconds: number): Uint8Array {
  if (!isStatedTime(seconds)) {
    throw new RangeError(
      `Cannot cosign at ${seconds}: not a whole second of the years 1970 to 9999`,
    );
  }
  return new TextEncoder().encode(`cosignature/v1\ntime ${seconds}\n${checkpointText}`);
}

/**
 * The cosignatures that stand under the key of a witness in a note, as they stand, each with its seconds since 1970; null for
 * each that is malformed. No signature is checked yet.
 */
export function cosignaturesOf(
  note: Pick<SignedNote, 'signatures'>,
  witness: VerifierKey,
  sha256: Sha256,
) {
  const lines = linesOf(note, witness.name, keyHashOf(witness, sha256));
  return lines.map(({ signature }) => {
    if (signature.length !== TIME_BYTES + SIGNATURE_BYTES) return null;
    const seconds = Number(new DataView(signature.buffer, signature.byteOffset).getBigUint64(0));
    return isStatedTime(seconds) ? { seconds, signature: signature.slice(TIME_BYTES) } : null;
  });
}

function isStatedTime(seconds: number): boolean {
  return Number.isSafeInteger(seconds) && seconds >= 1 && seconds <= SECONDS_MAX;
}
