import { hash } from 'node:crypto';
import { clientKey } from '../../../compiler/format/addresses.ts';
import { DAY_MS } from '../../../compiler/format/iso-time.ts';
import { clientAddress, type TrustedProxies } from '../limits/client-address.ts';
import { BoundedMap } from '../maps.ts';
import { HEALTH_PATH, METRICS_PATH, type SentAnswer } from '../request.ts';
import type { Log, LoggedRequests } from './line-log.ts';

/** Who asks again and again on behalf of the operator; their answers would bury all others. */
const PROBES: readonly string[] = [HEALTH_PATH, METRICS_PATH];

/** Logs answers; null where none is logged, so that nothing is done for them. */
export function requestLog(
  options: ClientHashOptions & { requests: LoggedRequests; proxies: TrustedProxies; log: Log },
): ((answered: SentAnswer) => void) | null {
  const { requests, proxies, log } = options;
  if (requests === 'off') return null;
  const leastStatus = requests === 'errors' ? 500 : 0;
  const nameOf = clientHash(options);
  return ({ id, method, path, status, bytes, ms, payer, wanted, address, forwardedFor }) => {
    if (status < leastStatus || PROBES.includes(path)) return;
    const client = nameOf(clientAddress(address, forwardedFor, proxies));
    const asked = wanted === undefined ? {} : { wanted: withoutAddresses(wanted) };
    log({
      id,
      method,
      path,
      status,
      bytes,
      ms: Math.round(ms * 100) / 100,
      client,
      payer,
      ...asked,
    });
  };
}

/** Of mail, of wallets and keys, of IPv4 and of IPv6. */
const ADDRESS =
  /\S*@\S*|\b0x[\da-f]{16,}|\b[\da-f]{32,}\b|\b\d{1,3}(?:\.\d{1,3}){3}\b|(?:\b[\da-f]{1,4})?(?::[\da-f]{0,4}){2,}/gi;

/** A stranger's text without what may lead to a person. */
function withoutAddresses(text: string): string {
  return text.replace(ADDRESS, '…');
}

/** Clients whose hash is remembered; any other one is hashed again. */
const CLIENTS_MAX = 10_000;
const SALT_BYTES = 32;
const HASH_CHARS = 16;

interface ClientHashOptions {
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
