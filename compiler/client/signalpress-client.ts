import {
  type Endpoint,
  type EndpointPath,
  endpointAt,
  findEndpoint,
  type PaidPath,
  type ParamName,
} from '../contract/endpoints.ts';
import { atomicAmount } from '../contract/price.ts';
import { decodeUtf8, type JsonValue, parseJson } from '../contract/strict-json.ts';
import { verifyBody } from '../verify/verify-body.ts';
import { ClientError } from './client-error.ts';
import {
  ANSWER_TIMEOUT_MS,
  deliver,
  type Fetch,
  type PayingFetch,
  PaymentTrip,
  type TripOptions,
  unsettled,
} from './payment-trip.ts';
import type { PendingPayment, Purchase, Receipt } from './purchase.ts';

/** What one call costs at most unless it is told otherwise. */
export const MAX_USD = '0.10';

export interface ClientOptions {
  /** Public address of the service. */
  readonly baseUrl: string;
  /** did:key of the issuer whose signatures are believed; learn it from a source that you trust. */
  readonly issuer: string;
  /** Needed to buy; called with a fetch of ours and the cap of the call in atomic units. */
  readonly pay?: PayingFetch;
  /** Cap of a call in decimal USD; MAX_USD when absent. */
  readonly maxUsd?: string;
  readonly fetch?: Fetch;
  /** Longest wait for one answer in milliseconds; ANSWER_TIMEOUT_MS when absent. */
  readonly timeoutMs?: number;
  readonly wait?: TripOptions['wait'];
  /** Clock in epoch milliseconds: an answer that speaks of a moment to come is refused; that of the system when absent. */
  readonly clock?: () => number;
  readonly onSigned?: TripOptions['onSigned'];
}

type Params<Path extends EndpointPath> = Readonly<
  Partial<Record<ParamName<Path>, string | number | undefined>>
>;
type FreePath = Exclude<EndpointPath, PaidPath>;

/** Calls of one service, typed by its table. */
export interface SignalpressClient {
  /** A free answer as it is, not verified; `token` opens the subscription paths. */
  get<Path extends FreePath>(
    path: Path,
    params?: Params<Path>,
    call?: { readonly token?: string },
  ): Promise<JsonValue>;
  /** Buys, verifies offline and returns; one charge, however often the answer is lost on its way. */
  buy<Path extends PaidPath>(
    path: Path,
    params?: Params<Path>,
    call?: { readonly maxUsd?: string },
  ): Promise<Purchase>;
  /** Sends a payment again that was signed before, by this program or by one that has died. */
  redeliver(payment: PendingPayment): Promise<Purchase>;
}

/** A client of one service; a call that has no result throws a ClientError, a misused one a TypeError. */
export function signalpressClient(options: ClientOptions): SignalpressClient {
  const trip: TripOptions = {
    fetch: options.fetch ?? fetch,
    wait: options.wait ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms))),
    onSigned: options.onSigned ?? (() => undefined),
    timeoutMs: options.timeoutMs ?? ANSWER_TIMEOUT_MS,
  };
  const { baseUrl } = options;
  return {
    get: async (path, params, { token } = {}) =>
      freeAnswer(urlOf(baseUrl, endpointAt(path), params), token, trip),
    async buy(path, params, { maxUsd = options.maxUsd ?? MAX_USD } = {}) {
      const { pay } = options;
      if (pay === undefined) throw new TypeError('Cannot buy: the client has no pay option');
      const url = urlOf(baseUrl, endpointAt(path), params);
      const { response, payment } = await bought(url, pay, new PaymentTrip(atomic(maxUsd), trip));
      return purchase(response, payment, options);
    },
    redeliver: async (payment) => purchase(await deliver(payment, trip), payment, options),
  };
}

function atomic(maxUsd: string): bigint {
  return BigInt(atomicAmount(maxUsd));
}

function urlOf(
  baseUrl: string,
  row: Endpoint,
  params: Readonly<Record<string, string | number | undefined>> = {},
): string {
  if (row.method !== 'GET') throw new TypeError(`Cannot call "${row.path}": not a GET`);
  const given = Object.entries(params).filter(([, value]) => value !== undefined);
  const legal = Object.keys(row.params);
  const unknown = given.find(([name]) => !legal.includes(name))?.[0];
  if (unknown !== undefined) {
    throw new TypeError(`Cannot call "${row.path}": no parameter "${unknown}"; legal are ${legal}`);
  }
  const missing = legal.filter((name) => row.params[name]?.required && params[name] === undefined);
  if (missing.length > 0) throw new TypeError(`Cannot call "${row.path}": ${missing} is missing`);
  let { path } = row;
  const query = new URLSearchParams();
  for (const [name, value] of given) {
    if (path.endsWith(`/:${name}`)) path = path.replace(`:${name}`, encodeURI(String(value)));
    else query.set(name, String(value));
  }
  return `${withoutSlash(baseUrl)}${path}${query.size === 0 ? '' : `?${query}`}`;
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, '');
}

async function freeAnswer(
  url: string,
  token: string | undefined,
  { fetch, timeoutMs }: TripOptions,
): Promise<JsonValue> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  try {
    const request = new Request(url, { headers, signal: AbortSignal.timeout(timeoutMs) });
    const response = await fetch(request);
    const text = decodeUtf8(new Uint8Array(await response.arrayBuffer()));
    if (response.status !== 200) throw refusal(response.status, text, null);
    return parseJson(text);
  } catch (cause) {
    if (cause instanceof ClientError) throw cause;
    const message = `Cannot reach "${url}": no answer that can be read`;
    throw new ClientError(message, { code: 'failed', cause });
  }
}

