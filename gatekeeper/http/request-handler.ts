import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { defined } from '../../compiler/contract/defined.ts';
import { messageOf } from '../system/message-of.ts';
import { HalfClosed } from './half-closed.ts';
import { headerFacts, pays, wantsPage } from './header-facts.ts';
import { type Account, type Arrival, type Limits, tooMany, UNLIMITED } from './limits.ts';
import { HEALTH_PATH, healthReply, isHealth } from './own-paths.ts';
import {
  matches,
  READY_MAX,
  READY_REFUSALS_MAX,
  type ReadyAnswer,
  ReadyAnswers,
  readyAnswer,
  UNREAD,
  variantKey,
} from './ready-answers.ts';
import { jsonReply, type Reply } from './reply.ts';
import { type HttpResponse, plainResponse, type Responder, type SentAnswer } from './request.ts';
import { RequestIds, type RequestTrace } from './request-id.ts';
import { endSoon, refuseCrowd, refuseFraming } from './socket-errors.ts';

/** Methods whose requests end with their headers. */
const BODILESS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

const REQUEST_ID = 'x-request-id';

export interface RequestHandlerOptions {
  /** The responder of this moment; a request keeps the one that it started with. */
  readonly responder: () => Responder;
  readonly limits: Limits;
  /** Answers a GET of HEALTH_PATH. */
  readonly health: () => Reply;
  readonly log: (entry: Readonly<Record<string, unknown>>) => void;
  /** Tells this process from others in the names of requests. */
  readonly instance: string;
  /** Told of every answer; null when nobody listens. */
  readonly answered: ((answered: SentAnswer) => void) | null;
  /** Told of what a limit keeps away. */
  readonly refused?: (limit: 'connections' | 'unread') => void;
}

/** Takes requests off the wire and puts replies on it: the only code that writes to a socket. */
export class RequestHandler {
  draining = false;
  readonly #options: RequestHandlerOptions;
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
  readonly #ids: RequestIds;
  readonly #halfClosed = new HalfClosed();

  constructor(options: RequestHandlerOptions) {
    this.#options = options;
    this.#ids = new RequestIds(options.instance);
  }

  connect(socket: Socket): void {
    this.#halfClosed.connect(socket);
    if (this.#options.limits.takesConnection(socket)) return;
    this.#refused.add(socket);
    this.#options.refused?.('connections');
    refuseCrowd(socket);
  }

  isBusy(socket: object): boolean {
    return this.#busy.has(socket);
  }

  receive(request: IncomingMessage, response: ServerResponse): void {
    if (this.#refused.has(request.socket)) return;
    const exchange = this.#exchange(request, response);
    const { wait, account } = this.#options.limits.admit(exchange, exchange.started);
    exchange.account = account;
    const early = this.#early(exchange, wait);
    if (early !== null) {
      this.#write(exchange, early, 'early');
      return;
    }
    const responder = this.#options.responder();
    const ready = this.#readyFor(exchange, responder);
    if (ready !== null) {
      this.#writeReady(exchange, ready, 'ready');
      return;
    }
    this.#answer(exchange, responder).catch((error: unknown) => {
      this.#options.log({ event: 'write_failed', id: exchange.id, error: messageOf(error) });
      request.socket.destroy();
    });
  }

  refuseExpectation(request: IncomingMessage, response: ServerResponse): void {
    response.shouldKeepAlive = false;
    this.#ending.add(request.socket);
    const reply = jsonReply(417, { error: 'Expect is not supported; send the request without it' });
    this.#write(this.#exchange(request, response), plainResponse(reply, '(refused)'), 'early');
  }

  refuseSocket(error: NodeJS.ErrnoException, socket: Socket): void {
    const code = error.code ?? '';
    // What follows a refused body is noise: its connection has had its answer.
    if (this.#ending.has(socket)) socket.destroySoon();
    // What was asked before is answered first: it may be paid for.
    else if (this.isBusy(socket)) this.#broken.add(socket);
    else refuseFraming(code, socket);
    if (code !== 'ECONNRESET' && code !== 'EPIPE')
      this.#options.log({ event: 'bad_request', code });
  }

  #exchange(request: IncomingMessage, response: ServerResponse): Exchange {
    const started = performance.now();
    const facts = headerFacts(request.rawHeaders);
    return {
      request,
      response,
      // That of a connection that is gone already is not known.
      address: request.socket.remoteAddress ?? '',
      method: defined(request.method, 'the method of a request'),
      target: defined(request.url, 'the target of a request'),
      facts,
      started,
      id: this.#ids.of(facts.requestId),
      account: UNLIMITED,
    };
  }

  /** Answers that need no service: refusals and the health report. */
  #early(exchange: Exchange, wait: number): HttpResponse | null {
    const refusal = wait > 0 ? tooMany(wait) : this.#refuseEarly(exchange);
    if (refusal !== null) return plainResponse(refusal, '(refused)');
    const { method, target } = exchange;
    const health = isHealth(target) ? healthReply(method, this.#options.health) : null;
    return health === null ? null : plainResponse(health, HEALTH_PATH);
  }

