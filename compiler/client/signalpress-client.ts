import { z } from 'zod';
import type { Catalog } from '../catalog/catalog.ts';
import { answerBytes } from '../format/answer-bytes.ts';
import { parseDidKey } from '../format/did-key.ts';
import { defined } from '../format/errors.ts';
import { networkFault } from '../format/network-fault.ts';
import { decodeUtf8, type JsonObject, type JsonValue, parseJson } from '../format/strict-json.ts';
import { atomicAmount, usdAmount } from '../products/shapes/price.ts';
import { type Endpoint, takenParams } from '../products/shapes/product.ts';
import { type WatchRow, watchSchema } from '../products/shapes/watch-bodies.ts';
import { questionOf } from '../verify/answer-fault.ts';
import { type PayingAccount, wallet } from './account-wallet.ts';
import { type SigningAccount, signInFor } from './buyer-proof.ts';
import { type CatalogSource, catalogOfService, fixedCatalog } from './catalog-source.ts';
import {
  ClientError,
  type PaymentReceipt,
  type PendingPayment,
  type PurchasedBody,
} from './client-error.ts';
import {
  type AskedTarget,
  judgePurchase,
  type PaidAnswer,
  type WitnessedTrust,
} from './judge-purchase.ts';
import type { CallParams, Found, FreePath, SoldBody, SoldPath } from './offers.ts';
import {
  ANSWER_TIMEOUT_MS,
  Budget,
  type CallOptions,
  challengeSchema,
  deliver,
  type Fetch,
  lowestAtomic,
  type PayingFetch,
  PaymentTrip,
  RETRIES,
  type TripOptions,
  timeLimit,
  unread,
  unsettled,
} from './payment-trip.ts';
import { knownTrust, type Verification, verifyText } from './verify.ts';

/** The most that one call may cost, unless the caller sets a cap. */
export const MAX_USD = '0.10';

export interface ClientOptions {
  /** Public address of the service. */
  readonly baseUrl: string;
  /** did:key of the issuer whose signatures are trusted; get it from a source that you trust. */
  readonly issuer?: string;
  /**
   * The parsed `/.well-known/keys.json` of the issuer: after a change of keys, which ones follow the trusted one, and which
   * were revoked. Without it no body of a new key is accepted.
   */
  readonly keys?: unknown;
  /**
   * In place of both: the text of a `signalpress.trust`. Witnesses that it demands sign some moments after a release is
   * published; what is bought in between is refused, with the purchase as evidence.
   */
  readonly trust?: string | Uint8Array;
  /**
   * Where the service does not sell by the built-in catalogue: `served` asks it for its own, which the issuer must have
   * signed; or the bytes of a `catalog.json` that you trust.
   */
  readonly catalog?: 'served' | Uint8Array;
  /**
   * Whether a purchase without the proof that it is in the log is refused, as by default; a request with `proof=0` is not. For
   * `verify` as there.
   */
  readonly demandsProof?: boolean | undefined;
  /** Pays in place of `account`: called with a fetch of ours and the cap of the call in atomic units. */
  readonly pay?: PayingFetch | undefined;
  /**
   * The account that pays, as those of viem. It also signs in by itself where a service wants to see who paid: when a payment
   * was kept without its identifier, after 10 minutes or from another address.
   */
  readonly account?: SigningAccount | undefined;
  /** Cap of a call in decimal USD; MAX_USD when absent. */
  readonly maxUsd?: string | undefined;
  /** What this client may sign in its life, in decimal USD; a payment that is unsettled counts. Without a limit when absent. */
  readonly maxTotalUsd?: string | undefined;
  /** Networks on which money may move, each by every name that the wallet uses: `['base', 'eip155:8453']`; any when absent. */
  readonly networks?: readonly string[];
  readonly fetch?: Fetch;
  /** Longest wait for one answer in milliseconds; ANSWER_TIMEOUT_MS when absent. */
  readonly timeoutMs?: number;
  readonly wait?: (ms: number) => Promise<void>;
  /** Clock in epoch milliseconds, by default the system's; an answer about a future moment is refused. */
  readonly clock?: () => number;
  /** Told before a payment is sent, so that a program that dies in between can redeliver it. */
  readonly onSigned?: (payment: PendingPayment) => void | Promise<void>;
}

