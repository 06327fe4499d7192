import { costOfReading, costOfSending } from '../http/cost.ts';
import { type Limits, tooMany } from '../http/request.ts';
import { type AdmissionOptions, admission } from './admission.ts';
import { surelyClient } from './client-address.ts';
import { ConnectionCount } from './connection-count.ts';
import { rateLimit } from './rate-limit.ts';
import { BodyReader } from './request-body.ts';
import {
  FREE_WAITING_MAX,
  PAID_WAITING_MAX,
  SOCKET_WAITING_MAX,
  WaitingBytes,
} from './waiting-bytes.ts';

/** Seconds of the rate that whoever fetches a bought answer again may use at once: a crash of theirs must not wait for us. */
const REPEAT_BURST_S = 30;

interface LimitOptions extends Omit<AdmissionOptions, 'limit' | 'repeats'> {
  /** Units a second for one client; 0 turns the rate limit off. */
  readonly perSecond: number;
}

/** All limits of one server. */
export function openLimits({ perSecond, ...options }: LimitOptions): Limits {
  const connections = new ConnectionCount(options.proxies);
  const bodies = new BodyReader();
  const free = new WaitingBytes(FREE_WAITING_MAX);
  const paid = new WaitingBytes(PAID_WAITING_MAX);
  return {
    takesConnection: (socket) => connections.admit(socket),
    admit: admission({
      ...options,
      limit: rateLimit(perSecond),
      repeats: rateLimit(perSecond, REPEAT_BURST_S),
    }),
    clientOf: ({ address, facts }) => surelyClient(address, facts, options),
    async readBody(request, account) {
      const body = await bodies.read(request);
      if (!Buffer.isBuffer(body)) return body;
      // Many are let in before the first of their bodies is judged: who is in debt by then waits.
      const wait = account.take(costOfReading(body.length), performance.now());
      return wait > 0 ? tooMany(wait) : body;
    },
    isReading: (socket) =>
      free.beforeNewest(socket) + paid.beforeNewest(socket) <= SOCKET_WAITING_MAX,
    hold({ socket, response, account, bytes, isPaid }, now) {
      account.charge(costOfSending(bytes), now);
      (isPaid ? paid : free).hold(socket, response);
    },
  };
}
