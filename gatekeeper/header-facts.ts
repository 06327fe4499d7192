/** The few request headers that change an answer. */
export interface HeaderFacts {
  /** Why the request is ambiguous and not looked at any further; null when it is not. */
  readonly objection: string | null;
  /** Value of `X-PAYMENT`, repeated ones joined so that they are refused later; null when absent. */
  readonly paymentV1: string | null;
  /** Value of `PAYMENT-SIGNATURE`, in the same way. */
  readonly paymentV2: string | null;
  readonly accept: string;
  readonly authorization: string | null;
  readonly ifNoneMatch: string | null;
  /** A body follows, so the connection must not be used again unless it is read. */
  readonly hasBody: boolean;
}

interface Watched {
  host: string | null;
  accept: string | null;
  paymentV1: string | null;
  paymentV2: string | null;
  authorization: string | null;
  ifNoneMatch: string | null;
  contentLength: string | null;
  transferEncoding: string | null;
}

const WATCHED = new Map<string, keyof Watched>([
  ['host', 'host'],
  ['accept', 'accept'],
  ['x-payment', 'paymentV1'],
  ['payment-signature', 'paymentV2'],
  ['authorization', 'authorization'],
  ['if-none-match', 'ifNoneMatch'],
  ['content-length', 'contentLength'],
  ['transfer-encoding', 'transferEncoding'],
]);
const NAME_LENGTHS = new Set([...WATCHED.keys()].map((name) => name.length));
/** A repeated Host is joined by a comma, which no host has. */
const HOST = /^[A-Za-z0-9._~%:[\]-]{1,255}$/;

/** Reads raw header names and values in one pass, without building an object of them all. */
export function headerFacts(rawHeaders: readonly string[]): HeaderFacts {
  const seen = watchedHeaders(rawHeaders);
  const { host, accept, contentLength, transferEncoding, ...facts } = seen;
  const objection = HOST.test(host ?? '') ? null : 'send exactly one Host header';
  const hasBody = transferEncoding !== null || (contentLength !== null && contentLength !== '0');
  return { ...facts, accept: accept ?? '', objection, hasBody };
}

function watchedHeaders(rawHeaders: readonly string[]): Watched {
  const seen: Watched = {
    host: null,
    accept: null,
    paymentV1: null,
    paymentV2: null,
    authorization: null,
    ifNoneMatch: null,
    contentLength: null,
    transferEncoding: null,
  };
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    const key = NAME_LENGTHS.has(name.length) ? WATCHED.get(name.toLowerCase()) : undefined;
    if (key === undefined) continue;
    const value = rawHeaders[at + 1] ?? '';
    const before = seen[key];
    seen[key] = before === null ? value : `${before}, ${value}`;
  }
  return seen;
}