/** Calls of one service, typed by its table. */
export interface SignalpressClient {
  /** A free answer as it is, not verified; `token` opens the subscription paths. */
  get<Path extends FreePath>(
    path: Path,
    params?: CallParams<Path>,
    call?: { readonly token?: string },
  ): Promise<JsonValue>;
  /**
   * Buys, verifies offline and returns; one charge, however often the answer is lost on its way. Takes a path with its
   * parameters, a `path?query`, or what a search found.
   */
  buy<Path extends SoldPath>(
    request: `${Path}?${string}`,
    call?: CallOptions,
  ): Promise<PurchasedBody<SoldBody<Path>>>;
  buy(found: Found, call?: CallOptions): Promise<PurchasedBody>;
  buy<Path extends SoldPath>(
    path: Path,
    params?: CallParams<Path>,
    call?: CallOptions,
  ): Promise<PurchasedBody<SoldBody<Path>>>;
  /**
   * Searches, and buys the best result where it leaves none of the words open; else throws `not_charged`, with the results
   * in `facts.answer`. `found` says what was bought.
   */
  ask(words: string, call?: CallOptions): Promise<PurchasedBody & { readonly found: Found }>;
  /**
   * Buys up to 30 requests, each a `path?query`, with one payment. What cannot be sold is named in the body and not
   * charged; throws where nothing can.
   */
  buyBasket(requests: readonly string[], call?: CallOptions): Promise<PurchasedBody>;
  /** Sends a payment again that was signed before, by this program or by one that has died. */
  redeliver(payment: PendingPayment, call?: Omit<CallOptions, 'maxUsd'>): Promise<PurchasedBody>;
  /** What fits some words, best first, each with its price and the request that buys it; `limit` is 1 to 20. */
  search(words: string, limit?: number): Promise<readonly Found[]>;
  /** What a purchase would cost, of whatever `buy` takes; nothing is signed. Throws where nothing is for sale. */
  quote(request: `${SoldPath}?${string}` | Found): Promise<Quote>;
  quote<Path extends SoldPath>(path: Path, params?: CallParams<Path>): Promise<Quote>;
  /** Judges what was saved, offline, for the issuer and by the catalogue of this client. */
  verify(saved: string | Uint8Array): Promise<Verification>;
  /** Readings of up to 30 items `line:entity`, and then each that changes. */
  watch(items: readonly string[], options: WatchOptions): AsyncGenerator<WatchedReading>;
}

export interface Quote {
  readonly url: string;
  /** The lowest of the prices, decimal. */
  readonly priceUsd: string;
  /** The ways to pay of x402 version 1, as the service names them. */
  readonly accepts: readonly JsonObject[];
}

