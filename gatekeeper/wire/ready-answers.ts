import { BoundedMap } from './maps.ts';
import { jsonReply, type Reply } from './reply.ts';
import { type HttpResponse, plainResponse } from './request.ts';

/** Ready answers kept for one release. */
export const READY_MAX = 8192;
/** Ready refusals kept for one release: strangers make as many different ones as they like. */
export const READY_REFUSALS_MAX = 512;
/** Bytes of ready answers kept for one release, with the text of their headers. */
const READY_BYTES_MAX = 8 * 1024 * 1024;
const READY_BODY_BYTES_MAX = 1024 * 1024;
/** Longest raw target that is a key. */
const KEY_CHARS_MAX = 1024;

/** An answer that needs nothing but to be written. */
export type ReadyAnswer = ReturnType<typeof readyAnswer>;

/** Ready answers by raw request target, bounded in number and bytes, oldest out first. */
export class ReadyAnswers extends BoundedMap<string, ReadyAnswer> {
  constructor(max = READY_MAX) {
    super({ entries: max, bytes: READY_BYTES_MAX });
  }

  keep(target: string, answer: ReadyAnswer): void {
    const { headers, body } = answer;
    if (target.length > KEY_CHARS_MAX || body.length > READY_BODY_BYTES_MAX) return;
    // A 402 says its terms in a header too, which is longer than its body.
    const bytes = headers.reduce((sum, text) => sum + text.length, body.length);
    this.set(target, answer, bytes);
  }
}

const BASE_HEADERS: readonly string[] = [
  'access-control-allow-origin',
  '*',
  'access-control-expose-headers',
  'X-PAYMENT-RESPONSE, PAYMENT-RESPONSE, PAYMENT-REQUIRED, X-Request-Id',
];

export function readyAnswer(
  { reply, etag, path, unpaid, payer }: HttpResponse,
  /** Milliseconds since the epoch; from then on it is made again. */
  expires: number,
) {
  return {
    status: reply.status,
    /** Names and values in turn, made once. */
    headers: flatHeaders(reply),
    notModified: etag === null ? [] : flatHeaders({ ...reply, status: 304 }),
    body: bodyOf(reply),
    etag,
    path,
    expires,
    /** An answer to an unpaid request for something that costs: no use to a request with a payment. */
    unpaid,
    payer,
    wanted: reply.wanted,
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

const DESCRIBES_BODY: readonly string[] = ['content-type', 'content-encoding'];

function bodyOf({ body }: Reply): Buffer {
  return typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
}

/** Key of an answer that depends on more than its target; no raw target holds a blank. */
export function variantKey(target: string, variant: string): string {
  return `${target} ${variant}`;
}

/** Names and values in turn; a 304 repeats what a cache needs and describes no body. */
function flatHeaders(reply: Reply): string[] {
  const flat = [...BASE_HEADERS];
  const short = reply.status === 304;
  for (const [name, value] of reply.headers) {
    if (!short || !DESCRIBES_BODY.includes(name)) flat.push(name, value);
  }
  if (!short && reply.status !== 204) flat.push('content-length', String(bodyOf(reply).length));
  return flat;
}

/** Weak comparison, as If-None-Match asks for. */
export function matches(ifNoneMatch: string | null, etag: string | null): boolean {
  if (ifNoneMatch === null || etag === null) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
