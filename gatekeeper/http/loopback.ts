const LOOPBACK = /^(localhost|127(\.[0-9]{1,3}){3}|\[?::1\]?)$/;

/** Whether a host, as a setting or a URL spells it, is this machine alone; what is not known to be is not. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
