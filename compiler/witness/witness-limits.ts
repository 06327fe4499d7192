import type { IncomingMessage, Server } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';
import { clientKey, holderKey, NETWORK_CLIENTS, networkKey } from '../contract/client-key.ts';

/** Clients and logs that are remembered at once; those not seen for longest make room. */
const KEYS_MAX = 4096;
/** Connections at a time, and those of one client: whoever holds some of them open keeps nobody else out. */
const CONNECTIONS_MAX = 256;
const CONNECTIONS_PER_CLIENT_MAX = 16;

/** Where a server that speaks TLS stands: what it says of the client is believed. */
const OWN_NETWORK = new BlockList();
for (const [net, bits] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  OWN_NETWORK.addSubnet(net, bits);
}
OWN_NETWORK.addAddress('::1', 'ipv6');
OWN_NETWORK.addSubnet('fc00::', 7, 'ipv6');

/** Address of who asks; null for a server of the own network that does not say for whom. */
export function clientOf({ socket, headers }: IncomingMessage): string | null {
  const peer = addressOf(socket);
  if (!isOwn(peer)) return peer;
  // Only the last hop was written by that server.
  const hops = headers['x-forwarded-for'];
  const last = String(hops ?? '')
    .split(',')
    .at(-1)
    ?.trim();
  return last === undefined || isIP(last) === 0 ? null : last;
}

/** Ends what is too many connections: the newest of one client, or of all together the oldest of the network with most. */
export function limitConnections(server: Server): void {
  const [clients, networks]: [Held, Held] = [new Map(), new Map()];
  let count = 0;
  // Those of the own network come on top.
  server.maxConnections = 2 * CONNECTIONS_MAX;
  server.on('connection', (socket) => {
    const peer = addressOf(socket);
    if (isOwn(peer)) return;
    const client = clientKey(peer);
    if (clients.get(client)?.size === CONNECTIONS_PER_CLIENT_MAX) {
      socket.destroy();
      return;
    }
    hold(clients, client, socket);
    hold(networks, holderKey(peer), socket);
    count += 1;
    socket.once('close', () => {
      count -= 1;
    });
    if (count > CONNECTIONS_MAX) oldestOfMost(networks)?.destroy();
  });
}

/** Open connections by who holds them. */
type Held = Map<string, Set<Socket>>;

function hold(open: Held, key: string, socket: Socket): void {
  const held = open.get(key) ?? new Set();
  open.set(key, held.add(socket));
  socket.once('close', () => {
    held.delete(socket);
    if (held.size === 0) open.delete(key);
  });
}

function oldestOfMost(open: Held): Socket | undefined {
  const [most] = [...open.values()].sort((one, other) => other.size - one.size);
  return [...(most ?? [])].find(({ destroyed }) => !destroyed);
}

function addressOf({ remoteAddress }: Socket): string {
  // A socket that is closed already has none, and is answered nothing.
  return remoteAddress ?? '';
}

function isOwn(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && OWN_NETWORK.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

interface Rate {
  /** So many in a time, over a burst of as many. */
  readonly count: number;
  readonly ms: number;
}

/** Whether one more request of an address may be answered now: of its client, and of its network. */
export function clientLimit(rate: Rate, now: () => number): (address: string) => boolean {
  const mayClient = rateLimit(rate, now);
  const mayNetwork = rateLimit({ ...rate, count: NETWORK_CLIENTS * rate.count }, now);
  return (address) => {
    const network = networkKey(address);
    return mayClient(clientKey(address)) && (network === null || mayNetwork(network));
  };
}

/** Whether one more may be done now by this client, for this log, or by all. */
export function rateLimit({ count, ms }: Rate, now: () => number): (key: string) => boolean {
  const buckets = new Map<string, { readonly left: number; readonly at: number }>();
  return (key) => {
    const at = now();
    const known = buckets.get(key) ?? { left: count, at };
    const passed = Math.max(0, at - known.at) / ms;
    const left = Math.min(count, known.left + passed * count);
    const isAllowed = left >= 1;
    // Who is seen again is the newest.
    buckets.delete(key);
    buckets.set(key, { left: isAllowed ? left - 1 : left, at });
    const [oldest] = buckets.keys();
    if (buckets.size > KEYS_MAX && oldest !== undefined) buckets.delete(oldest);
    return isAllowed;
  };
}
