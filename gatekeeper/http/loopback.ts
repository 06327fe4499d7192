const LOOPBACK = /^(localhost|(::ffff:)?127(\.[0-9]{1,3}){3}|\[?::1\]?)$/i;

/** Whether a host, as a setting, a URL or a socket spells it, is this machine alone; what is not known to be is not. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
