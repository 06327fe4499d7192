import { createHash } from 'node:crypto';
import {
  type CanonicalRequest,
  canonicalRequest,
} from '../../compiler/contract/canonical-request.ts';
import { findRow, type Route, route } from '../../compiler/contract/route.ts';
import { type PaymentHeader, wantsPage } from '../http/header-facts.ts';
import { type Header, jsonReply, NO_STORE, PRIVATE_NO_STORE, type Reply } from '../http/reply.ts';
import { type HttpRequest, type HttpResponse, plainResponse } from '../http/request.ts';
import type { PurchaseReply } from '../purchase/purchase-reply.ts';
import { DamagedFileError, isLogged, UnreachableFileError } from '../release/read-body.ts';
import { messageOf } from '../system/message-of.ts';
import { answer } from './answers.ts';
import { gone, notFound, refuseMethod } from './refuse-method.ts';
import {
  type Answered,
  type AnswerRoom,
  type Content,
  FREE_CACHE,
  KEEP_FOR_RELEASE,
  type Question,
  type Service,
  type StaticFile,
} from './service.ts';

/** Longest path in the log. */
const PATH_CHARS_MAX = 200;

/** The order of answers: target, preflight, path, method, token, parameters, then data, and only then money. */
export async function respond(asked: HttpRequest, service: Service): Promise<HttpResponse> {
  const known = service.targets.get(asked.target);
  const request = known?.request ?? canonicalRequest(asked.target);
  if ('status' in request) {
    return plainResponse(jsonReply(request.status, { error: request.error }), '(refused target)');
  }
  if (asked.method === 'OPTIONS') return plainResponse(preflight(request.path), shortPath(request));
  const file = service.rooms.staticFile(asked, request.path, service);
  if (file !== null) return givenFile(file, { asked, request }, service);
  const refusal = refuseMethod(request.path, asked.method);
  const routed = refusal === null ? (known?.routed ?? route(request)) : undefined;
  if (refusal !== null || routed === undefined) {
    return plainResponse(refusal ?? notFound(request.path), shortPath(request));
  }
  if (known === undefined) service.targets.keep(asked.target, { request, routed });
  return await serve({ asked, request, routed }, service);
}

/** A free file beside the table. */
async function givenFile(
  file: Promise<StaticFile>,
  call: Pick<Call, 'asked' | 'request'>,
  service: Service,
): Promise<HttpResponse> {
  const path = shortPath(call.request);
  try {
    const given = await file;
    return { ...plainResponse(given.reply, path), etag: given.etag };
  } catch (error) {
    return plainResponse(failure(error, call, service), path);
  }
}

interface Call {
  readonly asked: HttpRequest;
  readonly request: CanonicalRequest;
  readonly routed: Route;
}

async function serve(call: Call, service: Service): Promise<HttpResponse> {
  const { asked, request, routed } = call;
  const path = shortPath(request);
  try {
    const caller = { facts: asked.facts, request };
    const gated = service.rooms.tokenGate(routed.endpoint, caller, service);
    if (gated !== null) return plainResponse(gated, path);
    if (routed.endpoint.method === 'POST') return await posted(call, service);
    if (routed.endpoint.priceUsd === null) return await free(call, service);
    return await paid(call, service);
  } catch (error) {
    return plainResponse(failure(error, call, service), path);
  }
}

/** Unknown paths are strangers' text: the log shows a piece of them, the reply a piece more. */
function shortPath({ path }: CanonicalRequest): string {
  return path.slice(0, PATH_CHARS_MAX);
}

