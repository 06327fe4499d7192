import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Dispatcher } from 'undici';
import Pool from 'undici/lib/dispatcher/pool.js';
import { z } from 'zod';
import { codeOf } from '../../../compiler/format/errors.ts';
import { networkFault } from '../../../compiler/format/network-fault.ts';
import { headerOf } from '../../wire/header-facts.ts';
import { readOwnFile } from '../../wire/plain-file.ts';
import { inTime } from '../../wire/slots.ts';
import { StartError } from '../../wire/start-error.ts';
import {
  authorizationOf,
  type Facilitator,
  type FacilitatorRequest,
  facilitatorUrl,
  isAwaited,
  type NoVerdict,
  type SettleOutcome,
  type SupportedOutcome,
  type ValidityOutcome,
} from '../facilitator.ts';
import { findNetwork } from '../networks.ts';

const VERIFY_TIMEOUT_MS = 10_000;
const SETTLE_TIMEOUT_MS = 60_000;
/** Longest wait for the headers that an operator's module makes. */
const AUTH_TIMEOUT_MS = 5000;
const FACILITATOR_BODY_BYTES_MAX = 65_536;
/** Hung settlements must not starve the others, so the pool is far larger than what a healthy one needs. */
const FACILITATOR_CONNECTIONS_MAX = 1024;
const REASON_CHARS_MAX = 200;

const optionalText = z.string().max(1024).nullish();
const verifyAnswer = z.object({
  isValid: z.boolean(),
  invalidReason: z.unknown().optional(),
  payer: optionalText,
});
const settleAnswer = z.object({
  success: z.boolean(),
  errorReason: z.unknown().optional(),
  transaction: optionalText,
  network: optionalText,
  payer: optionalText,
});
const supportedAnswer = z.object({ kinds: z.array(z.unknown()) });
const supportedKind = z.object({
  x402Version: z.number(),
  scheme: z.string(),
  network: z.string(),
});
/** Shown in receipts, which are base64, so any printable name of a transaction will do. */
const TRANSACTION = /^[\x21-\x7e]{1,128}$/;

/** Makes the headers of one call, for example a token that is signed for it. */
type FacilitatorAuth = (call: {
  method: 'GET' | 'POST';
  url: string;
}) => Promise<Readonly<Record<string, string>>>;

interface RemoteFacilitatorOptions {
  /** Base URL; https unless the host is loopback. */
  readonly url: string;
  /** For facilitators that know their sellers; a throw keeps the call from being sent. */
  readonly auth?: FacilitatorAuth;
  readonly verifyTimeoutMs?: number;
  readonly settleTimeoutMs?: number;
  /** Told the time of its answers, in milliseconds since the epoch; must not throw. */
  readonly noteTime?: (ms: number) => void;
  /** Told what its directory made of a listing that came with a payment; must not throw. */
  readonly noteListing?: (listed: Listed) => void;
}

const LISTING_STATUSES = ['success', 'processing', 'rejected'] as const;
/** What the directory of a facilitator says of our listing: header `EXTENSION-RESPONSES` (x402, extension `bazaar`). */
export interface Listed {
  readonly status: (typeof LISTING_STATUSES)[number];
  /** Why it was rejected. */
  readonly reason?: string;
}
const listingAnswer = z.object({
  bazaar: z.object({
    status: z.enum(LISTING_STATUSES),
    rejectedReason: z.unknown().optional(),
  }),
});
const LISTING_CHARS_MAX = 4096;

/** Null for a header that is absent or says nothing of a listing: no payment depends on it. */
function listedBy(header: string | string[] | undefined): Listed | null {
  if (typeof header !== 'string' || header.length > LISTING_CHARS_MAX) return null;
  const answer = parsed(Buffer.from(header, 'base64').toString('utf8'), 0);
  const { data } = listingAnswer.safeParse('json' in answer ? answer.json : null);
  if (data === undefined) return null;
  const { status, rejectedReason } = data.bazaar;
  return status === 'rejected' ? { status, reason: reasonText(rejectedReason) } : { status };
}

/** A facilitator over HTTP, trusted no further than needed; `close` ends its connections. */
export function remoteFacilitator(
  options: RemoteFacilitatorOptions,
): Facilitator & { close(): Promise<void> } {
  const { verifyTimeoutMs = VERIFY_TIMEOUT_MS, settleTimeoutMs = SETTLE_TIMEOUT_MS } = options;
  const call = caller(options);
  const post = (name: 'verify' | 'settle', request: FacilitatorRequest, timeoutMs: number) =>
    call({
      name,
      body: bodyOf(request),
      timeoutMs,
      id: request.trace?.sentId,
      // A check moves no money.
      ...(name === 'settle' ? { isWanted: () => isAwaited(request) } : {}),
    });
  return {
    async verify(request) {
      const answer = await post('verify', request, verifyTimeoutMs);
      return 'detail' in answer ? noVerdict(answer) : verifyOutcome(answer, request);
    },
    async settle(request) {
      const answer = await post('settle', request, settleTimeoutMs);
      return 'detail' in answer ? noVerdict(answer) : settleOutcome(answer, request);
    },
    async supported() {
      const answer = await call({ name: 'supported', timeoutMs: verifyTimeoutMs });
      return 'detail' in answer ? noVerdict(answer) : supportedOutcome(answer);
    },
    close: call.close,
  };
}