/** A client of one service; a call that has no result throws a ClientError, a misused one a TypeError. */
export function signalpressClient(options: ClientOptions): SignalpressClient {
  const { baseUrl, account, clock = Date.now } = options;
  const targetIn = (url: string) => {
    const [asked, base] = [new URL(url), new URL(baseUrl)];
    const root = withoutSlash(base.pathname);
    const isOwn = asked.origin === base.origin && asked.pathname.startsWith(`${root}/`);
    return isOwn ? asked.pathname.slice(root.length) + asked.search : null;
  };
  const known = () => source.known();
  const trip = tripOfOptions(options, (payment) =>
    signInFor(payment, { account, targetIn, known, clock }),
  );
  const trusted = trustOf(options);
  const source = catalogSource({ ...options, trusted }, trip);
  const { forSale, newest } = source;
  const { demandsProof = true } = options;
  const judge = (url: string, paid: PaidAnswer, by: Pick<AskedTarget, 'catalog' | 'isSoldNow'>) =>
    judgePurchase(paid, { ...by, demandsProof, trusted, target: targetIn(url), now: clock() });
  const purchase = async (asked: Asked, catalog: Catalog, call: CallOptions) => {
    const { url } = asked;
    const { maxUsd = options.maxUsd ?? MAX_USD } = call;
    const own = new PaymentTrip(BigInt(atomicAmount(maxUsd)), tripOf(trip, call));
    const paid = await paidAnswer(
      await bought(asked, payOf(options), own).finally(() => own.end()),
    );
    if (newest === null) return judge(url, paid, { catalog, isSoldNow: false });
    const judgeNow = (now: Catalog) => judge(url, paid, { catalog: now, isSoldNow: true });
    return judgedByServed(judgeNow, { catalog, newest });
  };
  const buyOffer = async (offer: string | Found, params: UrlParams, call: CallOptions) => {
    payOf(options);
    const catalog = await forSale();
    const url = offerUrl(baseUrl, catalog, { offer, params });
    const target = targetIn(url);
    const question = target === null ? null : questionOf(target, catalog);
    if (question?.isFact === true) {
      throw new TypeError(
        `Cannot buy "${url}": nobody signs a fact; leave out format=fact, or call buyFact()`,
      );
    }
    if (question === null) {
      // Asks without paying, since no answer could be judged: the service says what is wrong, or knows more than our catalogue.
      await freeAnswer(url, undefined, tripOf(trip, call)).catch((error: unknown) => {
        if (!(error instanceof ClientError) || error.facts.status !== 402) throw error;
      });
      throw new ClientError(
        `Cannot buy "${url}": the catalogue of this client does not have it, so the answer could not be judged; ` +
          "nothing was signed. Pass catalog: 'served' if the service has one of its own; a new client reads it again",
        { code: 'refused' },
      );
    }
    return purchase({ url }, catalog, call);
  };
  const { answerTo, ...free } = freeCalls({ ...options, trusted }, trip, source);
  return {
    ...free,
    buy(offer: string | Found, second: UrlParams | CallOptions = {}, call: CallOptions = {}) {
      return isWhole(offer)
        ? buyOffer(offer, {}, second as CallOptions)
        : buyOffer(offer, second as UrlParams, call);
    },
    async ask(words, call = {}) {
      payOf(options);
      const found = bestFound(words, await answerTo(words, { call }));
      return { ...(await buyOffer(found, {}, call)), found };
    },
    async buyBasket(requests, call = {}) {
      const catalog = await forSale();
      const { path } = operationAt('/gauge/basket', catalog);
      const body = JSON.stringify({ requests });
      return purchase({ url: withoutSlash(baseUrl) + path, body }, catalog, call);
    },
    async redeliver(payment, call = {}) {
      if (targetIn(payment.url) === null) {
        throw new TypeError(`Cannot redeliver "${payment.url}": not a URL under ${baseUrl}`);
      }
      // Known before anything is delivered, so that what comes can be judged.
      const catalog = await known();
      const paid = await paidAnswer({
        response: await deliver(payment, tripOf(trip, call)),
        payment,
      });
      return judge(payment.url, paid, { catalog, isSoldNow: false });
    },
  };
}

/** How each call of this client travels, if the call says nothing else. */
function tripOfOptions(options: ClientOptions, signIn: TripOptions['signIn']): TripOptions {
  const { fetch: send = fetch, maxTotalUsd, clock = Date.now } = options;
  return {
    // That of a browser refuses to be called as a method of anything.
    fetch: (input, init) => send(input, init),
    wait: options.wait ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms))),
    onSigned: options.onSigned ?? (() => undefined),
    timeoutMs: options.timeoutMs ?? ANSWER_TIMEOUT_MS,
    retries: RETRIES,
    signal: undefined,
    budget: new Budget(maxTotalUsd === undefined ? null : BigInt(atomicAmount(maxTotalUsd))),
    networks: options.networks ?? null,
    clock,
    signIn,
  };
}

function payOf({ pay, account, networks, clock = Date.now }: ClientOptions): PayingFetch {
  if (pay !== undefined) return pay;
  if (account === undefined || !isPaying(account)) {
    throw new TypeError('Cannot buy: the client has no account that signs, and no pay option');
  }
  return wallet({ account, networks: networks ?? null, now: clock });
}

function isPaying(account: SigningAccount): account is PayingAccount {
  return account.signTypedData !== undefined;
}

