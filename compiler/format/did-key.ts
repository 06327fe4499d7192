import { bytesToHex } from '@noble/hashes/utils.js';
import { base58 } from '@scure/base';
import { bytesOfOctets, octetsOf } from './base64.ts';

const BASE58 = /^[1-9A-HJ-NP-Za-km-z]*$/;
/** Base58 costs the square of its length; keys and proofs stay far below this. */
const BASE58_CHARS_MAX = 256;
const DID_KEY = 'did:key:';
/** Multicodec of an Ed25519 public key, as a varint. */
const ED25519_CODEC: readonly number[] = [0xed, 0x01];
/** Bytes of an Ed25519 public key, RFC 8032 §5.1.5. */
const PUBLIC_KEY_BYTES = 32;

/**
 * The y coordinates, little-endian, of the points whose order divides 8: signatures under such a key can be forged.
 * With either sign bit they are the 8 points themselves and the 2 encodings of a negative zero x.
 */
const SMALL_ORDER_Y: ReadonlySet<string> = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
]);

/** The `did:key` of a 32-byte Ed25519 public key; throws a TypeError for a key that no one may trust. */
export function didKey(publicKey: Uint8Array): string {
  const subject = bytesToHex(publicKey);
  if (publicKey.length !== PUBLIC_KEY_BYTES) refuseKey(subject, 'not 32 bytes');
  refuseWeakKey(publicKey, subject);
  return `${DID_KEY}z${encodeBase58(Uint8Array.from([...ED25519_CODEC, ...publicKey]))}`;
}

/** The public key of a `did:key:z6Mk…`; throws a TypeError for any other DID, a small-order or a non-canonical key. */
export function parseDidKey(did: string): Uint8Array {
  if (!did.startsWith(`${DID_KEY}z`)) refuseKey(did, 'not a base58btc did:key');
  const bytes = decodeBase58(did.slice(DID_KEY.length + 1));
  const isEd25519 = ED25519_CODEC.every((byte, i) => bytes[i] === byte);
  if (!isEd25519) refuseKey(did, 'not an Ed25519 key');
  if (bytes.length !== ED25519_CODEC.length + PUBLIC_KEY_BYTES) refuseKey(did, 'not 32 bytes');
  const publicKey = bytes.slice(ED25519_CODEC.length);
  refuseWeakKey(publicKey, did);
  return publicKey;
}

/** Throws a TypeError for 32 bytes that are no key, or one under which signatures can be forged. */
export function refuseWeakKey(publicKey: Uint8Array, subject: string): void {
  const y = Uint8Array.from(publicKey);
  y[31] = (y[31] ?? 0) & 0x7f;
  // RFC 8032 §5.1.3: y is below p = 2^255 - 19, whose bytes are ed ff … ff 7f.
  const isReduced =
    y[31] !== 0x7f || (y[0] ?? 0) < 0xed || y.subarray(1, 31).some((b) => b !== 0xff);
  if (!isReduced) refuseKey(subject, 'a non-canonical point');
  if (SMALL_ORDER_Y.has(bytesToHex(y))) refuseKey(subject, 'a point of small order');
}

function refuseKey(subject: string, state: string): never {
  throw new TypeError(
    `Cannot use key "${subject.slice(0, 80)}": ${state}; pass a did:key:z6Mk… of an Ed25519 key`,
  );
}

/** Base58btc without the multibase prefix; throws a RangeError beyond 128 bytes. */
export function encodeBase58(bytes: Uint8Array): string {
  if (bytes.length > BASE58_CHARS_MAX / 2) throw new RangeError('Cannot encode base58: too long');
  return base58.encode(bytes);
}

/** The bytes of a base58btc text without its multibase prefix; throws a TypeError for a foreign character. */
export function decodeBase58(text: string): Uint8Array {
  if (text.length > BASE58_CHARS_MAX) throw new TypeError('Cannot decode base58: too long');
  if (!BASE58.test(text)) {
    throw new TypeError(`Cannot decode base58 "${text.slice(0, 80)}": a foreign character`);
  }
  return base58.decode(text);
}

const SPKI_ED25519 = Uint8Array.from([48, 42, 48, 5, 6, 3, 43, 101, 112, 3, 33, 0]);

/** A 32-byte Ed25519 public key as SubjectPublicKeyInfo in DER, RFC 8410 §4. */
export function ed25519Spki(publicKey: Uint8Array): Uint8Array {
  return Uint8Array.of(...SPKI_ED25519, ...publicKey);
}

/** Base64url without padding, RFC 4648 §5. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return btoa(octetsOf(bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** The bytes of a base64url text; throws a TypeError for padding, foreign characters or any second spelling. */
export function decodeBase64Url(text: string): Uint8Array {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) refuseBase64Url(text);
  const bytes = bytesOfOctets(atob(text.replaceAll('-', '+').replaceAll('_', '/')));
  // One signature has one spelling: the unused bits of the last character are zero.
  if (encodeBase64Url(bytes) !== text) refuseBase64Url(text);
  return bytes;
}

function refuseBase64Url(text: string): never {
  throw new TypeError(
    `Cannot decode base64url ${JSON.stringify(text.slice(0, 80))}: not the one spelling without padding`,
  );
}
