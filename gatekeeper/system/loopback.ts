const LOOPBACK = /^(localhost|(::ffff:)?127(\.[0-9]{1,3}){3}|\[?::1\]?)$/i;

/** Whether a host, as spelled in a setting, a URL or by a socket, is certainly a loopback address. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
