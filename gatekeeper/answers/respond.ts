import { createHash } from 'node:crypto';
import {
  type CanonicalRequest,
  canonicalRequest,
} from '../../compiler/contract/canonical-request.ts';
import { findRow, type Route, route } from '../../compiler/contract/route.ts';
import { SHOP_STYLES, SHOP_STYLES_URL } from '../../compiler/contract/site-page.ts';
import type { Spend } from '../http/cost.ts';
import { type HeaderFacts, headerFacts } from '../http/header-facts.ts';
import { type Header, jsonReply, NO_STORE, PRIVATE_NO_STORE, type Reply } from '../http/reply.ts';
import type { RequestTrace } from '../http/request-id.ts';
import { wantsPage } from '../http/wants-page.ts';
import { mcpRefusal } from '../mcp/mcp-refusal.ts';
import { challengeReply } from '../offer/challenge.ts';
import { noCharge } from '../offer/no-charge.ts';
import type { PurchaseReply } from '../payment/purchase-desk.ts';
import { type Offered, offeredBy } from '../payment/tender.ts';
import { DamagedFileError, isLogged, UnreachableFileError } from '../release/read-body.ts';
import { staticFile } from '../release/static-file.ts';
import { messageOf } from '../system/message-of.ts';
import { answer } from './answers.ts';
import { challengePage } from './challenge-page.ts';
import { gone, notFound, refuseMethod } from './refuse-method.ts';
import {
  type Answered,
  type Content,
  KEEP_FOR_RELEASE,
  type Question,
  type RpcContext,
  type Service,
} from './service.ts';
import { SoldTargets } from './sold-targets.ts';
import { tokenGate } from './token-gate.ts';
import { verifyUsage } from './verify.ts';

/** Seconds that anybody may keep a free answer. */
const FREE_MAX_AGE_S = 60;

/** Longest path in the log. */
const PATH_CHARS_MAX = 200;

/** No release changes what a target means, so this is kept for the life of the process. */
const SOLD = new SoldTargets();

const FREE_CACHE: Header = ['cache-control', `public, max-age=${FREE_MAX_AGE_S}`];

/** A request as far as its answer depends on it. */
export interface Visit {
  readonly method: string;
  /** The raw request target. */
  readonly target: string;
  readonly facts: HeaderFacts;
  /** What the request is called; nothing where no client asks. */
  readonly trace?: RequestTrace;
  /** Takes what the answer costs beyond a plain one, while it is made. */
  readonly spend: Spend;
  /** The whole body of a POST, or the reply that refuses it; asked for once, after everything else fits. */
  readonly readBody: () => Promise<Buffer | Reply>;
}

/** A reply with what the socket side needs to know about it. */
export interface Served {
  readonly reply: Reply;
  /** What the log calls the request: never a query, which may hold a token. */
  readonly path: string;
  /** Strong validator of a free 200. */
  readonly etag: string | null;
  /** Milliseconds that the reply may be repeated to the same unpaid target. */
  readonly keepMs: number;
  readonly unpaid: boolean;
  /** Other clients get it under another content coding. */
  readonly isCoded?: true;
  /** Who paid, for the log. */
  readonly payer?: string;
}

/** The order of answers: target, preflight, path, method, token, parameters, then data, and only then money. */
export async function respond(visit: Visit, service: Service): Promise<Served> {
  const known = SOLD.get(visit.target);
  const request = known?.request ?? canonicalRequest(visit.target);
  if ('status' in request) {
    return plainServed(jsonReply(request.status, { error: request.error }), '(refused target)');
  }
  if (visit.method === 'OPTIONS') return plainServed(preflight(request.path), shortPath(request));
  const reader = { release: service.release, spend: visit.spend };
  const { acceptEncoding } = visit.facts;
  const asked = { path: request.path, method: visit.method, acceptEncoding };
  const given = staticFile(asked, reader);
  if (request.path === SHOP_STYLES_URL && visit.method === 'GET') return shopStyles(service);
  if (given !== null) return givenFile(given, { visit, request }, service);
  const refusal = refuseMethod(request.path, visit.method);
  const routed = refusal === null ? (known?.routed ?? route(request)) : undefined;
  if (refusal !== null || routed === undefined) {
    return plainServed(refusal ?? notFound(request.path), shortPath(request));
  }
  if (known === undefined) SOLD.keep(visit.target, { request, routed });
  return await serve({ visit, request, routed }, service);
}

