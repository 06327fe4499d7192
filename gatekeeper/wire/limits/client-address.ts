import { BlockList, isIP } from 'node:net';
import type { HeaderFacts } from '../header-facts.ts';

const HOPS_MAX = 16;
const WITH_PORT = /^(?:([0-9.]+):[0-9]{1,5}|\[([^\]]*)\](?::[0-9]{1,5})?)$/;

export type TrustedProxies = ReturnType<typeof trustedProxies>;

/** Reads a list of addresses and CIDR ranges, separated by commas; throws a RangeError for anything else. */
export function trustedProxies(list: string) {
  const block = new BlockList();
  for (const entry of list.split(',').map((part) => part.trim())) {
    if (entry !== '') add(block, entry);
  }
  return {
    has(address: string): boolean {
      const plain = /^::ffff:([0-9.]+)$/i.exec(address)?.[1] ?? address;
      const version = isIP(plain);
      return version !== 0 && block.check(plain, version === 4 ? 'ipv4' : 'ipv6');
    },
  };
}

function add(block: BlockList, entry: string): void {
  const [address = '', bits, ...rest] = entry.split('/');
  const version = isIP(address);
  const longest = version === 4 ? 32 : 128;
  const isRange = bits === undefined || (/^[0-9]{1,3}$/.test(bits) && Number(bits) <= longest);
  if (version === 0 || !isRange || rest.length > 0) {
    throw new RangeError(
      `Cannot trust proxy "${entry}": not an address; give 10.0.0.1 or 10.0.0.0/8`,
    );
  }
  block.addSubnet(address, Number(bits ?? longest), version === 4 ? 'ipv4' : 'ipv6');
}

/** That of the socket; behind a trusted proxy the last untrusted hop of X-Forwarded-For, since anybody can write the others. */
export function clientAddress(
  socketAddress: string,
  forwardedFor: string | null,
  proxies: TrustedProxies,
): string {
  if (forwardedFor === null || !proxies.has(socketAddress)) return socketAddress;
  const hops = forwardedFor.split(',').slice(-HOPS_MAX).reverse();
  let client = socketAddress;
  for (const hop of hops) {
    // Some proxies name the port beside the address, which every connection of a client has another of.
    const [, version4, version6] = WITH_PORT.exec(hop.trim()) ?? [];
    const address = version4 ?? version6 ?? hop.trim();
    if (isIP(address) === 0) return client;
    client = address;
    if (!proxies.has(address)) return client;
  }
  return client;
}

/** What stands between clients and this process. */
export interface Surroundings {
  readonly proxies: TrustedProxies;
  /** Whether the service has a public address; else only this machine asks it. */
  readonly isPublic: boolean;
}

/** Addresses that nobody of the web has. */
const INNER = trustedProxies(
  '127.0.0.0/8,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,169.254.0.0/16,::1,fc00::/7,fe80::/10',
);

/**
 * The address of the client itself; null where a proxy stands before it that no setting trusts, or a trusted one does not
 * name it: then everybody behind the proxy has one address. A proxy shows by its headers, or because a public service is asked
 * from an address that nobody of the web has; it may say anything as `Host`.
 */
export function surelyClient(
  socketAddress: string,
  { forwardedFor, via }: Pick<HeaderFacts, 'forwardedFor' | 'via'>,
  { proxies, isPublic }: Surroundings,
): string | null {
  const isForwarded = forwardedFor !== null || via !== null;
  const isInner = isPublic && INNER.has(socketAddress);
  if (!proxies.has(socketAddress)) return isForwarded || isInner ? null : socketAddress;
  const client = clientAddress(socketAddress, forwardedFor, proxies);
  return proxies.has(client) ? null : client;
}
