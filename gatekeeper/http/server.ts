import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { plainServed, respond, type Served, type Visit } from '../answers/respond.ts';
import type { Service } from '../answers/service.ts';
import type { Answered } from '../log/request-log.ts';
import type { Limit } from '../metrics/meters.ts';
import type { MetricsDoor } from '../metrics/metrics-door.ts';
import { isMetrics, METRICS_PATH } from '../metrics/metrics-path.ts';
import { messageOf } from '../system/message-of.ts';
import { acceptedCoding } from './accepted-coding.ts';
import { type Admission, type Entry, pays, UNCOUNTED } from './admission.ts';
import type { TrustedProxies } from './client-address.ts';
import { ConnectionCount } from './connection-count.ts';
import { costOfReading, costOfSending } from './cost.ts';
import { type HeaderFacts, headerFacts } from './header-facts.ts';
import { HEALTH_PATH, healthReply, isHealth } from './health.ts';
import { READY_MAX, READY_REFUSALS_MAX, type ReadyAnswer, ReadyAnswers } from './ready-answers.ts';
import { jsonReply, type Reply } from './reply.ts';
import { BodyReader } from './request-body.ts';
import { RequestIds, type RequestTrace } from './request-id.ts';
import { endSoon, refuseCrowd, refuseFraming } from './socket-errors.ts';
import {
  FREE_WAITING_MAX,
  PAID_WAITING_MAX,
  SOCKET_WAITING_MAX,
  WaitingBytes,
} from './waiting-bytes.ts';
import { wantsPage } from './wants-page.ts';

/** Timeouts and bounds of one connection; the defaults of Node let 200 slow clients hold a service. */
const SERVER_LIMITS = {
  headersTimeout: 6000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  // A client that uses a connection again in the instant in which it is closed has to send once more, so this is long.
  keepAliveTimeout: 15_000,
  maxHeaderSize: 16_384,
  // A request without it is refused like every other, with words and for every web page to read.
  requireHostHeader: false,
} as const;
const SOCKET_IDLE_MS = 20_000;
const CONNECTIONS_MAX = 4096;
const REQUESTS_PER_SOCKET_MAX = 10_000;
/** How long a stop waits for answers that are on their way. */
const DRAIN_MS = 9000;
/** How long connections without a request are kept once the port is closed: one may be on its way. */
const LINGER_MS = 1000;

/** Methods whose requests end with their headers. */
const BODILESS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** Headers of every reply. */
const BASE_HEADERS: readonly string[] = [
  'access-control-allow-origin',
  '*',
  'access-control-expose-headers',
  'X-PAYMENT-RESPONSE, PAYMENT-RESPONSE, PAYMENT-REQUIRED, X-Request-Id',
];
const REQUEST_ID = 'x-request-id';

export interface GateServerOptions {
  readonly host: string;
  readonly port: number;
  /** Descriptor of a socket that listens already, in place of host and port. */
  readonly fd?: number;
  /** Milliseconds for which a stop goes on accepting; each answer then asks for another connection. */
  readonly openMs?: number;
  /** The service of this moment; a request keeps the one that it started with. */
  readonly service: () => Service;
  readonly admit: Admission;
  /** Their connections are those of their clients, so they may hold any number. */
  readonly proxies: TrustedProxies;
  /** Answers a GET of HEALTH_PATH. */
  readonly health: () => Reply;
  readonly log: (entry: Readonly<Record<string, unknown>>) => void;
  /** Tells this process from others in the names of requests. */
  readonly instance: string;
  /** Told of every answer; null when nobody listens. */
  readonly answered: ((answered: Answered) => void) | null;
  /** Told of what a limit keeps away. */
  readonly refused?: (limit: Limit) => void;
  /** Opens METRICS_PATH; null where it is no path of this address. */
  readonly metrics: MetricsDoor | null;
}

/** A listening gatekeeper. */
export interface GateServer {
  /** Address that it listens on. */
  readonly host: string;
  readonly port: number;
  /** Connections of clients that are open. */
  connections(): Promise<number>;
  /** Stops accepting, after `openMs`; lets answers finish for at most DRAIN_MS, then cuts what is left. */
  close(): Promise<void>;
}

