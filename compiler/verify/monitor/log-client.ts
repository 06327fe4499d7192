import { answerBytes, LongAnswerError } from '../../format/answer-bytes.ts';
import { HASH_BYTES } from '../../format/merkle.ts';
import { networkFault } from '../../format/network-fault.ts';
import { TILE_BYTES_MAX, TILE_WIDTH, type Tile, tilePath } from '../../format/tiles.ts';
import type { Clock } from '../../system/clock.ts';
import { errorText } from '../../system/error-text.ts';

/** Longest wait for one whole answer, which may not trickle in for ever. */
const ANSWER_MS_MAX = 30_000;
const RETRY_AFTER_S_MAX = 86_400;

/** The address could not be asked, or did not answer as a service does: says nothing about its log. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  readonly waitMs: number;

  constructor(
    message: string,
    { waitMs = 0, ...options }: ErrorOptions & { waitMs?: number } = {},
  ) {
    super(message, options);
    this.waitMs = waitMs;
  }
}

/** What asks a service; the global `fetch` has this shape. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface LogClient {
  /** Bytes at a path, at most `max`; null where there is nothing. Throws an UnreachableError for any other answer. */
  get(path: string, max: number): Promise<Uint8Array | null>;
}

/** Asks one address. No redirect is followed: another address would answer in the name of this one. */
export function logClient(
  address: string,
  {
    fetch,
    clock,
    totalMs,
    answerMs = ANSWER_MS_MAX,
  }: { fetch: Fetch; clock: Pick<Clock, 'steady'>; totalMs: number; answerMs?: number },
): LogClient {
  const end = clock.steady() + totalMs;
  return {
    get(path, max) {
      const waitMs = Math.max(0, Math.min(answerMs, end - clock.steady()));
      return asked(`${address}${path}`, { fetch, waitMs }, async (response) => {
        if (response.status === 200) return answerBytes(response, max);
        await response.body?.cancel();
        if (response.status === 404 || response.status === 410) return null;
        throw refusal(response);
      });
    },
  };
}

/** The bytes of a tile or a bundle of a log; null where it is not there. A partial one may be gone once the full one is there. */
export async function tileAt({ get }: LogClient, tile: Tile): Promise<Uint8Array | null> {
  const max = tile.level === 'entries' ? TILE_BYTES_MAX : TILE_WIDTH * HASH_BYTES;
  const [path, full] = [tilePath(tile), tilePath({ ...tile, width: TILE_WIDTH })];
  const bytes = await get(`/${path}`, max);
  return bytes === null && path !== full ? get(`/${full}`, max) : bytes;
}

/** What `use` makes of the answer of a URL. Throws an UnreachableError, also for whatever `use` throws. */
export async function asked<T>(
  url: string,
  {
    fetch,
    waitMs,
    headers = {},
    signal,
    ...put
  }: {
    fetch: Fetch;
    waitMs: number;
    headers?: Readonly<Record<string, string>>;
    signal?: AbortSignal;
    method?: 'PUT';
    body?: string;
  },
  use: (response: Response) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  // Cleared, so that a monitor which looks often holds no timers of looks that are over.
  const timer = setTimeout(() => late.abort(), waitMs);
  try {
    const response = await fetch(url, {
      ...put,
      redirect: 'manual',
      // A packed answer could be a thousand times as long as what came.
      headers: { 'accept-encoding': 'identity', ...headers },
      signal: signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]),
    });
    return await use(response);
  } catch (cause) {
    const waitMs = cause instanceof UnreachableError ? cause.waitMs : 0;
    throw new UnreachableError(`${url}: ${stateOf(cause)}`, { cause, waitMs });
  } finally {
    clearTimeout(timer);
  }
}

export function refusal({ status, headers }: Response): UnreachableError {
  const text = headers.get('retry-after')?.trim() ?? '';
  const seconds = /^\d{1,8}$/.test(text) ? Math.min(Number(text), RETRY_AFTER_S_MAX) : 0;
  const remedy = status >= 300 && status < 400 ? '; name the address that it leads to' : '';
  return new UnreachableError(`answered ${status}${remedy}`, { waitMs: seconds * 1000 });
}

function stateOf(cause: unknown): string {
  if (cause instanceof UnreachableError) return cause.message;
  if (cause instanceof LongAnswerError) return `an answer ${cause.message}`;
  if (!(cause instanceof Error)) return String(cause);
  if (cause.name === 'AbortError') return 'took too long';
  const inner = cause.cause instanceof Error ? cause.cause : cause;
  return (networkFault(cause)?.words ?? errorText(inner)).slice(0, 200);
}