  #refuseEarly({ request, method, target, facts }: Exchange): Reply | null {
    // Balancers probe in HTTP/1.0, which knows no Host; nothing that is said there depends on one.
    const isProbe = isHealth(target) && request.httpVersion === '1.0';
    if (facts.fault !== null && !isProbe) return jsonReply(400, { error: facts.fault });
    // Any other method may carry one and is refused for itself.
    return facts.hasBody && BODILESS.includes(method)
      ? jsonReply(400, { error: `${method} must not carry a body` })
      : null;
  }

  #readyFor({ method, target, facts }: Exchange, responder: Responder): ReadyAnswer | null {
    if (method !== 'GET') return null;
    const kept = this.#ready.get(responder);
    const ready =
      kept?.get(target) ??
      this.#refusals.get(responder)?.get(target) ??
      kept?.get(variantKey(target, responder.variant(facts)));
    if (ready === undefined || responder.clock() >= ready.expires) return null;
    // A browser is told the price in words, so what is kept for programs is not for it.
    return ready.unpaid && (pays(facts) || wantsPage(facts.accept)) ? null : ready;
  }

  async #answer(exchange: Exchange, responder: Responder): Promise<void> {
    const { request, response, method, target, facts, account } = exchange;
    const { socket } = request;
    this.#hold(socket);
    if (pays(facts)) this.#halfClosed.watch(socket, response);
    const readBody = (): Promise<Buffer | Reply> => this.#readBody(exchange);
    const spend = (units: number): void => account.charge(units, performance.now());
    const trace = this.#traceOf(exchange);
    const asked = { method, target, facts, trace, spend, readBody };
    const made = await responder.respond(asked).catch((error: unknown) => {
      this.#options.log({ event: 'request_failed', id: trace.id, error: messageOf(error) });
      const reply = jsonReply(500, { error: 'The service failed', retryable: true });
      return plainResponse(reply, '(failed)');
    });
    this.#free(socket);
    const ready = readyAnswer(made, responder.clock() + made.keepMs);
    const key = made.isCoded === true ? variantKey(target, responder.variant(facts)) : target;
    if (method === 'GET' && made.keepMs > 0) this.#keepReady(key, ready, responder);
    this.#writeReady(exchange, ready, 'made');
    if (this.#broken.has(socket) && !this.isBusy(socket)) endSoon(socket);
  }

  /** Only an answer keeps its connection from being cut, not a body that does not arrive. */
  async #readBody({ request, account }: Exchange): Promise<Buffer | Reply> {
    this.#free(request.socket);
    const body = await this.#options.limits.readBody(request, account);
    this.#hold(request.socket);
    return body;
  }

  #hold(socket: object): void {
    this.#busy.set(socket, (this.#busy.get(socket) ?? 0) + 1);
  }

  #free(socket: object): void {
    const left = (this.#busy.get(socket) ?? 1) - 1;
    if (left === 0) this.#busy.delete(socket);
    else this.#busy.set(socket, left);
  }

  #keepReady(target: string, ready: ReadyAnswer, responder: Responder): void {
    const isRefusal = ready.status === 422;
    const kept = isRefusal ? this.#refusals : this.#ready;
    const answers =
      kept.get(responder) ?? new ReadyAnswers(isRefusal ? READY_REFUSALS_MAX : READY_MAX);
    kept.set(responder, answers);
    answers.keep(target, ready);
  }

  /** Only what is sent on to a facilitator needs a second name. */
  #traceOf(exchange: Exchange): RequestTrace {
    const { id, facts, request } = exchange;
    if (!pays(facts)) return { id, sentId: id };
    const isAwaited = (): boolean => !request.socket.destroyed;
    const client = this.#options.limits.clientOf(exchange);
    return { id, sentId: this.#ids.sent(id), client, isAwaited };
  }

  #write(exchange: Exchange, made: HttpResponse, from: SentAnswer['from']): void {
    this.#writeReady(exchange, readyAnswer(made, 0), from);
  }

  #writeReady(exchange: Exchange, given: ReadyAnswer, from: SentAnswer['from']): void {
    const { request, response, method, facts, id, account } = exchange;
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
    const bodiless = unchanged || method === 'HEAD';
    const bytes = bodiless ? 0 : ready.body.length;
    if (bodiless) response.end();
    else response.end(ready.body);
    const now = performance.now();
    const { socket } = request;
    const sent = { socket, response, account, bytes, isPaid: ready.payer !== undefined };
    if (bytes > 0) this.#options.limits.hold(sent, now);
    this.#note(exchange, ready, { status, bytes, from, now });
  }

  /** Whoever leaves answers unread gets no more of them; what was paid for is sent all the same. */
  #isReading(socket: Socket, { payer }: ReadyAnswer): boolean {
    return payer !== undefined || this.#options.limits.isReading(socket);
  }

  /** A connection that a body is still arriving on, or that is being drained, is not used again. */
  #prepare({ request, response, facts }: Exchange): void {
    const unread = facts.hasBody && !request.readableEnded;
    const ends = unread || facts.fault !== null;
    if (ends) this.#ending.add(request.socket);
    if (ends || this.draining) response.shouldKeepAlive = false;
  }

  #note(exchange: Exchange, { path, payer }: ReadyAnswer, sent: Sent): void {
    const { answered } = this.#options;
    if (answered === null) return;
    const { method, facts, started, id, address } = exchange;
    answered({
      id,
      method,
      path,
      status: sent.status,
      bytes: sent.bytes,
      ms: sent.now - started,
      from: sent.from,
      address,
      forwardedFor: facts.forwardedFor,
      payer,
    });
  }
}

/** A request with what it is answered on. */
interface Exchange extends Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Milliseconds of a steady clock. */
  readonly started: number;
  readonly id: string;
  /** Pays for the body and the answer, once the request is admitted. */
  account: Account;
}

/** What was sent, and when, in milliseconds of a steady clock. */
interface Sent extends Pick<SentAnswer, 'status' | 'bytes' | 'from'> {
  readonly now: number;
}