interface Bought {
  readonly response: Response;
  readonly payment: PendingPayment | null;
}

async function bought(url: string, pay: PayingFetch, trip: PaymentTrip): Promise<Bought> {
  try {
    const response = await pay(trip.fetch, trip.maxAtomic)(url);
    return { response, payment: trip.payment };
  } catch (cause) {
    if (trip.trouble !== null) throw trip.trouble;
    if (trip.payment !== null)
      throw unsettled(trip.payment, 'the payer failed after it had signed', { cause });
    if (trip.challenge === null) {
      throw new ClientError(`Cannot reach "${url}": nothing was signed`, { code: 'failed', cause });
    }
    const { client_hint: clientHint } = trip.challenge;
    const how = clientHint?.how_to === undefined ? '' : `; ${clientHint.how_to}`;
    throw new ClientError(`Cannot pay for "${url}": the payer refused${how}`, {
      code: 'refused',
      cause,
      answer: trip.challenge,
      clientHint,
    });
  }
}

async function purchase(
  response: Response,
  payment: PendingPayment | null,
  { issuer, baseUrl, clock = Date.now }: ClientOptions,
): Promise<Purchase> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (response.status !== 200 || payment === null) {
    throw refusal(response.status, new TextDecoder().decode(bytes), payment);
  }
  const receipt = receiptOf(response.headers);
  const asked = askedOf(payment.url, baseUrl);
  const text = textOf(bytes, payment);
  // What was asked for decides, not what the service calls its answer.
  if (isTable(asked)) return { body: null, text, report: null, receipt, payment };
  const body = bodyOf(text, payment);
  const report = verifyBody(body, { trust: [issuer], now: clock() });
  const made = { body, text, report, receipt, payment };
  const holds =
    report.verdict === 'verified' || (report.verdict === 'unsigned' && !isSealed(asked));
  const wrong = holds ? otherSubject(body, asked) : report.verdict;
  if (wrong === null) return made;
  const failed = report.checks.find((check) => check.status === 'fail')?.detail ?? wrong;
  const message = `Cannot rely on "${payment.url}": ${failed}; keep the purchase of this error as evidence`;
  throw new ClientError(message, { code: 'unverified', purchase: made, payment });
}

/** What a purchase is of: the row of the table and its parameters. */
interface Asked {
  readonly row: Endpoint | undefined;
  readonly values: URLSearchParams;
}

function askedOf(url: string, baseUrl: string): Asked {
  const { pathname, searchParams } = new URL(url);
  const path = pathname.slice(withoutSlash(new URL(baseUrl).pathname).length);
  return { row: findEndpoint(path), values: searchParams };
}

function textOf(bytes: Uint8Array, payment: PendingPayment): string {
  try {
    return decodeUtf8(bytes);
  } catch (cause) {
    throw unreadable(payment, 'not UTF-8', cause);
  }
}

function bodyOf(text: string, payment: PendingPayment): JsonValue {
  try {
    return parseJson(text);
  } catch (cause) {
    throw unreadable(payment, 'not strict JSON', cause);
  }
}

function unreadable(payment: PendingPayment, state: string, cause: unknown): ClientError {
  const message = `Cannot read what "${payment.url}" sold: ${state}; redeliver the payment of this error`;
  return new ClientError(message, { code: 'unverified', payment, cause });
}

/** A series as CSV carries no signature. */
function isTable({ row, values }: Asked): boolean {
  return row?.answer === 'series' && values.get('format') === 'csv';
}

/** A token is made at the request by a service that holds no signing key. */
function isSealed({ row }: Asked): boolean {
  return row?.answer !== 'mint';
}

/** The member of a body that says what it is about, by the parameter that asks for it. */
const SUBJECTS: Readonly<Record<string, string>> = {
  signal_id: 'signal_id',
  entity: 'entity',
  loc: 'location',
  service: 'service_id',
  name: 'server_id',
  symbol: 'symbol',
  topic: 'topic',
};

/** A genuine record of something else is not what was paid for. */
function otherSubject(body: JsonValue, { values }: Asked): string | null {
  for (const [param, member] of Object.entries(SUBJECTS)) {
    const want = values.get(param)?.toLowerCase();
    // A stored text names what it was asked for in one member.
    const got = memberOf(body, member) ?? memberOf(memberOf(body, 'params'), param);
    if (want === undefined || String(got).toLowerCase() === want) continue;
    return got === undefined
      ? `the body names no ${member}`
      : `the body is about ${member} "${got}"`;
  }
  return null;
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return new Map(Object.entries<JsonValue>(value)).get(name);
}

/** Null as well when it cannot be read: what was bought is there all the same. */
function receiptOf(headers: Headers): Receipt | null {
  const value = headers.get('x-payment-response') ?? headers.get('payment-response');
  try {
    return value === null ? null : (JSON.parse(atob(value)) as Receipt);
  } catch {
    return null;
  }
}

/** The error of an answer that is not what was asked for. */
function refusal(status: number, text: string, payment: PendingPayment | null): ClientError {
  const answer = answerOf(text);
  const said = typeof answer.error === 'string' ? answer.error : `status ${status}`;
  const code = status === 402 ? 'refused' : status >= 500 ? 'failed' : 'not_charged';
  const facts = { code, status, answer, clientHint: answer.client_hint } as const;
  return new ClientError(said, payment === null ? facts : { ...facts, payment });
}

function answerOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
