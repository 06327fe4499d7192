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

const GROUPS = 8;

/** Who a client is to a limit. One customer holds a whole IPv6 /64, so its addresses count as one. */
export function clientKey(address: string): string {
  const groups = groupsOf(address);
  return groups === null ? mappedOf(address) : `${groups.slice(0, 4).join(':')}::/64`;
}

/**
 * The clients of one network together get what so many clients would. Anybody is given an IPv6 /48 for nothing, with 65,536
 * clients in it; but servers of one host and phones of one carrier share one, too.
 */
export const NETWORK_CLIENTS = 8;

/** The IPv6 /48 of an address; null for IPv4, where each address costs money. */
export function networkKey(address: string): string | null {
  const groups = groupsOf(address);
  return groups === null ? null : `${groups.slice(0, 3).join(':')}::/48`;
}

/** Who answers for what is held open: all of an IPv6 network together, else the client. */
export function holderKey(address: string): string {
  return networkKey(address) ?? clientKey(address);
}

/** The groups of an IPv6 address, each in its shortest spelling; null for IPv4, also where it is mapped. */
function groupsOf(address: string): string[] | null {
  if (!address.includes(':') || mappedOf(address) !== address) return null;
  const [left = '', right] = (address.split('%')[0] ?? '').split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === undefined || right === '' ? [] : right.split(':');
  const zeros = right === undefined ? 0 : Math.max(0, GROUPS - head.length - tail.length);
  const groups = [...head, ...new Array<string>(zeros).fill('0'), ...tail];
  return groups.map((group) => group.replace(/^0+(?=.)/, '').toLowerCase());
}

/** The IPv4 address that an IPv6 one stands for; any other as it is. */
function mappedOf(address: string): string {
  return /^::ffff:([0-9.]+)$/i.exec(address)?.[1] ?? address;
}
