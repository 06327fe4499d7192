import { setTimeout as sleep } from 'node:timers/promises';
import { type Dispatcher, Pool } from 'undici';
import { messageOf } from '../../../compiler/format/errors.ts';
import { networkFault } from '../../../compiler/format/network-fault.ts';
import { headerOf } from '../../wire/header-facts.ts';

/**
 * GETs of one static host over undici. Nothing of what comes back is trusted here, and whoever asks checks it:
 *
 *  - No redirect is followed, and no body is decoded: the bytes are hashed as they come.
 *  - An answer is read up to the length that the signed list gives, and no further.
 *  - Each answer has one deadline from the call to its last byte, so that a host that trickles holds nobody for longer.
 *  - No error holds the address or the header of the operator.
 *
 * HTTP semantics: RFC 9110. Conditional requests: its section 13.
 */

const CONNECT_MS = 5_000;
/** Of an answer that is thrown away. */
const DUMP_BYTES = 65_536;
const HEADERS_BYTES_MAX = 32_768;
/** Clocks of seconds: a file that was changed this long before it was sent bears its tag alone. */
const SETTLED_MS = 2_000;
/** Statuses that say nothing about a file, only about the host. */
const BUSY = [408, 425, 429];
/** Statuses that say that there is no file. */
const ABSENT = [404, 410];

/** What the host gave instead of a file. */
export class HostError extends Error {
  override readonly name = 'HostError';
  /** The host answered, and asking again soon gives the same. */
  readonly isFinal: boolean;
  /** It said that there is no such file. */
  readonly isAbsent: boolean;

  constructor(
    message: string,
    {
      isFinal,
      isAbsent = false,
      ...options
    }: ErrorOptions & { isFinal: boolean; isAbsent?: boolean },
  ) {
    super(message, options);
    this.isFinal = isFinal;
    this.isAbsent = isAbsent;
  }
}

export interface HostFile {
  readonly bytes: Buffer;
  readonly etag: string | null;
}

export interface HostRequest {
  /** Below the address of the host, without a slash in front. */
  readonly path: string;
  readonly max: number;
  /** Where the wanted bytes begin; the whole file is wanted where it is absent. */
  readonly start?: number | undefined;
  /** Of an answer that is known: the host may say that it still holds. */
  readonly etag?: string | null;
}

export interface StaticHost {
  /** A file; null where it is the known one. Throws a HostError. */
  get(request: HostRequest): Promise<HostFile | null>;
  close(): Promise<void>;
}

/** `auth` is one header of every request, `Name: value`; `deadline` gives milliseconds for an answer of so many bytes. */
export function staticHost(by: {
  url: URL;
  auth: string | null;
  connections: number;
  deadline: (bytes: number) => number;
}): StaticHost {
  const { url, auth, connections, deadline } = by;
  const pool = new Pool(url.origin, {
    connections,
    pipelining: 1,
    connect: { timeout: CONNECT_MS },
    // Each answer has one deadline of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: HEADERS_BYTES_MAX,
  });
  const base = url.pathname.replace(/\/+$/, '');
  const fixed = { 'accept-encoding': 'identity', ...(auth === null ? {} : headerOf(auth)) };
  return {
    async get({ path, max, start, etag = null }) {
      const ms = deadline(max);
      try {
        const answer = await pool.request({
          method: 'GET',
          path: `${base}/${path}`,
          headers: { ...fixed, ...wanted({ max, start, etag }) },
          signal: AbortSignal.timeout(ms),
        });
        const { statusCode, headers, body } = answer;
        if (statusCode !== (start === undefined ? 200 : 206)) {
          await body.dump({ limit: DUMP_BYTES }).catch(() => undefined);
          if (statusCode === 304 && etag !== null) return null;
          const isFinal = statusCode < 500 && !BUSY.includes(statusCode);
          const isAbsent = ABSENT.includes(statusCode);
          throw new HostError(`status ${statusCode}`, { isFinal, isAbsent });
        }
        const chunks: Buffer[] = [];
        let size = 0;
        for await (const chunk of body) {
          size += chunk.length;
          if (size > max) {
            body.destroy();
            throw new HostError(`longer than the ${max} bytes that are listed`, { isFinal: true });
          }
          chunks.push(chunk);
        }
        return { bytes: Buffer.concat(chunks, size), etag: lastingTag(headers) };
      } catch (error) {
        throw hostError(error, ms);
      }
    },
    close: () => pool.destroy(),
  };
}

function wanted({ max, start, etag }: Omit<HostRequest, 'path'>): Record<string, string> {
  return {
    ...(etag == null ? {} : { 'if-none-match': etag }),
    ...(start === undefined ? {} : { range: `bytes=${start}-${start + max - 1}` }),
  };
}

/**
 * The tag of an answer; null where another file may come to bear the same one. nginx and others make it of the second of
 * the last change and of the length, so a file that was a second old may change unseen (RFC 9110, 8.8.2.2).
 */
function lastingTag({ etag, date, ...headers }: Dispatcher.ResponseData['headers']): string | null {
  const changed = headers['last-modified'];
  const age = Date.parse(String(date)) - Date.parse(String(changed));
  const isSettled = changed === undefined || age >= SETTLED_MS;
  return typeof etag === 'string' && isSettled ? etag : null;
}

function hostError(error: unknown, ms: number): HostError {
  if (error instanceof HostError) return error;
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  const words = networkFault(error)?.words ?? messageOf(error);
  const state = isLate ? `no whole answer within ${ms} ms` : words;
  return new HostError(state, { isFinal: false, cause: error });
}

const ATTEMPTS_MAX = 3;
/** Before the second attempt; before each later one four times as long. */
const PAUSE_MS = 100;
/** What took so long is not repeated: somebody waits for it. */
const PATIENCE_MS = 5_000;

/** Asks again where that may help: a connection that broke, a host that is busy. Throws the HostError of the last attempt. */
export async function patientGet(host: StaticHost, request: HostRequest): Promise<HostFile | null> {
  const startedAt = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await host.get(request);
    } catch (error) {
      const isFinal = !(error instanceof HostError) || error.isFinal;
      const isLate = performance.now() - startedAt > PATIENCE_MS;
      if (isFinal || isLate || attempt === ATTEMPTS_MAX) throw error;
      await sleep(PAUSE_MS * 4 ** (attempt - 1));
    }
  }
}
