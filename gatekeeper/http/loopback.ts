const LOOPBACK = /^(localhost|127(\.[0-9]{1,3}){3}|\[?::1\]?)$/;

/** Whether a host, as spelled in a setting or a URL, is certainly a loopback address. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
