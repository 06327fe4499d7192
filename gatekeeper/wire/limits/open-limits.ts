import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clientKey, holderKey, networkKey } from '../../../compiler/format/addresses.ts';
import { costOfReading, costOfSending, PAYMENT_COST, REPEAT_COST, REQUEST_COST } from '../cost.ts';
import { pays } from '../header-facts.ts';
import { isLoopback } from '../listen.ts';
import { Counts } from '../maps.ts';
import { type Header, jsonReply, type Reply } from '../reply.ts';
import {
  type Account,
  type Arrival,
  type Entry,
  type Limits,
  tooMany,
  UNLIMITED,
} from '../request.ts';
import {
  clientAddress,
  type Surroundings,
  surelyClient,
  type TrustedProxies,
} from './client-address.ts';
import { type RateLimit, rateLimit } from './rate-limit.ts';

/** Seconds of the rate that whoever fetches a bought answer again may use at once: a crash of theirs must not wait for us. */
const REPEAT_BURST_S = 30;

/** `perSecond`: units for one client; 0 turns the rate limit off. */
export function openLimits(
  perSecond: number,
  options: Omit<AdmissionOptions, 'limit' | 'repeats'>,
): Limits {
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

interface AdmissionOptions extends Surroundings {
  readonly limit: RateLimit;
  /** The bucket for clients that re-fetch what they paid for; what they use elsewhere does not count here. */
  readonly repeats: RateLimit;
  /** True when the buyer of a payment fetches again what it paid for; it must be cheap and must not throw. */
  readonly isRepeat: (arrival: Arrival, client: string | null) => boolean;
  /** A monitor must not mistake a crowd of strangers for a failure of the service. */
  readonly isMonitor: (arrival: Arrival) => boolean;
}

const UNCOUNTED: Entry = { wait: 0, account: UNLIMITED };

export function admission(options: AdmissionOptions): Limits['admit'] {
  const { limit, repeats, proxies, isRepeat, isMonitor } = options;
  return (arrival, now) => {
    if (!limit.isOn || isMonitor(arrival)) return UNCOUNTED;
    const { address, facts } = arrival;
    const client = clientAddress(address, facts.forwardedFor, proxies);
    if (pays(facts) && isRepeat(arrival, surelyClient(address, facts, options)))
      return enter(repeats.account(client), REPEAT_COST, now);
    const more = costOfReading(Math.max(0, arrival.target.length - TARGET_CHARS));
    const cost = (pays(facts) ? PAYMENT_COST : REQUEST_COST) + more;
    return enter(limit.account(client), cost, now);
  };
}

function enter(account: Account, cost: number, now: number): Entry {
  return { wait: account.take(cost, now), account };
}

/** Characters of a target that are in the price. */
const TARGET_CHARS = 1024;

/** Connections that one address may hold: a quarter of all, far more than a client needs and enough for a crowd behind one. */
const CONNECTIONS_PER_ADDRESS_MAX = 1024;
/** Those of one IPv6 /48 hold half of all: whoever is given one for nothing keeps nobody out. */
const CONNECTIONS_PER_NETWORK_MAX = 2048;

/** How many connections each address holds. A proxy holds those of all its clients: loopback and trusted ones are not counted. */
export class ConnectionCount {
  readonly #counts = new Counts<string>();
  readonly #proxies: TrustedProxies;

  constructor(proxies: TrustedProxies) {
    this.#proxies = proxies;
  }

  admit(socket: Pick<Socket, 'remoteAddress' | 'once'>): boolean {
    const address = socket.remoteAddress ?? '';
    if (isLoopback(address) || this.#proxies.has(address)) return true;
    const [client, network] = [clientKey(address), networkKey(address)];
    const isFull =
      this.#counts.of(client) >= CONNECTIONS_PER_ADDRESS_MAX ||
      (network !== null && this.#counts.of(network) >= CONNECTIONS_PER_NETWORK_MAX);
    if (isFull) return false;
    const keys = network === null ? [client] : [client, network];
    for (const key of keys) this.#counts.add(key, 1);
    socket.once('close', () => {
      for (const key of keys) this.#counts.add(key, -1);
    });
    return true;
  }
}

const BODY_BYTES_MAX = 256 * 1024;
/** Bytes of bodies that are arriving at the same time, over all connections. */
const BODIES_BYTES_MAX = 32 * 1024 * 1024;
/** Seconds after which a service that is busy with other bodies is worth asking again. */
const BUSY_RETRY_S = 2;

/** Reads request bodies within one budget, so that many slow ones cannot fill the memory. */
export class BodyReader {
  #held = 0;

  get held(): number {
    return this.#held;
  }

  async read(request: IncomingMessage, limit = BODY_BYTES_MAX): Promise<Buffer | Reply> {
    if (Number(request.headers['content-length'] ?? 0) > limit) return tooLong(limit);
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of request.iterator({ destroyOnReturn: false })) {
        size += chunk.length;
        this.#held += chunk.length;
        if (size > limit) return tooLong(limit);
        if (this.#held > BODIES_BYTES_MAX) {
          const error = 'Too many request bodies at once; send it again';
          const retry: Header = ['retry-after', String(BUSY_RETRY_S)];
          return jsonReply(503, { error, retryable: true }, [retry]);
        }
        chunks.push(chunk);
      }
      return request.complete ? Buffer.concat(chunks, size) : cutOff();
    } catch {
      return cutOff();
    } finally {
      this.#held -= size;
    }
  }
}

function tooLong(limit: number): Reply {
  return jsonReply(413, { error: `Body longer than ${limit} bytes; send less`, no_charge: true });
}

function cutOff(): Reply {
  return jsonReply(400, {
    error: 'Body ended before its declared length; send it again',
    no_charge: true,
  });
}

/** Bytes of unpaid answers that may wait to be read, over all connections. */
const FREE_WAITING_MAX = 64 * 1024 * 1024;
/** Bytes of bought answers that may wait to be read, over all connections: each can be fetched again. */
const PAID_WAITING_MAX = 256 * 1024 * 1024;
/** Bytes that wait on one connection, without its newest answer, from which on it gets nothing more that is free. */
const SOCKET_WAITING_MAX = 4 * 1024 * 1024;

interface Waiting {
  readonly key: string;
  bytes: number;
  newest: number;
}

/** Answers that are not read stay in memory. Beyond the bound the longest-waiting connection of the heaviest holder is cut. */
export class WaitingBytes {
  readonly #max: number;
  /** Every open connection that has ever waited, the one that has waited longest first. */
  readonly #sockets = new Map<Socket, Waiting>();
  #total = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get total(): number {
    return this.#total;
  }

  /** Without the newest answer: a client that has read it asks again before the system says so, and it alone may be long. */
  beforeNewest(socket: Socket): number {
    const { bytes, newest } = this.#sockets.get(socket) ?? { bytes: 0, newest: 0 };
    return Math.max(0, bytes - newest);
  }

  /** Notes what of an answer the system has not taken yet, until it has. */
  hold(socket: Socket, response: ServerResponse): void {
    const bytes = response.writableLength;
    if (bytes === 0 || socket.destroyed) return;
    const waiting = this.#sockets.get(socket) ?? this.#begin(socket);
    // Whoever has read everything begins to wait again.
    if (waiting.bytes === 0) this.#sockets.delete(socket);
    this.#sockets.set(socket, waiting);
    waiting.bytes += bytes;
    waiting.newest = bytes;
    this.#total += bytes;
    response.once('finish', () => this.#release(waiting, bytes));
    while (this.#total > this.#max) this.#cutOne();
  }

  #begin(socket: Socket): Waiting {
    const waiting = { key: holderKey(socket.remoteAddress ?? ''), bytes: 0, newest: 0 };
    socket.once('close', () => {
      this.#release(waiting, waiting.bytes);
      this.#sockets.delete(socket);
    });
    return waiting;
  }

  #release(waiting: Waiting, bytes: number): void {
    const given = Math.min(bytes, waiting.bytes);
    waiting.bytes -= given;
    this.#total -= given;
  }

  #cutOne(): void {
    const sums = new Map<string, number>();
    let heaviest = '';
    for (const { key, bytes } of this.#sockets.values()) {
      const sum = (sums.get(key) ?? 0) + bytes;
      sums.set(key, sum);
      if (sum > (sums.get(heaviest) ?? 0)) heaviest = key;
    }
    for (const [socket, waiting] of this.#sockets) {
      if (waiting.key !== heaviest || waiting.bytes === 0) continue;
      this.#release(waiting, waiting.bytes);
      socket.destroy();
      return;
    }
  }
}
