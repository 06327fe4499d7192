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
