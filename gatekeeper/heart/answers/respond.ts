import { hash } from 'node:crypto';
import {
  type CanonicalRequest,
  canonicalRequest,
  findRow,
  type Route,
  route,
} from '../../../compiler/catalog/route.ts';
import { messageOf } from '../../../compiler/format/errors.ts';
import { factOf } from '../../../compiler/products/shapes/fact.ts';
import { pays, wantsPage } from '../../wire/header-facts.ts';
import {
  type Header,
  JSON_MEDIA_TYPE,
  jsonReply,
  NO_STORE,
  PRIVATE_NO_STORE,
  type Reply,
  WANTED_CHARS_MAX,
} from '../../wire/reply.ts';
import { type HttpRequest, type HttpResponse, plainResponse } from '../../wire/request.ts';
import { DamagedFileError, isLogged, UnreachableFileError } from '../release/read-body.ts';
import { answer, gone, notFound, refuseMethod } from './answers.ts';
import {
  type Answered,
  type AnswerRoom,
  type Content,
  type ContentAnswer,
  FREE_CACHE,
  KEEP_FOR_RELEASE,
  MISS,
  type Question,
  type Service,
} from './service.ts';

const PATH_CHARS_MAX = 200;
const SOLD_TARGET_CHARS_MAX = 256;

/** A request whose target has one canonical form. */
interface Call {
  readonly asked: HttpRequest;
  readonly request: CanonicalRequest;
  readonly service: Service;
  /** What the log calls it: a piece only, because unknown paths are strangers' text. */
  readonly path: string;
}

interface RoutedCall extends Call {
  readonly routed: Route;
}

/**
 * From a request to its answer, in this order:
 *
 *  1. The target becomes a canonical request; a target with two readings is refused.
 *  2. A static file stands beside the table, at its own path.
 *  3. The path and the method become a row of the table, or a 404, 405 or 410; but what was paid for earlier is delivered.
 *  4. A token opens what only subscribers get.
 *  5. The row names a stored file, or the room that computes its answer (`answers.ts`). Where there is none, the reply is
 *     a 422 that names a free request which lists or finds what was asked.
 *  6. What is free is sent. What costs is a 402, or with a payment one purchase: known already, or sold now.
 *  7. With `format=fact` what is sent is the fact of that body. The purchase knows the body alone.
 *  8. A browser reads a refusal as a page.
 *
 * Data comes before money: nobody is asked to pay for what cannot be answered, and only a 200 is ever charged.
 */
export async function respond(asked: HttpRequest, service: Service): Promise<HttpResponse> {
  const made = await responseTo(asked, service);
  const { method, facts } = asked;
  const isRefused = PAGED.includes(made.reply.status);
  if (!isRefused || method !== 'GET' || !wantsPage(facts.accept) || pays(facts)) return made;
  return plainResponse(service.rooms.refusalPage(made.reply, service.release), made.path);
}

/** Refusals that a browser gets as a page. */
const PAGED: readonly number[] = [404, 422];

async function responseTo(asked: HttpRequest, service: Service): Promise<HttpResponse> {
  const { catalog } = service.release;
  const known = service.targets.get(asked.target);
  const request = known?.request ?? canonicalRequest(asked.target);
  if ('status' in request) {
    return plainResponse(jsonReply(request.status, { error: request.error }), '(refused target)');
  }
  const path = request.path.slice(0, PATH_CHARS_MAX);
  const call = { asked, request, service, path };
  if (asked.method === 'OPTIONS') {
    // Alike for every path but retired ones; the headers of every reply already say who may ask.
    const isRetired = findRow(request.path, catalog)?.row.answer === 'gone';
    const preflight = { status: 204, headers: PREFLIGHT, body: '' };
    return plainResponse(isRetired ? gone() : preflight, path);
  }
  const file = service.rooms.staticFile(asked, request.path, service);
  if (file !== null) {
    return guarded(call, async () => {
      const { reply, etag } = await file;
      return { ...plainResponse(reply, path), etag };
    });
  }
  const refusal = refuseMethod(request.path, asked.method, catalog);
  const routed = refusal === null ? (known?.routed ?? route(request, catalog)) : undefined;
  if (refusal !== null || routed === undefined) {
    const absent = plainResponse(refusal ?? notFound(request.path, catalog), path);
    return guarded(call, async () => (await formerSale(call)) ?? absent);
  }
  // What costs and whose parameters are right is known from now on; any other target is read each time.
  const isSold = routed.endpoint.priceUsd !== null && routed.fault === null;
  if (known === undefined && isSold && asked.target.length <= SOLD_TARGET_CHARS_MAX)
    service.targets.set(asked.target, { request, routed });
  return guarded(call, () => serve({ ...call, routed }));
}