/** What the pages of the release cannot know: whether payments are pretended here. */
function shopStyles({ operator }: Service): Served {
  const body = operator.settlement === 'test' ? SHOP_STYLES.test : SHOP_STYLES.real;
  const headers: Header[] = [['content-type', 'text/css; charset=utf-8'], FREE_CACHE];
  return plainServed({ status: 200, headers, body }, SHOP_STYLES_URL);
}

/** A free file beside the table. */
async function givenFile(
  file: NonNullable<ReturnType<typeof staticFile>>,
  call: Pick<Call, 'visit' | 'request'>,
  service: Service,
): Promise<Served> {
  const path = shortPath(call.request);
  try {
    const given = await file;
    return { ...plainServed(given.reply, path), etag: given.etag };
  } catch (error) {
    return plainServed(failure(error, call, service), path);
  }
}

interface Call {
  readonly visit: Visit;
  readonly request: CanonicalRequest;
  readonly routed: Route;
}

async function serve(call: Call, service: Service): Promise<Served> {
  const { visit, request, routed } = call;
  const path = shortPath(request);
  try {
    const gated = tokenGate(routed.endpoint, { facts: visit.facts, request }, service);
    if (gated !== null) return plainServed(gated, path);
    if (routed.endpoint.method === 'POST') return await posted(call, service);
    if (routed.endpoint.priceUsd === null) return await free(call, service);
    return await paid(call, service);
  } catch (error) {
    return plainServed(failure(error, call, service), path);
  }
}

/** Unknown paths are strangers' text: the log shows a piece of them, the reply a piece more. */
function shortPath({ path }: CanonicalRequest): string {
  return path.slice(0, PATH_CHARS_MAX);
}

/** A reply that nobody keeps. */
export function plainServed(reply: Reply, path: string): Served {
  return { reply, path, etag: null, keepMs: 0, unpaid: false };
}

