const LOOPBACK = /^(localhost|127(\.[0-9]{1,3}){3}|\[::1\])$/;

/**
 * An http or https address that a person wrote, without slashes at its end; null for any other text, and for one with a user,
 * password, query or hash. `isSafe`: https, or http to this very machine.
 */
export function plainAddress(text: string): { href: string; isSafe: boolean } | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  if (url.username + url.password + url.search + url.hash !== '') return null;
  const isSafe = url.protocol === 'https:' || LOOPBACK.test(url.hostname);
  return { href: url.href.replace(/\/+$/, ''), isSafe };
}
