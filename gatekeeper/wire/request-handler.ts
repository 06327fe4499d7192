import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { defined, messageOf } from '../../compiler/format/errors.ts';
import { wholeSecond } from '../../compiler/products/shapes/request-time.ts';
import { headerFacts, pays, wantsPage } from './header-facts.ts';
import { Counts } from './maps.ts';
import {
  matches,
  READY_REFUSALS_MAX,
  type ReadyAnswer,
  ReadyAnswers,
  readyAnswer,
  UNREAD,
  variantKey,
} from './ready-answers.ts';
import { jsonReply, type Reply } from './reply.ts';
import {
  type Account,
  type Arrival,
  HEALTH_PATH,
  type HttpResponse,
  isHealth,
  type Limits,
  plainResponse,
  type RequestTrace,
  type Responder,
  type SentAnswer,
  tooMany,
  UNLIMITED,
} from './request.ts';

const BODILESS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

const REQUEST_ID = 'x-request-id';

export interface RequestHandlerOptions {
  /** The responder of this moment; a request keeps the one that it started with. */
  readonly responder: () => Responder;
  readonly limits: Limits;
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
  /** Of the responder of this moment. */
  #kept: ReturnType<typeof keptFor> | null = null;
  /** Connections that were refused for being too many; what arrives on them is not read. */
  readonly #refused = new WeakSet<object>();
  /** Connections that end with the answer that they were given. */
  readonly #ending = new WeakSet<object>();
  /** Connections whose next request is malformed while earlier ones are under way. */
  readonly #broken = new WeakSet<object>();
  /** Requests under way by socket. */
  readonly #busy = new Counts<object>();
  readonly #ids: RequestIds;
  readonly #halfClosed = new HalfClosed();
  #told = { second: Number.NaN, text: '' };

  constructor(options: RequestHandlerOptions) {
    this.#options = options;
    this.#ids = new RequestIds(options.instance);
  }

