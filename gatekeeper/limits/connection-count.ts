import type { Socket } from 'node:net';
import { clientKey, networkKey } from '../../compiler/contract/client-key.ts';
import { isLoopback } from '../system/loopback.ts';
import type { TrustedProxies } from './client-address.ts';

/** Connections that one address may hold: a quarter of all, far more than a client needs and enough for a crowd behind one. */
const CONNECTIONS_PER_ADDRESS_MAX = 1024;
/** Those of one IPv6 /48 hold half of all: whoever is given one for nothing keeps nobody out. */
const CONNECTIONS_PER_NETWORK_MAX = 2048;

/** How many connections each address holds. A proxy holds those of all its clients: loopback and trusted ones are not counted. */
export class ConnectionCount {
  readonly #counts = new Map<string, number>();
  readonly #proxies: TrustedProxies;

  constructor(proxies: TrustedProxies) {
    this.#proxies = proxies;
  }

  /** Counts a connection until it is closed; false for one too many. */
  admit(socket: Pick<Socket, 'remoteAddress' | 'once'>): boolean {
    const address = socket.remoteAddress ?? '';
    if (isLoopback(address) || this.#proxies.has(address)) return true;
    const [client, network] = [clientKey(address), networkKey(address)];
    const isFull =
      this.#held(client) >= CONNECTIONS_PER_ADDRESS_MAX ||
      (network !== null && this.#held(network) >= CONNECTIONS_PER_NETWORK_MAX);
    if (isFull) return false;
    const keys = network === null ? [client] : [client, network];
    for (const key of keys) this.#counts.set(key, this.#held(key) + 1);
    socket.once('close', () => {
      for (const key of keys) this.#leave(key);
    });
    return true;
  }

  #held(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  #leave(key: string): void {
    const left = this.#held(key) - 1;
    if (left === 0) this.#counts.delete(key);
    else this.#counts.set(key, left);
  }
}
