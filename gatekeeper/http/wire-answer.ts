import { acceptedCoding } from './accepted-coding.ts';
import type { HeaderFacts } from './header-facts.ts';
import type { ReadyAnswer } from './ready-answers.ts';
import { jsonReply, type Reply } from './reply.ts';
import { type HttpResponse, plainResponse } from './request.ts';

/** Headers of every reply. */
const BASE_HEADERS: readonly string[] = [
  'access-control-allow-origin',
  '*',
  'access-control-expose-headers',
  'X-PAYMENT-RESPONSE, PAYMENT-RESPONSE, PAYMENT-REQUIRED, X-Request-Id',
];

/** An answer as it is written; `expires` in milliseconds since the epoch. */
export function readyAnswer(
  { reply, etag, path, unpaid, payer }: HttpResponse,
  expires: number,
): ReadyAnswer {
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
export const UNREAD = readyAnswer(
  plainResponse(
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

/** The refusal of the rate limit, with the seconds to wait. */
export function tooMany(wait: number): Reply {
  const error = 'Too many requests; nothing was charged. Wait and send the same request again';
  const body = { error, retry_after_s: wait };
  return jsonReply(429, body, [['retry-after', String(wait)]]);
}

function bytesOf({ body }: Reply): Buffer {
  return typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
}

/** Key of an answer that depends on the content coding; no raw target holds a blank. */
export function codedKey(target: string, { acceptEncoding }: HeaderFacts): string {
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
export function matches(ifNoneMatch: string | null, etag: string | null): boolean {
  if (ifNoneMatch === null || etag === null) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