  connect(socket: Socket): void {
    socket.once('end', () => this.#halfClosed.probe(socket).catch(() => socket.destroy()));
    if (this.#options.limits.takesConnection(socket)) return;
    this.#refused.add(socket);
    this.#options.refused?.('connections');
    const error = 'Too many connections from your address; use fewer';
    endWith(socket, '503 Service Unavailable', error);
  }

  isBusy(socket: object): boolean {
    return this.#busy.of(socket) > 0;
  }

  receive(request: IncomingMessage, response: ServerResponse): void {
    if (this.#refused.has(request.socket)) return;
    const exchange = this.#exchange(request, response);
    const { wait, account } = this.#options.limits.admit(exchange, exchange.started);
    exchange.account = account;
    const early = this.#early(exchange, wait);
    if (early !== null) {
      this.#write(exchange, readyAnswer(early, 0), 'early');
      return;
    }
    const responder = this.#options.responder();
    const ready = this.#readyFor(exchange, responder);
    if (ready !== null) {
      this.#write(exchange, ready, 'ready');
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
    const refused = readyAnswer(plainResponse(reply, '(refused)'), 0);
    this.#write(this.#exchange(request, response), refused, 'early');
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
  #early({ request, method, target, facts }: Exchange, wait: number): HttpResponse | null {
    // Balancers probe in HTTP/1.0, which knows no Host; nothing that is said there depends on one.
    const isProbe = isHealth(target) && request.httpVersion === '1.0';
    let refusal: Reply | null = null;
    if (wait > 0) refusal = tooMany(wait);
    else if (facts.fault !== null && !isProbe) refusal = jsonReply(400, { error: facts.fault });
    // Any other method may carry one and is refused for itself.
    else if (facts.hasBody && BODILESS.includes(method))
      refusal = jsonReply(400, { error: `${method} must not carry a body` });
    if (refusal !== null) return plainResponse(refusal, '(refused)');
    // Every path answers OPTIONS alike.
    if (!isHealth(target) || method === 'OPTIONS') return null;
    const error = `${method} is not a method of ${HEALTH_PATH}; send GET`;
    const isLegal = BODILESS.includes(method);
    return plainResponse(
      isLegal
        ? this.#options.health()
        : jsonReply(405, { error, allow: BODILESS }, [['allow', BODILESS.join(', ')]]),
      HEALTH_PATH,
    );
  }

  #readyFor({ method, target, facts }: Exchange, responder: Responder): ReadyAnswer | null {
    if (method !== 'GET') return null;
    const { answers, refusals } = this.#keptBy(responder);
    const ready =
      answers.get(target) ??
      refusals.get(target) ??
      answers.get(variantKey(target, responder.variant(facts)));
    if (ready === undefined || responder.clock() >= ready.expires) return null;
    // A browser is told prices and refusals in words, so what is kept for programs is not for it.
    const isForPrograms = (ready.unpaid || ready.status === 422) && wantsPage(facts.accept);
    return isForPrograms || (ready.unpaid && pays(facts)) ? null : ready;
  }

  #keptBy(responder: Responder): ReturnType<typeof keptFor> {
    if (this.#kept?.responder !== responder) this.#kept = keptFor(responder);
    return this.#kept;
  }

  async #answer(exchange: Exchange, responder: Responder): Promise<void> {
    const { request, response, method, target, facts, account } = exchange;
    const { socket } = request;
    this.#busy.add(socket, 1);
    if (pays(facts)) this.#halfClosed.watch(socket, response);
    // Only an answer keeps its connection from being cut, not a body that does not arrive.
    const readBody = async (): Promise<Buffer | Reply> => {
      this.#busy.add(socket, -1);
      try {
        return await this.#options.limits.readBody(request, account);
      } finally {
        this.#busy.add(socket, 1);
      }
    };
    const spend = (units: number): void => account.charge(units, performance.now());
    const trace = this.#traceOf(exchange);
    const asked = { method, target, facts, trace, spend, readBody };
    const made = await responder.respond(asked).catch((error: unknown) => {
      this.#options.log({ event: 'request_failed', id: trace.id, error: messageOf(error) });
      const reply = jsonReply(500, { error: 'The service failed', retryable: true });
      return plainResponse(reply, '(failed)');
    });
    this.#busy.add(socket, -1);
    const ready = readyAnswer(made, responder.clock() + made.keepMs);
    const key = made.isCoded === true ? variantKey(target, responder.variant(facts)) : target;
    // Another responder may have taken its place meanwhile.
    if (method === 'GET' && made.keepMs > 0 && responder === this.#options.responder()) {
      const { answers, refusals } = this.#keptBy(responder);
      (ready.status === 422 ? refusals : answers).keep(key, ready);
    }
    this.#write(exchange, ready, 'made');
    // The answers that wait on it get time to be written.
    const isOver = this.#broken.has(socket) && !this.isBusy(socket);
    if (isOver) setTimeout(() => socket.destroySoon(), LINGER_MS).unref();
  }

  /** Only what is sent on to a facilitator needs a second name. */
  #traceOf(exchange: Exchange): RequestTrace {
    const { id, facts, request } = exchange;
    if (!pays(facts)) return { id, sentId: id };
    const isAwaited = (): boolean => !request.socket.destroyed;
    const client = this.#options.limits.clientOf(exchange);
    return { id, sentId: this.#ids.sent(id), client, isAwaited };
  }

  /** By the clock that answers are made by: a buyer compares it with its own before it pays. */
  #date(): string {
    const second = wholeSecond(this.#options.responder().clock());
    if (second !== this.#told.second) {
      this.#told = { second, text: new Date(second).toUTCString() };
    }
    return this.#told.text;
  }

  #write(exchange: Exchange, given: ReadyAnswer, from: SentAnswer['from']): void {
    const { request, response, method, facts, id, account, address } = exchange;
    const { limits, refused, answered } = this.#options;
    const { socket } = request;
    // Whoever leaves answers unread gets no more of them; what was paid for is sent all the same.
    const ready = given.payer !== undefined || limits.isReading(socket) ? given : UNREAD;
    if (ready === UNREAD) refused?.('unread');
    const { path, payer, wanted } = ready;
    // A connection that a body is still arriving on, or that is being drained, is not used again.
    const ends = (facts.hasBody && !request.readableEnded) || facts.fault !== null;
    if (ends) this.#ending.add(socket);
    if (ends || this.draining || ready === UNREAD) response.shouldKeepAlive = false;
    const unchanged = matches(facts.ifNoneMatch, ready.etag);
    const status = unchanged ? 304 : ready.status;
    const headers = unchanged ? ready.notModified : ready.headers;
    response.writeHead(status, [...headers, 'date', this.#date(), REQUEST_ID, id]);
    const bodiless = unchanged || method === 'HEAD';
    const bytes = bodiless ? 0 : ready.body.length;
    if (bodiless) response.end();
    else response.end(ready.body);
    const now = performance.now();
    const isPaid = payer !== undefined;
    if (bytes > 0) limits.hold({ socket, response, account, bytes, isPaid }, now);
    const { forwardedFor } = facts;
    const ms = now - exchange.started;
    const sent = {
      id,
      method,
      path,
      status,
      bytes,
      ms,
      from,
      address,
      forwardedFor,
      payer,
      wanted,
    };
    answered?.(sent);
  }
}

/** Refusals are apart from the others, so that made-up requests push no answer out. */
function keptFor(responder: Responder) {
  const refusals = new ReadyAnswers(READY_REFUSALS_MAX);
  return { responder, answers: new ReadyAnswers(), refusals };
}

interface Exchange extends Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Milliseconds of a steady clock. */
  readonly started: number;
  readonly id: string;
  /** Pays for the body and the answer, once the request is admitted. */
  account: Account;
}

/** What may be taken over: short, and plain in a header, in a log and in a shell. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Makes names of requests; each is unlike all others, also those of other processes. */
export class RequestIds {
  readonly #instance: string;
  #count = 0;

  /** `instance` tells this process from others: a few random letters and digits. */
  constructor(instance: string) {
    this.#instance = instance;
  }

  /** The value of `X-Request-Id` if it is plain, so that a proxy and we call a request the same; else a new name. */
  of(header: string | null): string {
    if (header === null || !PLAIN.test(header)) return this.#made();
    return this.#isOwn(header) ? this.#made() : header;
  }

  /** The name for the facilitator; behind a client's name stands one of ours, since to some services equal names are one call. */
  sent(id: string): string {
    return this.#isOwn(id) ? id : `${id}.${this.#made()}`;
  }

  /** Whoever sends a name that looks like ours gets another one. */
  #isOwn(id: string): boolean {
    return id.startsWith(`${this.#instance}-`);
  }

  #made(): string {
    this.#count += 1;
    return `${this.#instance}-${this.#count.toString(36)}`;
  }
}