/** Starts to listen; rejects with the error of the socket. */
export async function startServer(options: GateServerOptions): Promise<GateServer> {
  const desk = new FrontDesk(options);
  const server = createServer({ ...SERVER_LIMITS, noDelay: true });
  server.maxConnections = CONNECTIONS_MAX;
  server.maxRequestsPerSocket = REQUESTS_PER_SOCKET_MAX;
  // Who has asked may close its side at once; what it paid for is sent on the other one.
  Object.assign(server, { httpAllowHalfOpen: true });
  // Bytes bound them: beyond a count they would be dropped, a second Host or payment among them.
  server.maxHeadersCount = 0;
  server.timeout = SOCKET_IDLE_MS;
  server.on('connection', (socket: Socket) => desk.connect(socket));
  server.on('drop', () => options.refused?.('connections'));
  server.on('request', (request, response) => desk.receive(request, response));
  // GET has no body to wait for, and nothing else is expected of us.
  server.on('checkContinue', (request, response) => desk.refuseExpectation(request, response));
  server.on('checkExpectation', (request, response) => desk.refuseExpectation(request, response));
  server.on('clientError', (error, socket) => desk.refuseSocket(error, socket as Socket));
  // A payment may be under way for longer than an idle connection is kept.
  server.on('timeout', (socket: Socket) => {
    if (!desk.isBusy(socket)) socket.destroy();
  });
  await listen(server, options);
  const { address, port } = server.address() as AddressInfo;
  return {
    host: address,
    port,
    connections: () => connectionsOf(server),
    close: () => drain(server, desk, options),
  };
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}

