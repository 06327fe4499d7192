// Standard base64 with padding, RFC 4648 §4, in its one spelling.

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

// Octets as a text of one character each, the form that `atob` gives and `btoa` takes.

/** The bytes of such a text. A loop: `Uint8Array.from` with a function takes twenty times as long. */
export function bytesOfOctets(octets: string): Uint8Array {
  const bytes = new Uint8Array(octets.length);
  for (let at = 0; at < octets.length; at += 1) bytes[at] = octets.charCodeAt(at);
  return bytes;
}

/** The inverse of bytesOfOctets. */
export function octetsOf(bytes: Uint8Array): string {
  let octets = '';
  for (const byte of bytes) octets += String.fromCharCode(byte);
  return octets;
}