/** The body of both calls, without what is not sent. */
function bodyOf({ x402Version, paymentPayload, paymentRequirements }: FacilitatorRequest): Buffer {
  return Buffer.from(JSON.stringify({ x402Version, paymentPayload, paymentRequirements }), 'utf8');
}

interface RemoteCall {
  readonly name: 'verify' | 'settle' | 'supported';
  readonly body?: Buffer;
  /** From the call to the last byte of the answer, waiting for a connection included. */
  readonly timeoutMs: number;
  /** Asked in the instant in which the call would leave; it does not when this is false. */
  readonly isWanted?: () => boolean;
  /** Value of `X-Request-Id`, so that its operator and ours speak of the same call. */
  readonly id?: string | undefined;
}
/** A JSON value with a status below 300 or from 400 to 499. */
interface GivenAnswer {
  readonly json: unknown;
  readonly status: number;
}
/** What came instead of one: `unsent` where no byte of the call left this process. */
type NoJson = Omit<NoVerdict, 'verdict'>;
type JsonAnswer = GivenAnswer | NoJson;

/** Calls one origin over kept connections; never rejects, follows no redirect and decodes no body. */
function caller({ url, auth, noteTime, noteListing }: RemoteFacilitatorOptions) {
  const base = facilitatorUrl(url);
  // Each call has one deadline of its own, so that a body that trickles in cannot last longer.
  const pool = new Pool(base.origin, {
    connections: FACILITATOR_CONNECTIONS_MAX,
    pipelining: 1,
    connect: { timeout: VERIFY_TIMEOUT_MS },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const prefix = base.pathname.replace(/\/$/, '');
  const send = async ({ name, body, id, ...limits }: RemoteCall): Promise<JsonAnswer> => {
    const path = `${prefix}/${name}`;
    const method = body === undefined ? 'GET' : 'POST';
    const asked = { method, url: base.origin + path } as const;
    let made: Readonly<Record<string, string>> | null = {};
    try {
      if (auth !== undefined) made = await inTime(auth(asked), AUTH_TIMEOUT_MS);
    } catch {
      made = null;
    }
    if (made === null) return { ...NO_HEADERS, detail: `/${name}: no auth headers` };
    const named = id === undefined ? [] : ['x-request-id', id];
    const headers = [...Object.entries(made).flat(), ...CALL_HEADERS, ...named];
    const answer = await new Promise<JsonAnswer>((resolve) => {
      // A cache may have kept the headers of the answer to a GET.
      const noted = method === 'POST' ? { noteTime, noteListing } : {};
      const exchange = new JsonExchange({ ...limits, ...noted, resolve });
      try {
        pool.dispatch({ method, path, headers, body: body ?? null }, exchange);
      } catch (error) {
        exchange.fail(stateOf(error));
      }
    });
    return 'detail' in answer ? { ...answer, detail: `/${name}: ${answer.detail}` } : answer;
  };
  return Object.assign(send, { close: () => pool.destroy() });
}

/** Only a module can fail to make headers. */
const NO_HEADERS = { setting: 'SIGNALPRESS_FACILITATOR_AUTH_MODULE', unsent: true } as const;

const CALL_HEADERS: readonly string[] = [
  'content-type',
  'application/json',
  'accept',
  'application/json',
  'accept-encoding',
  'identity',
];

function noVerdict(none: NoJson): NoVerdict {
  return { verdict: 'none', ...none };
}

function strange({ status }: GivenAnswer, call: RemoteCall['name'], what: string): NoVerdict {
  return noVerdict({ detail: `/${call}: status ${status}, ${what}`, status });
}

const CONTRADICTED = 'but says that it succeeded';

/** A yes under a status of failure is no verdict: one of both is wrong. */
function contradicts({ status }: GivenAnswer): boolean {
  return status >= 400;
}

/** One entry that we cannot read must not hide the others. */
function supportedOutcome(answer: GivenAnswer): SupportedOutcome {
  const parsed = supportedAnswer.safeParse(answer.json);
  if (!parsed.success || contradicts(answer))
    return strange(answer, 'supported', 'no list of kinds');
  const kinds = parsed.data.kinds.map((kind) => supportedKind.safeParse(kind).data);
  return { verdict: 'supported', kinds: kinds.filter((kind) => kind !== undefined) };
}

function verifyOutcome(answer: GivenAnswer, request: FacilitatorRequest): ValidityOutcome {
  const parsed = verifyAnswer.safeParse(answer.json);
  if (!parsed.success) return strange(answer, 'verify', 'no boolean "isValid"');
  const { isValid, invalidReason, payer } = parsed.data;
  if (!isValid) return { verdict: 'invalid', reason: reasonText(invalidReason) };
  if (contradicts(answer)) return strange(answer, 'verify', CONTRADICTED);
  if (!isOurs(payer, request)) return noVerdict({ detail: '/verify: names another payer' });
  return { verdict: 'valid' };
}

function settleOutcome(answer: GivenAnswer, request: FacilitatorRequest): SettleOutcome {
  const parsed = settleAnswer.safeParse(answer.json);
  if (!parsed.success) return strange(answer, 'settle', 'no boolean "success"');
  const { success, errorReason, transaction, network, payer } = parsed.data;
  if (!success) {
    const named = transaction ? ({ namesTransaction: true } as const) : {};
    return { verdict: 'refused', reason: reasonText(errorReason), ...named };
  }
  if (contradicts(answer)) return strange(answer, 'settle', CONTRADICTED);
  if (!isOurs(payer, request)) return noVerdict({ detail: '/settle: names another payer' });
  if (network && findNetwork(network) !== findNetwork(request.paymentRequirements.network)) {
    return noVerdict({ detail: '/settle: names another network' });
  }
  if (!transaction || !TRANSACTION.test(transaction)) {
    return noVerdict({ detail: '/settle: names no transaction' });
  }
  return { verdict: 'settled', transaction };
}

function isOurs(payer: string | null | undefined, request: FacilitatorRequest): boolean {
  return !payer || payer.toLowerCase() === authorizationOf(request).from.toLowerCase();
}

/** Reasons are an open set, of other shapes too; control characters of a stranger go no further. */
function reasonText(reason: unknown): string {
  if (typeof reason !== 'string' || reason === '') return 'unspecified';
  return reason.slice(0, REASON_CHARS_MAX).replace(/[^\x20-\x7e]/g, '?');
}

// The rest of undici takes twice as long to load, and nothing of it is needed here.

interface ExchangeOptions extends Pick<RemoteCall, 'timeoutMs' | 'isWanted'> {
  readonly resolve: (answer: JsonAnswer) => void;
  readonly noteTime?: RemoteFacilitatorOptions['noteTime'] | undefined;
  readonly noteListing?: RemoteFacilitatorOptions['noteListing'] | undefined;
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
    if (!Number.isNaN(dateMs)) this.#options.noteTime?.(dateMs);
    const listed = listedBy(headers['extension-responses']);
    if (listed !== null) this.#options.noteListing?.(listed);
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
    if (this.#size > FACILITATOR_BODY_BYTES_MAX) this.fail('body too long');
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
  return codeOf(error) ?? 'connection failed';
}

const MODULE_BYTES_MAX = 16_777_216;

/** Characters that a header may hold without becoming two headers. */
const headersSchema = z.record(
  z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/),
  z.string().regex(/^[\x20-\x7e]*$/),
);
const moduleSchema = z.object({
  authHeaders: z.custom<(call: Parameters<FacilitatorAuth>[0]) => unknown>(
    (value) => typeof value === 'function',
  ),
});

/** The headers that the settings ask for; undefined when they ask for none. */
export async function facilitatorAuth(given: {
  header: string | null;
  module: string | null;
}): Promise<FacilitatorAuth | undefined> {
  const { header, module } = given;
  if (module !== null) return moduleAuth(module);
  if (header === null) return undefined;
  const headers = headerOf(header);
  return async () => headers;
}

async function moduleAuth(path: string): Promise<FacilitatorAuth> {
  let loaded: unknown;
  try {
    // A loader would wait for a pipe for ever.
    readOwnFile(path, MODULE_BYTES_MAX);
    loaded = await import(pathToFileURL(resolve(path)).href);
  } catch (cause) {
    throw new StartError(
      `Cannot load SIGNALPRESS_FACILITATOR_AUTH_MODULE "${path}": it does not load; give a JavaScript module`,
      { cause },
    );
  }
  const parsed = moduleSchema.safeParse(loaded);
  if (!parsed.success) {
    throw new StartError(
      `Cannot use SIGNALPRESS_FACILITATOR_AUTH_MODULE "${path}": no function "authHeaders"; export one`,
    );
  }
  const { authHeaders } = parsed.data;
  return async (call) => headersSchema.parse(await authHeaders(call));
}