/** Whatever threw, nobody was charged and no part of the body is sent. */
function failure(
  error: unknown,
  { asked, request }: Pick<Call, 'asked' | 'request'>,
  service: Service,
): Reply {
  const path = shortPath(request);
  if (!isLogged(error))
    service.log({ event: 'request_failed', id: asked.trace?.id, path, error: messageOf(error) });
  if (error instanceof DamagedFileError) {
    const body = { error: 'Not charged. The stored file is damaged', retryable: true };
    return jsonReply(503, body, [['retry-after', '30']]);
  }
  if (error instanceof UnreachableFileError) {
    const body = { error: 'Not charged. The stored file cannot be reached', retryable: true };
    return jsonReply(503, body, [['retry-after', '10']]);
  }
  return jsonReply(500, { error: 'Not charged. The service failed', retryable: true });
}

/** The answer to OPTIONS, alike for every path but retired ones; the headers of every reply already say who may ask. */
function preflight(path: string): Reply {
  const isRetired = findRow(path)?.row.answer === 'gone';
  return isRetired ? gone() : { status: 204, headers: PREFLIGHT, body: '' };
}

const PREFLIGHT: readonly Header[] = [
  ['access-control-allow-methods', 'GET, HEAD, POST, OPTIONS'],
  [
    'access-control-allow-headers',
    'X-PAYMENT, PAYMENT-SIGNATURE, X-RECEIPT, Authorization, Content-Type, Access-Control-Expose-Headers, ' +
      'X-Request-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name',
  ],
  ['access-control-max-age', '86400'],
];

function roomOf({ endpoint }: Route, { rooms }: Service): AnswerRoom | null {
  const { answer: word } = endpoint;
  return word === 'file' || word === 'gone' ? null : rooms.answers[word];
}

async function free({ asked, request, routed }: Call, service: Service): Promise<HttpResponse> {
  const path = shortPath(request);
  const { endpoint, trouble } = routed;
  if (trouble !== null) {
    const usage = trouble.miss === 'missing_parameter' ? roomOf(routed, service)?.usage : undefined;
    return usage === undefined ? missed(routed, service, path) : plainResponse(usage(), path);
  }
  const answered = await answer(questionOf(routed, asked), service);
  if (answered.kind === 'miss') return missed(routed, service, path);
  if (answered.kind === 'reply') return plainResponse(answered.reply, path);
  const { content } = answered;
  if (endpoint.token) return plainResponse(ownReply(content), path);
  const etag = etagOf(content);
  const { body, contentType, headers = [], keepMs, isCoded } = content;
  const all: Header[] = [['content-type', contentType], ['etag', etag], FREE_CACHE, ...headers];
  const coded = isCoded === undefined ? {} : { isCoded };
  return {
    reply: { status: 200, headers: all, body },
    path,
    etag,
    keepMs,
    unpaid: false,
    ...coded,
  };
}

/** The 422 of a GET: the same for as long as the release is, unless a token or a payment stands behind it. */
function missed(routed: Route, service: Service, path: string): HttpResponse {
  const { token, priceUsd } = routed.endpoint;
  const keepMs = token ? 0 : KEEP_FOR_RELEASE;
  return {
    ...plainResponse(service.rooms.noCharge(routed, service.release), path),
    keepMs,
    unpaid: priceUsd !== null,
  };
}

/** What a token opens belongs to its holder: no cache keeps it and no tag tells others that it changed. */
function ownReply({ body, contentType, headers = [] }: Content): Reply {
  const all: Header[] = [['content-type', contentType], PRIVATE_NO_STORE, ...headers];
  return { status: 200, headers: all, body };
}

function questionOf(routed: Route, { facts, spend, trace }: HttpRequest): Question {
  const { accept, acceptEncoding, rpc } = facts;
  const named = trace === undefined ? {} : { trace };
  return { route: routed, accept, acceptEncoding, rpc, spend, body: null, ...named };
}

