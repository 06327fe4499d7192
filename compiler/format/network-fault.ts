// Why another machine was not reached, in the same words wherever it is asked.

interface NetworkFault {
  /** Of the system, of undici or of TLS, such as `ENOTFOUND`. */
  readonly code: string;
  readonly words: string;
  /** No request came to the other side. */
  readonly isUnreached: boolean;
}

/** Of these no byte of the request was taken. */
const UNREACHED: ReadonlyMap<string, string> = new Map([
  ['ENOTFOUND', 'DNS knows no such host name'],
  ['EAI_AGAIN', 'DNS did not answer when it was asked for the host name'],
  ['EAI_FAIL', 'DNS could not look up the host name'],
  ['ECONNREFUSED', 'nothing listens there'],
  ['EHOSTUNREACH', 'no way leads to that machine'],
  ['ENETUNREACH', 'no way leads to that network'],
  ['UND_ERR_CONNECT_TIMEOUT', 'no connection came about in time'],
]);
const BROKEN: ReadonlyMap<string, string> = new Map([
  ['ECONNRESET', 'the connection broke'],
  ['EPIPE', 'the connection broke'],
  ['UND_ERR_SOCKET', 'the connection broke'],
  ['ETIMEDOUT', 'no answer in time'],
  ['UND_ERR_HEADERS_TIMEOUT', 'no answer in time'],
  ['UND_ERR_BODY_TIMEOUT', 'no whole answer in time'],
]);

/** Codes of OpenSSL and Node for a certificate that does not vouch for the host. */
const CERTIFICATE = /^(CERT_|ERR_TLS_CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/;
/** A chain of errors: a client wraps that of its HTTP client, which wraps that of the system. */
const DEPTH_MAX = 8;

/** What the error of a call says about the network, itself or by its cause; null where it is about something else. */
export function networkFault(error: unknown): NetworkFault | null {
  let inner = error;
  for (let depth = 0; depth < DEPTH_MAX && inner instanceof Error; depth += 1) {
    const code = 'code' in inner ? String(inner.code) : '';
    const unreached = CERTIFICATE.test(code)
      ? 'its certificate does not hold'
      : UNREACHED.get(code);
    const state = unreached ?? BROKEN.get(code);
    if (state !== undefined) {
      return { code, words: `${state} (${code})`, isUnreached: unreached !== undefined };
    }
    if (inner.name === 'TimeoutError') {
      return { code: 'TIMEOUT', words: 'no answer in time', isUnreached: false };
    }
    inner = inner.cause;
  }
  return null;
}
