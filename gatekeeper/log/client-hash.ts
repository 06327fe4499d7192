import { hash } from 'node:crypto';
import { clientKey } from '../../compiler/contract/client-key.ts';
import { DAY_MS } from '../../compiler/contract/iso-time.ts';
import { BoundedMap } from '../system/bounded-map.ts';

/** Clients whose hash is remembered; any other one is hashed again. */
const CLIENTS_MAX = 10_000;
const SALT_BYTES = 32;
const HASH_CHARS = 16;

export interface ClientHashOptions {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly random: (bytes: number) => Buffer;
}

/**
 * Names a client without its address: the lines of one day can be put together, those of two days cannot. The salt is
 * made again for each UTC day and never stored, so nobody can try all addresses later. One name stands for what one
 * customer holds: an address, or a /64 in IPv6.
 */
export function clientHash({ clock, random }: ClientHashOptions): (address: string) => string {
  const known = new BoundedMap<string, string>(CLIENTS_MAX);
  let salt = '';
  let saltDay = Number.NaN;
  return (address) => {
    const day = Math.floor(clock() / DAY_MS);
    if (day !== saltDay) {
      saltDay = day;
      salt = random(SALT_BYTES).toString('hex');
      known.clear();
    }
    const found = known.get(address);
    if (found !== undefined) return found;
    const made = hash('sha256', salt + clientKey(address), 'hex').slice(0, HASH_CHARS);
    known.set(address, made);
    return made;
  };
}