/** An answer to a body belongs to the one who sent it: nobody keeps it. */
async function posted({ asked, request, routed }: Call, service: Service): Promise<HttpResponse> {
  const path = shortPath(request);
  const refusal = roomOf(routed, service)?.refusal?.(asked.facts, service) ?? null;
  if (refusal !== null) return plainResponse(refusal, path);
  const body = await asked.readBody();
  if (!Buffer.isBuffer(body)) return plainResponse(body, path);
  const answered = await answer({ ...questionOf(routed, asked), body }, service);
  if (answered.kind === 'miss')
    return plainResponse(service.rooms.noCharge(routed, service.release), path);
  if (answered.kind === 'reply') return plainResponse(answered.reply, path);
  const { contentType, headers = [] } = answered.content;
  const all: Header[] = [['content-type', contentType], NO_STORE, ...headers];
  return plainResponse({ status: 200, headers: all, body: answered.content.body }, path);
}

/** Tags of bodies that are kept: the same buffer is given many times and never written to. */
const etags = new WeakMap<Buffer, string>();

/** Over the bytes that are sent, so that a changed freshness word is a changed tag. */
function etagOf({ sha256, body }: Content): string {
  const known = etags.get(body);
  if (known !== undefined) return known;
  const hex = sha256 ?? createHash('sha256').update(body).digest('hex');
  const etag = `"${hex.slice(0, 32)}"`;
  etags.set(body, etag);
  return etag;
}

function missReply(
  answered: Exclude<Answered, { kind: 'content' }>,
  routed: Route,
  service: Service,
): Reply {
  return answered.kind === 'miss'
    ? service.rooms.noCharge(routed, service.release)
    : answered.reply;
}

async function paid(call: Call, service: Service): Promise<HttpResponse> {
  const { asked, request, routed } = call;
  const path = shortPath(request);
  const [paymentHeader, ...others] = asked.facts.paymentHeaders;
  if (asked.method !== 'GET' || paymentHeader === undefined) return unpaid(call, service);
  const { endpoint, target, trouble } = routed;
  if (trouble !== null) return plainResponse(service.rooms.noCharge(routed, service.release), path);
  if (others.length > 0) {
    const error = 'invalid_payload: send only one of X-PAYMENT, PAYMENT-SIGNATURE and X-RECEIPT';
    return plainResponse(service.challenger.challenge(endpoint, target, error), path);
  }
  const reply = await bought(call, paymentHeader, service);
  const { payer } = reply;
  return payer === undefined
    ? plainResponse(reply, path)
    : { ...plainResponse(reply, path), payer };
}

/** What is known is answered as it was; anything else must have an answer before money is looked at. */
async function bought(
  call: Call,
  paymentHeader: PaymentHeader,
  service: Service,
): Promise<PurchaseReply> {
  const { asked, routed } = call;
  const { endpoint, target } = routed;
  const { method, trace } = asked;
  const named = trace === undefined ? {} : { trace };
  const opened = await service.purchases.open({
    endpoint,
    target,
    method,
    paymentHeader,
    ...named,
  });
  if (!('sell' in opened)) return opened;
  const answered = await answer(questionOf(routed, asked), service);
  if (answered.kind !== 'content') return missReply(answered, routed, service);
  return opened.sell(answered.content);
}

async function unpaid({ asked, request, routed }: Call, service: Service): Promise<HttpResponse> {
  const path = shortPath(request);
  const { endpoint, target, bare, trouble } = routed;
  if (!bare && trouble !== null) return missed(routed, service, path);
  // A price question needs no data; for anything else it is read first: nobody signs for nothing.
  const probe = { ...questionOf(routed, asked), isProbe: true };
  const answered = bare ? null : await answer(probe, service);
  if (answered?.kind === 'miss') return missed(routed, service, path);
  if (answered?.kind === 'reply') return plainResponse(answered.reply, path);
  const reply = service.challenger.challenge(endpoint, target);
  const isPage = asked.method === 'GET' && wantsPage(asked.facts.accept);
  if (isPage)
    return plainResponse(service.rooms.pricePage(reply, { endpoint, target }, service), path);
  return { reply, path, etag: null, keepMs: KEEP_FOR_RELEASE, unpaid: true };
}