/** Whatever threw, nobody was charged and no part of the body is sent. */
function failure(
  error: unknown,
  { visit, request }: Pick<Call, 'visit' | 'request'>,
  service: Service,
): Reply {
  const path = shortPath(request);
  if (!isLogged(error))
    service.log({ event: 'request_failed', id: visit.trace?.id, path, error: messageOf(error) });
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

async function free({ visit, request, routed }: Call, service: Service): Promise<Served> {
  const path = shortPath(request);
  const { endpoint, trouble } = routed;
  if (trouble !== null) {
    const isLookUp = endpoint.answer === 'verify' && trouble.miss === 'missing_parameter';
    return isLookUp ? plainServed(verifyUsage(), path) : missed(routed, service, path);
  }
  const answered = await answer(questionOf(routed, visit), service);
  if (answered.kind === 'miss') return missed(routed, service, path);
  if (answered.kind === 'reply') return plainServed(answered.reply, path);
  const { content } = answered;
  if (endpoint.token) return plainServed(ownReply(content), path);
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
function missed(routed: Route, service: Service, path: string): Served {
  const { token, priceUsd } = routed.endpoint;
  const keepMs = token ? 0 : KEEP_FOR_RELEASE;
  return {
    ...plainServed(noCharge(routed, service.release), path),
    keepMs,
    unpaid: priceUsd !== null,
  };
}

/** What a token opens belongs to its holder: no cache keeps it and no tag tells others that it changed. */
function ownReply({ body, contentType, headers = [] }: Content): Reply {
  const all: Header[] = [['content-type', contentType], PRIVATE_NO_STORE, ...headers];
  return { status: 200, headers: all, body };
}

function questionOf(routed: Route, { facts, spend }: Visit): Question {
  const { accept, acceptEncoding } = facts;
  return { route: routed, accept, acceptEncoding, spend, body: null, rpc: null };
}

/** The unpaid GET of a program that sends no header, made by a tool call. */
const TOOL_FACTS = headerFacts(['host', 'localhost', 'accept', 'application/json']);

function rpcContext({ facts, spend, trace }: Visit, service: Service): RpcContext {
  const readBody = (): Promise<Buffer> => Promise.resolve(Buffer.alloc(0));
  const ask = async (target: string): Promise<Reply> => {
    const named = trace === undefined ? {} : { trace };
    const visit = { method: 'GET', target, facts: TOOL_FACTS, spend, readBody, ...named };
    return (await respond(visit, service)).reply;
  };
  return { headers: facts.rpc, ask };
}

/** An answer to a body belongs to the one who sent it: nobody keeps it. */
async function posted({ visit, request, routed }: Call, service: Service): Promise<Served> {
  const path = shortPath(request);
  const isRpc = routed.endpoint.answer === 'rpc';
  const refusal = isRpc ? mcpRefusal(visit.facts, service.baseUrl) : null;
  if (refusal !== null) return plainServed(refusal, path);
  const body = await visit.readBody();
  if (!Buffer.isBuffer(body)) return plainServed(body, path);
  const rpc = isRpc ? rpcContext(visit, service) : null;
  const answered = await answer({ ...questionOf(routed, visit), body, rpc }, service);
  if (answered.kind === 'miss') return plainServed(noCharge(routed, service.release), path);
  if (answered.kind === 'reply') return plainServed(answered.reply, path);
  const { contentType, headers = [] } = answered.content;
  const all: Header[] = [['content-type', contentType], NO_STORE, ...headers];
  return plainServed({ status: 200, headers: all, body: answered.content.body }, path);
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
  return answered.kind === 'miss' ? noCharge(routed, service.release) : answered.reply;
}

async function paid(call: Call, service: Service): Promise<Served> {
  const { visit, request, routed } = call;
  const path = shortPath(request);
  const [offered, ...others] = offeredBy(visit.facts);
  if (visit.method !== 'GET' || offered === undefined) return unpaid(call, service);
  const { endpoint, target, trouble } = routed;
  if (trouble !== null) return plainServed(noCharge(routed, service.release), path);
  if (others.length > 0) {
    const error = 'invalid_payload: send only one of X-PAYMENT, PAYMENT-SIGNATURE and X-RECEIPT';
    return plainServed(challengeReply(service.challenger.challenge(endpoint, target, error)), path);
  }
  const reply = await bought(call, offered, service);
  const { payer } = reply;
  return payer === undefined ? plainServed(reply, path) : { ...plainServed(reply, path), payer };
}

/** What is known is answered as it was; anything else must have an answer before money is looked at. */
async function bought(call: Call, offered: Offered, service: Service): Promise<PurchaseReply> {
  const { visit, routed } = call;
  const { endpoint, target } = routed;
  const { method, trace } = visit;
  const named = trace === undefined ? {} : { trace };
  const opened = await service.desk.open({ endpoint, target, method, offered, ...named });
  if (!('sell' in opened)) return opened;
  const answered = await answer(questionOf(routed, visit), service);
  if (answered.kind !== 'content') return missReply(answered, routed, service);
  return opened.sell(answered.content);
}

async function unpaid({ visit, request, routed }: Call, service: Service): Promise<Served> {
  const path = shortPath(request);
  const { endpoint, target, bare, trouble } = routed;
  if (!bare && trouble !== null) return missed(routed, service, path);
  // A price question needs no data; for anything else it is read first: nobody signs for nothing.
  const probe = { ...questionOf(routed, visit), isProbe: true };
  const answered = bare ? null : await answer(probe, service);
  if (answered?.kind === 'miss') return missed(routed, service, path);
  if (answered?.kind === 'reply') return plainServed(answered.reply, path);
  const reply = challengeReply(service.challenger.challenge(endpoint, target));
  const isPage = visit.method === 'GET' && wantsPage(visit.facts.accept);
  if (isPage) return plainServed(challengePage(reply, { endpoint, target }, service), path);
  return { reply, path, etag: null, keepMs: KEEP_FOR_RELEASE, unpaid: true };
}
