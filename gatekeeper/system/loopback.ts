const LOOPBACK = /^(localhost|(::ffff:)?127(\.[0-9]{1,3}){3}|\[?::1\]?)$/i;

/** Whether a `Host` header names this machine: a name of the web that points here must not let a page of the web in. */
export function isLoopbackHost(header: string | undefined): boolean {
  return header !== undefined && isLoopback(header.replace(/:[0-9]+$/, ''));
}

/** Whether a host, as spelled in a setting, a URL or by a socket, is certainly a loopback address. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