function listen(server: Server, { host, port, fd }: GateServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(fd === undefined ? { port, host } : { fd }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function drain(
  server: Server,
  desk: FrontDesk,
  { fd, openMs = 0 }: GateServerOptions,
): Promise<void> {
  desk.draining = true;
  if (openMs > 0) await pause(openMs);
  const isHandedOver = openMs > 0 || fd !== undefined;
  const closed = closePort(server, isHandedOver ? LINGER_MS : 0);
  const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(timer);
}

/** Closes the port at once, and connections without a request after a while; resolves when all are closed. */
function closePort(server: Server, lingerMs: number): Promise<void> {
  if (lingerMs === 0) return new Promise((resolve) => server.close(() => resolve()));
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeIdleConnections(), lingerMs);
    // That of node:http would close idle connections at once.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Takes requests off the wire and puts replies on it: the only code that writes to a socket. */
class FrontDesk {
  draining = false;
  readonly #options: GateServerOptions;
  readonly #ready = new WeakMap<object, ReadyAnswers>();
  /** Apart from the others, so that made-up requests push no answer out. */
  readonly #refusals = new WeakMap<object, ReadyAnswers>();
  /** Connections that were refused for being too many; what arrives on them is not read. */
  readonly #refused = new WeakSet<object>();
  /** Connections that end with the answer that they were given. */
  readonly #ending = new WeakSet<object>();
  /** Connections whose next request is malformed while earlier ones are under way. */
  readonly #broken = new WeakSet<object>();
  /** Requests under way by socket. */
  readonly #busy = new Map<object, number>();
  readonly #bodies = new BodyReader();
  readonly #waitingFree = new WaitingBytes(FREE_WAITING_MAX);
  readonly #waitingPaid = new WaitingBytes(PAID_WAITING_MAX);
  readonly #connections: ConnectionCount;
  readonly #ids: RequestIds;

  constructor(options: GateServerOptions) {
    this.#options = options;
    this.#connections = new ConnectionCount(options.proxies);
    this.#ids = new RequestIds(options.instance);
  }

  connect(socket: Socket): void {
    if (this.#connections.admit(socket)) return;
    this.#refused.add(socket);
    this.#options.refused?.('connections');
    refuseCrowd(socket);
  }

  isBusy(socket: object): boolean {
    return this.#busy.has(socket);
  }

  receive(request: IncomingMessage, response: ServerResponse): void {
    if (this.#refused.has(request.socket)) return;
    const started = performance.now();
    const facts = headerFacts(request.rawHeaders);
    const entry = this.#enter(request, facts, started);
    const id = this.#ids.of(facts.requestId);
    const exchange = { request, response, facts, started, id, account: entry.account };
    const early = this.#early(exchange, entry);
    if (early !== null) {
      this.#write(exchange, early, 'door');
      return;
    }
    const service = this.#options.service();
    const ready = this.#readyFor(request, facts, service);
    if (ready !== null) {
      this.#writeReady(exchange, ready, 'ready');
      return;
    }
    this.#answer(exchange, service).catch((error: unknown) => {
      this.#options.log({ event: 'write_failed', id, error: messageOf(error) });
      request.socket.destroy();
    });
  }

  refuseExpectation(request: IncomingMessage, response: ServerResponse): void {
    response.shouldKeepAlive = false;
    this.#ending.add(request.socket);
    const facts = headerFacts(request.rawHeaders);
    const reply = jsonReply(417, { error: 'Expect is not supported; send the request without it' });
    const { account } = UNCOUNTED;
    const id = this.#ids.of(facts.requestId);
    const exchange = { request, response, facts, started: performance.now(), id, account };
    this.#write(exchange, plainServed(reply, '(refused)'), 'door');
  }

  refuseSocket(error: NodeJS.ErrnoException, socket: Socket): void {
    const code = error.code ?? '';
    // What follows a refused body is noise: its connection has had its answer.
    if (this.#ending.has(socket)) socket.destroySoon();
    // What was asked before is answered first: it may be paid for.
    else if (this.isBusy(socket)) this.#broken.add(socket);
    else refuseFraming(code, socket);
    if (code !== 'ECONNRESET') this.#options.log({ event: 'bad_request', code });
  }

  /** A monitor must not mistake a crowd of strangers for a failure of the service. */
  #enter(request: IncomingMessage, facts: HeaderFacts, now: number): Entry {
    const { method = '', url: target = '', socket } = request;
    if (isHealth(target) || this.#isScrape(target, facts)) return UNCOUNTED;
    return this.#options.admit({ address: socket.remoteAddress ?? '', method, target, facts }, now);
  }

  /** Whoever knows the token reads the metrics also while a crowd is at the door. */
  #isScrape(target: string, { authorization }: HeaderFacts): boolean {
    const { metrics } = this.#options;
    return metrics !== null && isMetrics(target) && metrics.isOpenTo(authorization);
  }

  /** Answers that need no service: refusals and the health report. */
  #early(exchange: Exchange, { wait }: Entry): Served | null {
    const refusal = wait > 0 ? tooMany(wait) : this.#refuseEarly(exchange);
    if (refusal !== null) return plainServed(refusal, '(refused)');
    const { method = '', url = '' } = exchange.request;
    const health = isHealth(url) ? healthReply(method, this.#options.health) : null;
    return health === null ? null : plainServed(health, HEALTH_PATH);
  }

  #refuseEarly({ request, facts }: Exchange): Reply | null {
    const { method = '', url: target = '' } = request;
    // Balancers probe in HTTP/1.0, which knows no Host; nothing that is said there depends on one.
    const isProbe = isHealth(target) && request.httpVersion === '1.0';
    if (facts.objection !== null && !isProbe) return jsonReply(400, { error: facts.objection });
    // Any other method may carry one and is refused for itself.
    return facts.hasBody && BODILESS.includes(method)
      ? jsonReply(400, { error: `${method} must not carry a body` })
      : null;
  }

  #readyFor(request: IncomingMessage, facts: HeaderFacts, service: Service): ReadyAnswer | null {
    if (request.method !== 'GET') return null;
    const target = request.url ?? '';
    const kept = this.#ready.get(service);
    const ready =
      kept?.get(target) ??
      this.#refusals.get(service)?.get(target) ??
      kept?.get(codedKey(target, facts));
    if (ready === undefined || service.clock() >= ready.expires) return null;
    // A browser is told the price in words, so what is kept for programs is not for it.
    return ready.unpaid && (pays(facts) || wantsPage(facts.accept)) ? null : ready;
  }

  async #answer(exchange: Exchange, service: Service): Promise<void> {
    const { request, facts, account } = exchange;
    const { socket } = request;
    this.#hold(socket);
    const readBody = (): Promise<Buffer | Reply> => this.#readBody(exchange);
    const spend = (units: number): void => account.charge(units, performance.now());
    const { method = '', url: target = '' } = request;
    const trace = this.#traceOf(exchange);
    const visit = { method, target, facts, trace, spend, readBody };
    const served = await this.#served(visit, service).catch((error: unknown) => {
      this.#options.log({ event: 'request_failed', id: trace.id, error: messageOf(error) });
      const reply = jsonReply(500, { error: 'The service failed', retryable: true });
      return plainServed(reply, '(failed)');
    });
    this.#free(socket);
    const ready = readyAnswer(served, service.clock() + served.keepMs);
    const key = served.isCoded === true ? codedKey(target, facts) : target;
    if (request.method === 'GET' && served.keepMs > 0) this.#keepReady(key, ready, service);
    this.#writeReady(exchange, ready, 'made');
    if (this.#broken.has(socket) && !this.isBusy(socket)) endSoon(socket);
  }

  async #served(visit: Visit, service: Service): Promise<Served> {
    const { metrics } = this.#options;
    if (metrics === null || !isMetrics(visit.target)) return respond(visit, service);
    const { method, facts } = visit;
    return plainServed(await metrics.reply(method, facts.authorization), METRICS_PATH);
  }

  /** Only an answer keeps its connection from being cut, not a body that does not arrive. */
  async #readBody({ request, account }: Exchange): Promise<Buffer | Reply> {
    this.#free(request.socket);
    const body = await this.#bodies.read(request);
    this.#hold(request.socket);
    if (!Buffer.isBuffer(body)) return body;
    // Many are let in before the first of their bodies is judged: who is in debt by then waits.
    const wait = account.take(costOfReading(body.length), performance.now());
    return wait > 0 ? tooMany(wait) : body;
  }

  #hold(socket: object): void {
    this.#busy.set(socket, (this.#busy.get(socket) ?? 0) + 1);
  }

  #free(socket: object): void {
    const left = (this.#busy.get(socket) ?? 1) - 1;
    if (left === 0) this.#busy.delete(socket);
    else this.#busy.set(socket, left);
  }

  #keepReady(target: string, ready: ReadyAnswer, service: Service): void {
    const isRefusal = ready.status === 422;
    const kept = isRefusal ? this.#refusals : this.#ready;
    const answers =
      kept.get(service) ?? new ReadyAnswers(isRefusal ? READY_REFUSALS_MAX : READY_MAX);
    kept.set(service, answers);
    answers.keep(target, ready);
  }

  /** Only what is sent on to a facilitator needs a second name. */
  #traceOf({ id, facts }: Exchange): RequestTrace {
    return { id, sentId: pays(facts) ? this.#ids.sent(id) : id };
  }

  #write(exchange: Exchange, served: Served, from: Answered['from']): void {
    this.#writeReady(exchange, readyAnswer(served, 0), from);
  }

  #writeReady(exchange: Exchange, given: ReadyAnswer, from: Answered['from']): void {
    const { request, response, facts, id } = exchange;
    const ready = this.#isReading(request.socket, given) ? given : UNREAD;
    if (ready === UNREAD) {
      response.shouldKeepAlive = false;
      this.#options.refused?.('unread');
    }
    this.#prepare(exchange);
    const unchanged = matches(facts.ifNoneMatch, ready.etag);
    const status = unchanged ? 304 : ready.status;
    const headers = unchanged ? ready.notModified : ready.headers;
    response.writeHead(status, [...headers, REQUEST_ID, id]);
    const bodiless = unchanged || request.method === 'HEAD';
    const bytes = bodiless ? 0 : ready.body.length;
    if (bodiless) response.end();
    else response.end(ready.body);
    const now = performance.now();
    if (bytes > 0) this.#account(exchange, ready, now);
    this.#note(exchange, ready, { status, bytes, from, now });
  }

  /** Bytes cost what sending them takes; those that are not read are held for a while only. */
  #account(
    { request, response, account }: Exchange,
    { body, payer }: ReadyAnswer,
    now: number,
  ): void {
    account.charge(costOfSending(body.length), now);
    const waiting = payer === undefined ? this.#waitingFree : this.#waitingPaid;
    waiting.hold(request.socket, response);
  }

  /** Whoever leaves answers unread gets no more of them; what was paid for is sent all the same. */
  #isReading(socket: Socket, { payer }: ReadyAnswer): boolean {
    if (payer !== undefined) return true;
    return this.#waitingFree.of(socket) + this.#waitingPaid.of(socket) <= SOCKET_WAITING_MAX;
  }

  /** A connection that a body is still arriving on, or that is being drained, is not used again. */
  #prepare({ request, response, facts }: Exchange): void {
    const unread = facts.hasBody && !request.readableEnded;
    const ends = unread || facts.objection !== null;
    if (ends) this.#ending.add(request.socket);
    if (ends || this.draining) response.shouldKeepAlive = false;
  }

  #note(exchange: Exchange, { path, payer }: ReadyAnswer, sent: Sent): void {
    const { answered } = this.#options;
    if (answered === null) return;
    const { request, facts, started, id } = exchange;
    answered({
      id,
      method: request.method ?? '',
      path,
      status: sent.status,
      bytes: sent.bytes,
      ms: sent.now - started,
      from: sent.from,
      address: request.socket.remoteAddress ?? '',
      forwardedFor: facts.forwardedFor,
      payer,
    });
  }
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly facts: HeaderFacts;
  readonly started: number;
  readonly id: string;
  readonly account: Entry['account'];
}

