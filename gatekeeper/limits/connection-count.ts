import type { Socket } from 'node:net';
import { clientKey } from '../../compiler/contract/client-key.ts';
import { isLoopback } from '../system/loopback.ts';
import type { TrustedProxies } from './client-address.ts';

/** Connections that one address may hold: a quarter of all, far more than a client needs and enough for a crowd behind one. */
const CONNECTIONS_PER_ADDRESS_MAX = 1024;

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
    const key = clientKey(address);
    const held = this.#counts.get(key) ?? 0;
    if (held >= CONNECTIONS_PER_ADDRESS_MAX) return false;
    this.#counts.set(key, held + 1);
    socket.once('close', () => this.#leave(key));
    return true;
  }

  #leave(key: string): void {
    const left = (this.#counts.get(key) ?? 1) - 1;
    if (left === 0) this.#counts.delete(key);
    else this.#counts.set(key, left);
  }
}