async function serve(call: RoutedCall): Promise<HttpResponse> {
  const { asked, request, routed, service, path } = call;
  const { endpoint, fault } = routed;
  const former = fault === null && endpoint.priceUsd !== null ? null : await formerSale(call);
  if (former !== null) return former;
  const closed = service.rooms.tokenGate(endpoint, { facts: asked.facts, request }, service);
  if (closed !== null) return plainResponse(closed, path);
  if (endpoint.method === 'POST') return posted(call);
  return endpoint.priceUsd === null ? free(call) : paid(call);
}

async function formerSale({ asked, service, path }: Call): Promise<HttpResponse | null> {
  const reply = await service.rooms.formerSale(asked, service);
  return reply === null ? null : plainResponse(reply, path);
}

/** Whatever throws, nobody is charged and no part of the body is sent. */
async function guarded(
  { asked, service, path }: Call,
  answer: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  try {
    return await answer();
  } catch (error) {
    if (!isLogged(error))
      service.log({ event: 'request_failed', id: asked.trace?.id, path, error: messageOf(error) });
    const refuse = (why: string, status: number, ...headers: Header[]): HttpResponse => {
      const body = { error: `Not charged. The ${why}`, retryable: true };
      return plainResponse(jsonReply(status, body, headers), path);
    };
    if (error instanceof DamagedFileError)
      return refuse('stored file is damaged', 503, ['retry-after', '30']);
    if (error instanceof UnreachableFileError)
      return refuse('stored file cannot be reached', 503, ['retry-after', '10']);
    return refuse('service failed', 500);
  }
}

const PREFLIGHT: readonly Header[] = [
  ['access-control-allow-methods', 'GET, HEAD, POST, OPTIONS'],
  [
    'access-control-allow-headers',
    'X-PAYMENT, PAYMENT-SIGNATURE, PAYMENT-IDENTIFIER, X-RECEIPT, SIGN-IN-WITH-X, Authorization, Content-Type, ' +
      'Access-Control-Expose-Headers, X-Request-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name',
  ],
  ['access-control-max-age', '86400'],
];

function roomOf({ routed, service }: RoutedCall): AnswerRoom | null {
  const { answer: word } = routed.endpoint;
  return word === 'file' || word === 'gone' ? null : service.rooms.answers[word];
}

async function free(call: RoutedCall): Promise<HttpResponse> {
  const { routed, service, path } = call;
  const { endpoint, fault } = routed;
  if (fault !== null) {
    const usage = fault.miss === 'missing_parameter' ? roomOf(call)?.usage : undefined;
    return usage === undefined ? missed(call) : plainResponse(usage(), path);
  }
  const answered = await answer(questionOf(call), service);
  if (answered.kind === 'miss') return missed(call);
  if (answered.kind === 'reply') return plainResponse(answered.reply, path);
  const whole = await service.rooms.proven(answered.content, questionOf(call), service);
  const fact = factBytes(whole.body, routed);
  const content =
    fact === null ? whole : { body: fact, contentType: JSON_MEDIA_TYPE, keepMs: whole.keepMs };
  // What a token opens belongs to its holder: no cache keeps it and no tag tells others that it changed.
  if (endpoint.token) return plainResponse(contentReply(content, PRIVATE_NO_STORE), path);
  const etag = etagOf(content);
  const { keepMs, isCoded, isEmpty } = content;
  const wanted = isEmpty === true ? wantedOf(routed) : undefined;
  const reply = { ...contentReply(content, ['etag', etag], FREE_CACHE), wanted };
  return { reply, path, etag, keepMs, unpaid: false, isCoded };
}

function contentReply({ body, contentType, headers = [] }: Content, ...own: Header[]): Reply {
  return { status: 200, headers: [['content-type', contentType], ...own, ...headers], body };
}

/** The 422 of a GET: the same for as long as the release is, unless a token or a payment stands behind it. */
async function missed(call: RoutedCall): Promise<HttpResponse> {
  const { token, priceUsd } = call.routed.endpoint;
  const keepMs = token ? 0 : KEEP_FOR_RELEASE;
  const reply = await unanswered(MISS, call);
  return { ...plainResponse(reply, call.path), keepMs, unpaid: priceUsd !== null };
}

function questionOf({ asked, routed }: RoutedCall): Question {
  const { facts, spend, trace } = asked;
  const { accept, acceptEncoding, rpc, paymentHeaders } = facts;
  return { route: routed, accept, acceptEncoding, rpc, paymentHeaders, spend, trace, body: null };
}

