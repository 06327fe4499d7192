/** Longest service name that v2 catalogues show. */
const SERVICE_NAME_CHARS_MAX = 32;

/** As much of an issuer's name as a v2 challenge can say. */
export function serviceNameOf(issuerName: string): string {
  const ascii = issuerName.replace(/[^\x20-\x7e]/g, '');
  const cut = ascii.slice(0, SERVICE_NAME_CHARS_MAX);
  // A bracket without its end is useless.
  return cut.replace(/\([^)]*$/, '').trim() || 'x402';
}
