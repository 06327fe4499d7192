// Standard base64 with padding, RFC 4648 §4, in its one spelling.

import { bytesOfOctets, octetsOf } from './octets.ts';

/** The text of some bytes. */
export function encodeBase64(bytes: Uint8Array): string {
  return btoa(octetsOf(bytes));
}

/** The bytes of a text; null for what encodeBase64 never writes. */
export function decodeBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  const octets = atob(text);
  return btoa(octets) === text ? bytesOfOctets(octets) : null;
}