/** What was sent, and when, in milliseconds of a steady clock. */
interface Sent extends Pick<Answered, 'status' | 'bytes' | 'from'> {
  readonly now: number;
}

function readyAnswer({ reply, etag, path, unpaid, payer }: Served, expires: number): ReadyAnswer {
  return {
    status: reply.status,
    headers: flatHeaders(reply),
    notModified: etag === null ? [] : flatHeaders({ ...reply, status: 304 }),
    body: bytesOf(reply),
    etag,
    path,
    expires,
    unpaid,
    ...(payer === undefined ? {} : { payer }),
  };
}

/** The answer on a connection whose earlier answers wait to be read; it is the last one there. */
const UNREAD = readyAnswer(
  plainServed(
    jsonReply(
      503,
      { error: 'Earlier answers are unread; read them and ask again', retryable: true },
      [['retry-after', '1']],
    ),
    '(unread)',
  ),
  0,
);

/** Headers that speak of a body. */
const DESCRIBES_BODY: readonly string[] = ['content-type', 'content-encoding'];

function tooMany(wait: number): Reply {
  const error = 'Too many requests; nothing was charged. Wait and send the same request again';
  const body = { error, retry_after_s: wait };
  return jsonReply(429, body, [['retry-after', String(wait)]]);
}

function bytesOf({ body }: Reply): Buffer {
  return typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
}

/** Key of an answer that depends on the content coding; no raw target holds a blank. */
function codedKey(target: string, { acceptEncoding }: HeaderFacts): string {
  return `${target} ${acceptedCoding(acceptEncoding)}`;
}

/** Names and values in turn; a 304 repeats what a cache needs and describes no body. */
function flatHeaders(reply: Reply): string[] {
  const flat = [...BASE_HEADERS];
  const short = reply.status === 304;
  for (const [name, value] of reply.headers) {
    if (!short || !DESCRIBES_BODY.includes(name)) flat.push(name, value);
  }
  if (!short && reply.status !== 204) flat.push('content-length', String(bytesOf(reply).length));
  return flat;
}

/** Weak comparison, as If-None-Match asks for. */
function matches(ifNoneMatch: string | null, etag: string | null): boolean {
  if (ifNoneMatch === null || etag === null) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