function freeCalls(
  { baseUrl, trusted, demandsProof, clock = Date.now }: TrustingOptions,
  trip: TripOptions,
  { known }: CatalogSource,
): Omit<SignalpressClient, 'buy' | 'ask' | 'buyBasket' | 'redeliver'> & {
  answerTo(words: string, more: SearchTerms): Promise<SearchAnswer>;
} {
  const urlAt = async (path: string, params?: UrlParams): Promise<string> =>
    urlOf(baseUrl, operationAt(path, await known()), params);
  const get = async (path: string, params?: UrlParams, token?: string): Promise<JsonValue> =>
    freeAnswer(await urlAt(path, params), token, trip);
  const answerTo = async (
    words: string,
    { limit, call = {} }: SearchTerms,
  ): Promise<SearchAnswer> => {
    const url = await urlAt('/gauge/search', { q: words, limit });
    const answer = await freeAnswer(url, undefined, tripOf(trip, call));
    const { success, data } = searchAnswerSchema.safeParse(answer);
    if (success) return data;
    throw new ClientError('Cannot search: the answer has no results', { code: 'failed', answer });
  };
  return {
    get: (path, params, { token } = {}) => get(path, params, token),
    answerTo,
    search: async (words, limit) => (await answerTo(words, { limit })).results,
    quote: async (offer: string | Found, params: UrlParams = {}) => {
      // What a challenge asks for; whatever else is answered has no price.
      const url = offerUrl(baseUrl, await known(), { offer, params });
      const asked = await freeAnswer(url, undefined, trip).catch((error: unknown) => error);
      if (!(asked instanceof ClientError)) throw refusal(200, '', null);
      if (asked.facts.status !== 402) throw asked;
      const { answer } = asked.facts;
      const { success, data } = challengeSchema.safeParse(answer);
      if (!success)
        throw new ClientError('Cannot quote: no price in it', { code: 'failed', answer });
      const accepts = data.accepts as readonly JsonObject[];
      return { url, priceUsd: usdAmount(String(lowestAtomic(data))), accepts };
    },
    async verify(saved) {
      const trust = { ...trusted, catalog: await known(), now: clock() };
      return verifyText(saved, trust, { demandsProof });
    },
    watch(items, watching) {
      requireInterval(watching.everyMs);
      const look = () => get('/gauge/watch', { items: items.join(',') }, watching.token);
      return watchReadings({ look, wait: trip.wait }, watching);
    },
  };
}

function catalogSource(
  { catalog, baseUrl, trusted, clock = Date.now }: TrustingOptions,
  { fetch, timeoutMs }: TripOptions,
): CatalogSource {
  if (catalog !== 'served') return fixedCatalog(catalog);
  return catalogOfService({ root: withoutSlash(baseUrl), trusted, fetch, timeoutMs }, clock);
}

/** What is sold now agrees with the catalogue of now, which may have changed since this client asked for it. */
async function judgedByServed(
  judge: (catalog: Catalog) => PurchasedBody,
  { catalog, newest }: { readonly catalog: Catalog; readonly newest: () => Promise<Catalog> },
): Promise<PurchasedBody> {
  try {
    return judge(catalog);
  } catch (error) {
    if (!(error instanceof ClientError) || error.facts.purchase?.report == null) throw error;
    const now = await newest().catch(() => null);
    if (now === null) throw error;
    return judge(now);
  }
}

const tripOf = (trip: TripOptions, { timeoutMs, retries, signal }: CallOptions): TripOptions => ({
  ...trip,
  timeoutMs: timeoutMs ?? trip.timeoutMs,
  retries: retries ?? trip.retries,
  signal,
});

const searchAnswerSchema = z.looseObject({
  results: z.array(
    z.looseObject({
      id: z.string(),
      title: z.string(),
      answers: z.string(),
      price_usd: z.string().nullable(),
      request: z.string(),
      open: z.array(z.string()).exactOptional(),
    }),
  ),
  note: z.string().exactOptional(),
  hint: z.string().exactOptional(),
});
interface SearchTerms {
  readonly limit?: number | undefined;
  readonly call?: CallOptions;
}

type SearchAnswer = z.infer<typeof searchAnswerSchema>;

