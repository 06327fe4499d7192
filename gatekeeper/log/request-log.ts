import { clientAddress, type TrustedProxies } from '../http/client-address.ts';
import { HEALTH_PATH } from '../http/health.ts';
import { METRICS_PATH } from '../metrics/metrics-path.ts';
import { type ClientHashOptions, clientHash } from './client-hash.ts';
import type { Log } from './line-log.ts';
import type { LoggedRequests } from './log-level.ts';

/** An answer that was sent. */
export interface Answered {
  /** Names the request, in the answer too. */
  readonly id: string;
  readonly method: string;
  /** Never a query, which may hold a token. */
  readonly path: string;
  readonly status: number;
  readonly bytes: number;
  readonly ms: number;
  /** Who paid, where somebody did. */
  readonly payer?: string | undefined;
  /** Whether the answer was kept ready, was made for this request, or needed no release at all. */
  readonly from: 'ready' | 'made' | 'door';
  /** Address of the socket. */
  readonly address: string;
  readonly forwardedFor: string | null;
}

export interface RequestLogOptions extends ClientHashOptions {
  readonly requests: LoggedRequests;
  readonly proxies: TrustedProxies;
  readonly log: Log;
}

/** Who asks again and again on behalf of the operator; their answers would bury all others. */
const PROBES: readonly string[] = [HEALTH_PATH, METRICS_PATH];

/** Logs answers; null where none is logged, so that nothing is done for them. */
export function requestLog(options: RequestLogOptions): ((answered: Answered) => void) | null {
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