/** An answer to a body belongs to the one who sent it: nobody keeps it. */
async function posted(call: RoutedCall): Promise<HttpResponse> {
  const { asked, service, path } = call;
  const refusal = roomOf(call)?.refusal?.(asked.facts, service) ?? null;
  if (refusal !== null) return plainResponse(refusal, path);
  const body = await asked.readBody();
  if (!Buffer.isBuffer(body)) return plainResponse(body, path);
  const answered = await answer({ ...questionOf(call), body }, service);
  if (answered.kind !== 'content') return plainResponse(await unanswered(answered, call), path);
  return plainResponse(contentReply(answered.content, NO_STORE), path);
}

async function unanswered(
  answered: Exclude<Answered, ContentAnswer>,
  { routed, service }: RoutedCall,
): Promise<Reply> {
  if (answered.kind === 'reply') return answered.reply;
  return { ...(await service.rooms.noCharge(routed, service.release)), wanted: wantedOf(routed) };
}

/** What a request without an answer was about; nothing where it may hold a secret or names nothing. */
function wantedOf({ endpoint, fault, values }: Route): string | undefined {
  if (endpoint.token || fault?.miss === 'missing_parameter') return undefined;
  if (fault?.isUnknownName === true) return undefined;
  const named = Object.entries(fault === null ? values : { [fault.name]: fault.value });
  if (named.length === 0) return endpoint.path;
  const text = named.map(([name, value]) => `${name}=${value}`).join(' ');
  return text.slice(0, WANTED_CHARS_MAX).toWellFormed();
}

/** Over the bytes that are sent, so that a changed freshness word is a changed tag. What is kept brings its hash. */
function etagOf({ sha256, body }: Content): string {
  const hex = sha256 ?? hash('sha256', body);
  return `"${hex.slice(0, 32)}"`;
}

async function paid(call: RoutedCall): Promise<HttpResponse> {
  const { asked, routed, service, path } = call;
  const [paymentHeader, ...others] = asked.facts.paymentHeaders;
  if (asked.method !== 'GET' || paymentHeader === undefined) return unpaid(call);
  const { endpoint, target, fault } = routed;
  if (fault !== null && fault.isUnknownName !== true)
    return plainResponse(await unanswered(MISS, call), path);
  if (others.length > 0) {
    const error = 'invalid_payload: send only one of X-PAYMENT, PAYMENT-SIGNATURE and X-RECEIPT';
    return plainResponse(service.challenger.challenge(endpoint, target, error), path);
  }
  // What is known is answered as it was; anything else must have an answer before money is looked at.
  const { method, trace } = asked;
  const opened = await service.purchases.open({ endpoint, target, method, paymentHeader, trace });
  if (!('sell' in opened)) return plainResponse(inForm(opened, routed), path);
  // A name that nobody knows is never sold, and what was paid before it was refused is delivered all the same.
  if (fault !== null) return plainResponse(await unanswered(MISS, call), path);
  const answered = await answer(questionOf(call), service);
  if (answered.kind !== 'content') return plainResponse(await unanswered(answered, call), path);
  const content = await service.rooms.proven(answered.content, questionOf(call), service);
  return plainResponse(inForm(await opened.sell(content), routed), path);
}

/** The reply of a purchase, in the form that was asked for. */
function inForm(reply: Reply, routed: Route): Reply {
  const fact = reply.status === 200 ? factBytes(reply.body, routed) : null;
  return fact === null ? reply : { ...reply, body: fact };
}

/**
 * The fact of a body; null where none was asked for. Money may have moved already, so it never throws: a body that gives no
 * fact, such as one of an older format that is delivered again, is sent whole.
 */
function factBytes(body: Buffer | string, { isFact, endpoint }: Route): Buffer | null {
  if (!isFact) return null;
  try {
    const fact = factOf(JSON.parse(body.toString()), endpoint.priceUsd ?? '0');
    return fact === null ? null : Buffer.from(JSON.stringify(fact));
  } catch {
    return null;
  }
}

async function unpaid(call: RoutedCall): Promise<HttpResponse> {
  const { asked, routed, service, path } = call;
  const { endpoint, target, bare, fault } = routed;
  if (!bare && fault !== null) return missed(call);
  // A price question needs no data; for anything else it is read first: nobody signs for nothing.
  const answered = bare ? null : await answer({ ...questionOf(call), isProbe: true }, service);
  if (answered?.kind === 'miss') return missed(call);
  if (answered?.kind === 'reply') return plainResponse(answered.reply, path);
  const reply = service.challenger.challenge(endpoint, target);
  const isPage = asked.method === 'GET' && wantsPage(asked.facts.accept);
  const keepMs = reply.isOnce === true ? 0 : (answered?.content.keepMs ?? KEEP_FOR_RELEASE);
  if (!isPage) return { reply, path, etag: null, keepMs, unpaid: true };
  const { spend } = asked;
  return plainResponse(
    await service.rooms.pricePage(reply, { endpoint, target, spend }, service),
    path,
  );
}