/** The best result, where it answers all that was asked; else says what is open, so that nobody pays for another subject. */
function bestFound(words: string, answer: SearchAnswer): Found {
  const { results, note, hint } = answer;
  const [best] = results;
  if (best !== undefined && note === undefined && (best.open ?? []).length === 0) return best;
  const open = best?.open?.map((word) => `"${word}"`).join(', ');
  const why =
    note ?? (best === undefined ? (hint ?? 'nothing was found') : `it leaves ${open} open`);
  const list = results.map(({ title, request }) => `${title}: ${request}`).join('; ');
  const choice = list === '' ? '' : `. Buy one of these results if it is what you want: ${list}`;
  throw new ClientError(`Cannot buy an answer to "${words}": ${why}; nothing was signed${choice}`, {
    code: 'not_charged',
    answer,
  });
}

/** Whether an offer has its parameters in it. */
function isWhole(offer: string | Found): boolean {
  return typeof offer !== 'string' || offer.includes('?');
}

interface AskedOffer {
  readonly offer: string | Found;
  readonly params: UrlParams;
}

function offerUrl(baseUrl: string, catalog: Catalog, { offer, params }: AskedOffer): string {
  if (typeof offer === 'string' && !isWhole(offer)) {
    return urlOf(baseUrl, operationAt(offer, catalog), params);
  }
  const request = typeof offer === 'string' ? offer : offer.request.replace(/^GET /, '');
  if (request.startsWith('/')) return withoutSlash(baseUrl) + request;
  throw new TypeError(`Cannot ask for "${request}": not a path?query of the service`);
}

function operationAt(path: string, { operationByPath }: Catalog): Endpoint {
  const operation = operationByPath.get(path);
  if (operation !== undefined) return operation;
  throw new RangeError(
    `Cannot call "${path}": not in the catalogue; pass catalog: 'served' if the service has one of its own`,
  );
}

interface TrustingOptions extends ClientOptions {
  readonly trusted: WitnessedTrust;
}

/** Without an issuer every body would be refused after it was paid. */
function trustOf(options: ClientOptions): WitnessedTrust {
  if (options.trust === undefined) {
    try {
      parseDidKey(defined(options.issuer, 'issuer'));
    } catch (cause) {
      const message =
        'Cannot make a client: "issuer" is not a did:key; pass the DID of the issuer, from a source that you trust, or a trust file';
      throw new TypeError(message, { cause });
    }
  }
  return knownTrust(options);
}

type UrlParams = Readonly<Record<string, string | number | undefined>>;

function urlOf(baseUrl: string, row: Endpoint, params: UrlParams = {}): string {
  if (row.method !== 'GET') throw new TypeError(`Cannot call "${row.path}": not a GET`);
  const given = Object.entries(params).filter(([, value]) => value !== undefined);
  const legal = Object.keys(takenParams(row));
  const unknown = given.find(([name]) => !legal.includes(name))?.[0];
  if (unknown !== undefined) {
    throw new TypeError(
      `Cannot call "${row.path}": unknown parameter "${unknown}"; legal parameters: ${legal}`,
    );
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
  trip: TripOptions,
): Promise<JsonValue> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  try {
    const response = await trip.fetch(new Request(url, { headers, signal: timeLimit(trip) }));
    const text = decodeUtf8(await answerBytes(response).catch(unread(url)));
    if (response.status !== 200) throw refusal(response.status, text, null);
    return parseJson(text);
  } catch (cause) {
    if (cause instanceof ClientError) throw cause;
    const message = `Cannot reach "${url}": ${networkFault(cause)?.words ?? 'no readable answer'}`;
    throw new ClientError(message, { code: 'failed', cause });
  }
}

interface Asked {
  readonly url: string;
  readonly body?: string;
}