/** Pauses before the interim answers that are sent behind a closed side, in milliseconds. */
const PROBE_PAUSES_MS = [50, 50, 200, 700];

/**
 * Tells a client that closed its side, and still reads, from one that is gone: both look alike until something is sent.
 * A client that reads skips interim answers (102). One that is gone answers the first with a reset, and the next one
 * fails, which destroys the socket.
 */
class HalfClosed {
  readonly #paying = new Map<Socket, ServerResponse>();

  /** The answer on this connection is paid for while its client waits. */
  watch(socket: Socket, response: ServerResponse): void {
    // HTTP/1.0 knows no interim answers.
    if (response.req.httpVersion === '1.0') return;
    this.#paying.set(socket, response);
    response.once('close', () => {
      if (this.#paying.get(socket) === response) this.#paying.delete(socket);
    });
  }

  async probe(socket: Socket): Promise<void> {
    for (const pauseMs of PROBE_PAUSES_MS) {
      await pause(pauseMs, undefined, { ref: false });
      const response = this.#paying.get(socket);
      if (response === undefined || response.headersSent || socket.destroyed) return;
      response.writeProcessing();
    }
  }
}

/** Time for the refusal to reach the client before the connection is cut. */
const LINGER_MS = 500;

const STATUS_OF: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

const ERROR_OF: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'Headers longer than 16 KB; payment headers hold at most 8 KB',
};

/** Answers once what is no HTTP request, then cuts the connection. */
export function refuseFraming(code: string, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const status = STATUS_OF[code] ?? '400 Bad Request';
  endWith(socket, status, ERROR_OF[code] ?? 'Not a valid HTTP request');
}

function endWith(socket: Socket, status: string, error: string): void {
  const body = JSON.stringify({ error, no_charge: true });
  const head = [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    'Content-Type: application/json',
    'Cache-Control: no-store',
    'Access-Control-Allow-Origin: *',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
