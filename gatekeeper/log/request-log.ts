import { HEALTH_PATH, METRICS_PATH } from '../http/own-paths.ts';
import type { SentAnswer } from '../http/request.ts';
import { clientAddress, type TrustedProxies } from '../limits/client-address.ts';
import { type ClientHashOptions, clientHash } from './client-hash.ts';
import type { Log } from './line-log.ts';
import type { LoggedRequests } from './log-level.ts';

interface RequestLogOptions extends ClientHashOptions {
  readonly requests: LoggedRequests;
  readonly proxies: TrustedProxies;
  readonly log: Log;
}

/** Who asks again and again on behalf of the operator; their answers would bury all others. */
const PROBES: readonly string[] = [HEALTH_PATH, METRICS_PATH];

/** Logs answers; null where none is logged, so that nothing is done for them. */
export function requestLog(options: RequestLogOptions): ((answered: SentAnswer) => void) | null {
  const { requests, proxies, log } = options;
  if (requests === 'off') return null;
  const leastStatus = requests === 'errors' ? 500 : 0;
  const nameOf = clientHash(options);
  return ({ id, method, path, status, bytes, ms, payer, address, forwardedFor }) => {
    if (status < leastStatus || PROBES.includes(path)) return;
    const client = nameOf(clientAddress(address, forwardedFor, proxies));
    log({ id, method, path, status, bytes, ms: Math.round(ms * 100) / 100, client, payer });
  };
}