async function bought({ url, body }: Asked, pay: PayingFetch, trip: PaymentTrip) {
  try {
    const paying = pay(trip.fetch, trip.payable);
    const response = await (body === undefined
      ? paying(url)
      : paying(url, { method: 'POST', body }));
    return { response, payment: trip.payment };
  } catch (cause) {
    if (trip.failure !== null) throw trip.failure;
    if (trip.payment !== null)
      throw unsettled(trip.payment, 'the payer failed after it signed', { cause });
    if (cause instanceof ClientError) throw cause;
    if (trip.challenge === null) {
      const why = networkFault(cause)?.words ?? 'no readable answer';
      const message = `Cannot reach "${url}": ${why}; nothing was signed`;
      throw new ClientError(message, { code: 'failed', cause });
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

async function paidAnswer({
  response,
  payment,
}: Awaited<ReturnType<typeof bought>>): Promise<PaidAnswer> {
  const bytes = await answerBytes(response);
  if (response.status !== 200 || payment === null) {
    throw refusal(response.status, new TextDecoder().decode(bytes), payment);
  }
  const { headers } = response;
  return { bytes, receipt: receiptOf(headers), header: headers.get('payment-response'), payment };
}

/** Null as well when it cannot be read: what was bought is there all the same. */
function receiptOf(headers: Headers): PaymentReceipt | null {
  const value = headers.get('x-payment-response') ?? headers.get('payment-response');
  try {
    return value === null ? null : (JSON.parse(atob(value)) as PaymentReceipt);
  } catch {
    return null;
  }
}

/** A 200 that nobody paid for: some signals are free. */
const FREE = 'Cannot buy what is free: it was answered, and nothing was signed. Use get()';

/** The error of an answer that is not what was asked for. */
function refusal(status: number, text: string, payment: PendingPayment | null): ClientError {
  const answer = answerOf(text);
  const said = typeof answer.error === 'string' ? answer.error : `status ${status}`;
  const message = status === 200 ? FREE : said;
  const code = status === 402 ? 'refused' : status >= 500 ? 'failed' : 'not_charged';
  const facts = { code, status, answer, clientHint: answer.client_hint } as const;
  return new ClientError(message, payment === null ? facts : { ...facts, payment });
}

function answerOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** A reading of a watchlist. Nobody signed it: buy the record of its hash before you rely on it. */
export interface WatchedReading {
  /** As it was asked for, `line:entity`. */
  readonly item: string;
  readonly row: WatchRow;
}

export interface WatchOptions {
  /** Bought at `/gauge/subscribe`. */
  readonly token: string;
  /** Milliseconds between two looks, WATCH_MS when absent; at least 1000. */
  readonly everyMs?: number;
  /** Ends the iteration before the next look. */
  readonly signal?: AbortSignal;
}

const WATCH_MS = 60_000;
const WATCH_MS_MIN = 1000;
/** Looks in a row that fail before the iteration does. */
const FAILURES_MAX = 5;

/**
 * Each reading of a watchlist, then each one whose hash changes: new ones and corrected ones. A service that is not
 * reached is asked again; after five times the error of the last one is thrown.
 * @internal
 */
export async function* watchReadings(
  { look, wait }: { look(): Promise<JsonValue>; wait(ms: number): Promise<void> },
  { everyMs = WATCH_MS, signal }: WatchOptions,
): AsyncGenerator<WatchedReading, void, undefined> {
  let known: Readings = new Map();
  let failures = 0;
  while (signal?.aborted !== true) {
    const seen = await look().then(readingsOf).catch(passing);
    failures = seen instanceof ClientError ? failures + 1 : 0;
    if (seen instanceof ClientError) {
      if (failures === FAILURES_MAX) throw seen;
    } else {
      const isNew = ([key, { row }]: readonly [string, WatchedReading]): boolean =>
        known.get(key)?.row.record_hash !== row.record_hash;
      yield* [...seen].filter(isNew).map(([, reading]) => reading);
      known = seen;
    }
    await wait(everyMs);
  }
}

/** Refused at once, not when the first reading is asked for. @internal */
export function requireInterval(everyMs = WATCH_MS): void {
  if (everyMs >= WATCH_MS_MIN) return;
  throw new RangeError(`Cannot watch every ${everyMs} ms: at least ${WATCH_MS_MIN}`);
}

type Readings = ReadonlyMap<string, WatchedReading>;

/** An error that may be over at the next look; throws any other. */
function passing(error: unknown): ClientError {
  if (!(error instanceof ClientError)) throw error;
  if (error.code === 'failed' || error.facts.status === 429) return error;
  throw error;
}

/** Only what is there now is kept, so that the memory is that of one answer. */
function readingsOf(answer: JsonValue): Readings {
  const body: z.infer<typeof watchSchema> = watchSchema.parse(answer);
  const readings = body.items.flatMap(({ item, rows }) => rows.map((row) => ({ item, row })));
  return new Map(
    readings.map((reading) => [JSON.stringify([reading.item, reading.row.signal_id]), reading]),
  );
}
