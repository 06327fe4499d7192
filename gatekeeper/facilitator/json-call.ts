import type { Dispatcher } from 'undici';
// The rest of undici takes twice as long to load, and nothing of it is needed here.
import Pool from 'undici/lib/dispatcher/pool.js';
import { networkFault } from '../../compiler/contract/network-fault.ts';

/** One call of a JSON service. */
interface JsonCall {
  readonly method: 'GET' | 'POST';
  /** Absolute path on the origin. */
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** JSON text, null for none. */
  readonly body: Buffer | null;
  /** From the call to the last byte of the answer, waiting for a connection included. */
  readonly timeoutMs: number;
  /** Asked in the instant in which the call would leave; it does not when this is false. */
  readonly isWanted?: () => boolean;
}
/** A JSON value with a status below 300 or from 400 to 499, or what came instead of one. */
export type JsonAnswer = { readonly json: unknown; readonly status: number } | NoJson;
/** No answer. */
export interface NoJson {
  readonly detail: string;
  /** Of what came in place of an answer. */
  readonly status?: number;
  /** What kept the call from being made, where it was a setting of ours. */
  readonly setting?: string;
  /** Of a 429: milliseconds after which the call may be made again. */
  readonly retryMs?: number;
  /** Nothing came of the call and nothing will: no byte of it left this process. */
  readonly unsent?: true;
  /** Besides `unsent`: the call was not wanted any more. */
  readonly abandoned?: true;
}

/** Calls one origin over kept connections; never rejects. */
type JsonCaller = ((call: JsonCall) => Promise<JsonAnswer>) & { close(): Promise<void> };

interface JsonCallerOptions {
  readonly connections: number;
  readonly connectTimeoutMs: number;
  readonly bytesMax: number;
  /** Told the `Date` of each answer to a POST, in milliseconds since the epoch: a cache may have kept that of a GET. */
  readonly noteTime?: (ms: number) => void;
}

/**
 * The dispatch interface of undici costs half of what its `request` does. It follows no redirects and decodes no
 * bodies; an answer that needs either is treated as missing.
 */
export function jsonCaller(origin: string, options: JsonCallerOptions): JsonCaller {
  const { connections, connectTimeoutMs, bytesMax, noteTime = () => {} } = options;
  // Each call has one deadline of its own, so that a body that trickles in cannot last longer.
  const pool = new Pool(origin, {
    connections,
    pipelining: 1,
    connect: { timeout: connectTimeoutMs },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const send = ({ method, path, headers, body, ...call }: JsonCall): Promise<JsonAnswer> =>
    new Promise((resolve) => {
      const noteDate = method === 'POST' ? noteTime : () => {};
      const exchange = new JsonExchange({ ...call, bytesMax, resolve, noteDate });
      try {
        pool.dispatch({ method, path, headers: headers as string[], body }, exchange);
      } catch (error) {
        exchange.fail(stateOf(error));
      }
    });
  return Object.assign(send, { close: () => pool.destroy() });
}

interface ExchangeOptions extends Pick<JsonCall, 'timeoutMs' | 'isWanted'> {
  readonly bytesMax: number;
  readonly resolve: (answer: JsonAnswer) => void;
  readonly noteDate: (ms: number) => void;
}

/** Collects one answer; what comes after it has been settled is cut off. */
class JsonExchange implements Dispatcher.DispatchHandler {
  readonly #options: ExchangeOptions;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #status = 0;
  #over = false;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    const { timeoutMs } = options;
    this.#timer = setTimeout(() => this.fail(`no answer within ${timeoutMs} ms`), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // It may have waited for a connection.
    if (this.#options.isWanted?.() === false) this.#end(UNWANTED);
    this.#controller = controller;
    if (this.#over) controller.abort(ENDED);
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    this.#status = status;
    const dateMs = Date.parse(String(headers.date));
    if (!Number.isNaN(dateMs)) this.#options.noteDate(dateMs);
    // Whatever stands in its body, nothing was done.
    if (status === TOO_MANY) {
      this.#end({ detail: `status ${status}`, status, retryMs: retryMs(headers['retry-after']) });
      return;
    }
    const encoding = headers['content-encoding'] ?? 'identity';
    const redirected = status >= 300 && status < 400;
    if (status < 500 && !redirected && encoding === 'identity') return;
    this.fail(encoding === 'identity' ? `status ${status}` : `status ${status}, encoded`);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    this.#size += chunk.length;
    if (this.#size > this.#options.bytesMax) this.fail('body too long');
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first = Buffer.alloc(0)] = this.#chunks;
    const bytes = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.#end(parsed(bytes.toString('utf8'), this.#status));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.fail(stateOf(error));
  }

  /** Ends the call without an answer, and with it the connection that may still deliver one. */
  fail(detail: string): void {
    if (this.#over) return;
    const status = this.#status === 0 ? {} : { status: this.#status };
    this.#end(this.#controller === null ? { detail, unsent: true } : { detail, ...status });
    this.#controller?.abort(ENDED);
  }

  #end(answer: JsonAnswer): void {
    if (this.#over) return;
    this.#over = true;
    this.#chunks = [];
    clearTimeout(this.#timer);
    this.#options.resolve(answer);
  }
}

const TOO_MANY = 429;
/** Where a 429 does not say in seconds when to come again. */
const RETRY_MS = 1000;

function retryMs(header: string | string[] | undefined): number {
  const isSeconds = typeof header === 'string' && /^[0-9]{1,6}$/.test(header);
  return isSeconds ? Number(header) * 1000 : RETRY_MS;
}

const UNWANTED: NoJson = { detail: 'not wanted any more', unsent: true, abandoned: true };
const ENDED = new Error('The call was aborted');

function parsed(text: string, status: number): JsonAnswer {
  try {
    return { json: JSON.parse(text), status };
  } catch {
    return { detail: `status ${status}, not JSON`, status };
  }
}

function stateOf(error: unknown): string {
  const fault = networkFault(error);
  if (fault !== null) return fault.words;
  return error instanceof Error && 'code' in error ? String(error.code) : 'connection failed';
}
