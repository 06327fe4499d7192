import { z } from 'zod';
import { arrived, LongAnswerError } from '../format/answer-bytes.ts';
import { isoTime } from '../format/iso-time.ts';
import { networkFault } from '../format/network-fault.ts';
import { basketQuoteSchema } from '../products/shapes/basket.ts';
import { usdAmount } from '../products/shapes/price.ts';
import { wholeSecond } from '../products/shapes/request-time.ts';
import { CLOCK_SKEW_MS } from '../verify/request-time.ts';
import { named, newIdentifier, type SignIn } from './buyer-proof.ts';
import type { PendingPayment } from './client-error.ts';
import { ClientError } from './client-error.ts';

export type Fetch = typeof fetch;

/**
 * Turns a fetch that does not pay into one that does, for example `(fetch, max) => wrapFetchWithPayment(fetch, wallet,
 * max)`.
 */
export type PayingFetch = (fetch: Fetch, maxAtomic: bigint) => Fetch;

/** What one call may set for itself. */
export interface CallOptions {
  /** Cap of this call in decimal USD. */
  readonly maxUsd?: string | undefined;
  /** Gives up: before a payment is sent nothing moves, after that the error has the payment to redeliver. */
  readonly signal?: AbortSignal | undefined;
  /** Longest wait for one answer in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** How often the same payment is sent again; RETRIES when absent. */
  readonly retries?: number | undefined;
}

export interface TripOptions {
  readonly fetch: Fetch;
  readonly wait: (ms: number) => Promise<void>;
  /** Told before a payment is sent, so that a program that dies in between can redeliver it. */
  readonly onSigned: (payment: PendingPayment) => void | Promise<void>;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly signal: AbortSignal | undefined;
  readonly budget: Budget;
  /** Names of the networks on which money may move; null for any. */
  readonly networks: readonly string[] | null;
  /** Clock of the buyer, epoch milliseconds. */
  readonly clock: () => number;
  /** How the account that paid shows it; null where it cannot. */
  readonly signIn: (payment: PendingPayment) => SignIn | null;
}

/** How often the same payment is sent again before a call gives up. */
export const RETRIES = 5;
/** Longest wait between two deliveries, whatever the service asks for. */
const WAIT_MS_MAX = 10_000;
const WAIT_MS = 500;
/** A settlement takes up to a minute. */
export const ANSWER_TIMEOUT_MS = 90_000;

/**
 * What a client may sign in its life. A price is set apart before it is signed, so that two purchases at once keep to the sum
 * too. What was signed stays spent: a service that says "refused" can still settle it.
 */
export class Budget {
  readonly #maxAtomic: bigint | null;
  #spent = 0n;

  constructor(maxAtomic: bigint | null) {
    this.#maxAtomic = maxAtomic;
  }

  /** Sets an amount apart; throws where the rest is less. */
  take(amount: bigint, challenge: ChallengeBody): void {
    const max = this.#maxAtomic;
    if (max !== null && this.#spent + amount > max) {
      const [price, spent, all] = [amount, this.#spent, max].map((one) => usdAmount(String(one)));
      const message = `Cannot buy for ${price} USD: ${spent} of maxTotalUsd ${all} are spent, paid or unsettled; nothing was signed`;
      throw new ClientError(message, { code: 'too_expensive', answer: challenge });
    }
    this.#spent += amount;
  }

  /** The lower of a cap and of what is left. */
  within(cap: bigint): bigint {
    const left = this.#maxAtomic === null ? cap : this.#maxAtomic - this.#spent;
    return left < cap ? left : cap;
  }

  giveBack(amount: bigint): void {
    this.#spent -= amount;
  }
}

/** One purchase on its way through a wrapped fetch: it sees the price before it is signed, and keeps what was signed. */
export class PaymentTrip {
  /** What the service asked for, once it did. */
  challenge: ChallengeBody | null = null;
  payment: PendingPayment | null = null;
  /** What this trip threw into the wrapped fetch, which may have thrown something else in its place. */
  failure: ClientError | null = null;
  readonly #options: TripOptions;
  readonly #identifier = newIdentifier();
  /** Set apart for what the wallet may sign now. */
  #reserved = 0n;
  readonly maxAtomic: bigint;

  constructor(maxAtomic: bigint, options: TripOptions) {
    this.#options = options;
    this.maxAtomic = maxAtomic;
  }

  readonly fetch: Fetch = async (input, init) => {
    const request = new Request(input, init);
    const payment = await paymentOf(request);
    try {
      return payment === null ? await this.#ask(request) : await this.#pay(payment);
    } catch (error) {
      if (error instanceof ClientError) this.failure = error;
      throw error;
    }
  };

  /** The most that the wallet may sign. */
  get payable(): bigint {
    return this.#options.budget.within(this.maxAtomic);
  }

  /** To be called when the wallet is done: what it did not sign can be spent again. */
  end(): void {
    this.#options.budget.giveBack(this.#reserved);
    this.#reserved = 0n;
  }

  async #ask(request: Request): Promise<Response> {
    const { fetch } = this.#options;
    const signal = AbortSignal.any([request.signal, timeLimit(this.#options)]);
    // A signed payment must go only here, so a redirect fails before anything is signed.
    const asked = new Request(request, { signal, redirect: 'error' });
    const response = await arrived(await fetch(asked)).catch(unread(request.url));
    if (response.status !== 402) return response;
    const challenge = challengeSchema.parse(await response.clone().json());
    this.challenge = challenge;
    const lowest = lowestAtomic(challenge);
    if (lowest > this.maxAtomic) throw tooExpensive(lowest, this.maxAtomic, challenge);
    if (request.method === 'POST' && challenge.basket === undefined) throw unquoted(challenge);
    const old = staleness(challenge, response.headers.get('date'), this.#options.clock());
    if (old !== null) throw refusedStale(old, challenge);
    this.end();
    const most = amountsOf(challenge).reduce(
      (most, amount) => (amount > most && amount <= this.maxAtomic ? amount : most),
      lowest,
    );
    this.#options.budget.take(most, challenge);
    this.#reserved = most;
    return response;
  }

  /** Never sends more than the cap, whatever the challenge asked for. */
  async #pay(payment: PendingPayment): Promise<Response> {
    const { amount, network } = signedTransfer(payment.value);
    if (amount > this.#reserved) throw tooExpensive(amount, this.#reserved, this.challenge);
    const { networks, signal } = this.#options;
    if (signal?.aborted) throw abandoned(payment.url, signal.reason);
    if (networks !== null && !networks.includes(network)) throw elsewhere(network, networks);
    const { basket, release } = this.challenge ?? {};
    const sentAt = isoTime(wholeSecond(this.#options.clock()));
    const pending = {
      ...named(payment, this.#identifier),
      sentAt,
      ...(release === undefined
        ? {}
        : { release: { sequence: release.sequence, as_of: release.as_of } }),
      ...(basket === undefined ? {} : { quoted: basket.parts }),
    };
    await this.#tell(pending);
    this.payment = pending;
    this.#reserved -= amount;
    return deliver(pending, this.#options);
  }

  /** A payment that could not be kept is not sent. */
  async #tell(payment: PendingPayment): Promise<void> {
    try {
      await this.#options.onSigned(payment);
    } catch (cause) {
      const message = `Cannot pay for "${payment.url}": onSigned failed, so nothing was sent`;
      throw new ClientError(message, { code: 'refused', cause });
    }
  }
}

/** The 402 body as far as it is looked at; it names a price. */
export const challengeSchema = z.looseObject({
  accepts: z.array(z.looseObject({ maxAmountRequired: z.string().regex(/^\d{1,30}$/) })).min(1),
  client_hint: z.looseObject({ how_to: z.string().optional() }).optional().catch(undefined),
  basket: basketQuoteSchema.optional().catch(undefined),
  release: z
    .looseObject({
      sequence: z.int().min(1),
      as_of: z.iso.datetime(),
      valid_until: z.iso.datetime().nullable(),
    })
    .optional()
    .catch(undefined),
});
type ChallengeBody = z.infer<typeof challengeSchema>;

const amountsOf = ({ accepts }: ChallengeBody): bigint[] =>
  accepts.map((entry) => BigInt(entry.maxAmountRequired));

/** The lowest of the prices of a challenge, in atomic units. */
export function lowestAtomic(challenge: ChallengeBody): bigint {
  return amountsOf(challenge).reduce((lowest, amount) => (amount < lowest ? amount : lowest));
}

/** Ends one request: after its time, or when the caller gives up. */
export function timeLimit({ timeoutMs, signal }: Pick<TripOptions, 'timeoutMs' | 'signal'>) {
  const limit = AbortSignal.timeout(timeoutMs);
  return signal === undefined ? limit : AbortSignal.any([limit, signal]);
}

/** Names the address whose answer is too long to be read; whatever else went wrong is thrown as it is. */
export function unread(url: string): (cause: unknown) => never {
  return (cause) => {
    if (!(cause instanceof LongAnswerError)) throw cause;
    throw new ClientError(`Cannot read "${url}": ${cause.message}`, { code: 'failed', cause });
  };
}

/**
 * Sends one payment until it is answered; a lost answer or a 5xx is asked for again with the same header. Where the service
 * wants to see who paid, the account that did signs a message with each further try. A 429 may stand in place of that
 * question: others have guessed too often.
 */
export async function deliver(payment: PendingPayment, options: TripOptions): Promise<Response> {
  const signIn = options.signIn(payment);
  let shown: SignIn | null = null;
  for (let again = 0; ; again += 1) {
    const last = await answerOf(payment, options, shown);
    const { response, question } = last;
    const isLost = response === null || response.status >= 500 || response.status === 429;
    if (!isLost && question === null) return response;
    const isAskedAgain = question !== null && shown === signIn;
    const isOver = again >= options.retries || options.signal?.aborted;
    if (isAskedAgain || isOver) throw givenUp(payment, last);
    if (question !== null || response?.status === 429) shown = signIn;
    const asked = Number(response?.headers.get('retry-after') ?? 0) * 1000;
    const ms = Math.min(WAIT_MS_MAX, Math.max(asked || 0, WAIT_MS * 2 ** again));
    await Promise.race([options.wait(ms), ended(options.signal)]);
  }
}

function ended(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) resolve();
    signal?.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** The whole answer: one that is cut off in its body is as lost as one that never came. */
async function answerOf(payment: PendingPayment, options: TripOptions, signIn: SignIn | null) {
  const { url, header, value, identifier, body } = payment;
  const headers = new Headers({ [header]: value, accept: '*/*' });
  if (identifier !== undefined) headers.set('payment-identifier', identifier);
  if (signIn !== null) headers.set('sign-in-with-x', await messageOf(signIn, payment));
  try {
    const signal = timeLimit(options);
    const posted = body === undefined ? {} : { method: 'POST', body };
    const request = new Request(url, { ...posted, headers, signal, redirect: 'error' });
    const response = await arrived(await options.fetch(request));
    return { response, question: await questionIn(response), cause: null };
  } catch (cause) {
    // Sent again it would be as long.
    if (cause instanceof LongAnswerError) throw unreadable(payment, cause.message, cause);
    return { response: null, question: null, cause };
  }
}

async function messageOf(signIn: SignIn, payment: PendingPayment): Promise<string> {
  try {
    return await signIn();
  } catch (cause) {
    throw unsettled(payment, 'the account that paid signed no message', { cause });
  }
}

const questionSchema = z.object({ code: z.literal('sign_in_to_redeliver'), error: z.string() });

/** The words of a service that knows the payment and wants to see who paid. */
async function questionIn(response: Response): Promise<string | null> {
  if (response.status !== 402) return null;
  const json = response.clone().json();
  return questionSchema.safeParse(await json.catch(() => null)).data?.error ?? null;
}

function givenUp(
  payment: PendingPayment,
  { response, question, cause }: Awaited<ReturnType<typeof answerOf>>,
): ClientError {
  if (response === null) {
    return unsettled(payment, networkFault(cause)?.words ?? 'no answer arrived', { cause });
  }
  const { status } = response;
  const asks = question === null ? null : `the service wants to see who paid: ${question}`;
  return unsettled(payment, asks ?? `the service answered ${status}`, { cause, status });
}

/** Money may have moved. */
export function unsettled(
  payment: PendingPayment,
  state: string,
  facts: { readonly cause: unknown; readonly status?: number },
): ClientError {
  const message = `Cannot tell whether "${payment.url}" was paid: ${state}; redeliver this error's payment; do not sign a new one`;
  return new ClientError(message, { code: 'unsettled', payment, ...facts });
}

export function unreadable(payment: PendingPayment, state: string, cause: unknown): ClientError {
  const message = `Cannot read what "${payment.url}" sold: ${state}; redeliver this error's payment`;
  return new ClientError(message, { code: 'unverified', payment, cause });
}

export function tooExpensive(
  amount: bigint,
  cap: bigint,
  challenge: ChallengeBody | null,
): ClientError {
  const clientHint = challenge?.client_hint;
  const [price, max] = [usdAmount(String(amount)), usdAmount(String(cap))];
  const hint = clientHint?.how_to === undefined ? '' : ` (${clientHint.how_to})`;
  const message = `Cannot buy for ${price} USD: maxUsd is ${max}; raise maxUsd to ${price} or more${hint}`;
  return new ClientError(message, { code: 'too_expensive', answer: challenge, clientHint });
}

/** How far the clocks of buyer and shop may differ: a minute less than what an answer is judged by. */
const CLOCKS_APART_MS = 240_000;

/** Why nothing should be bought now: a newer release is due and withheld, or one of the clocks is wrong; null for nothing. */
function staleness({ release }: ChallengeBody, date: string | null, now: number): string | null {
  if (release === undefined) return 'its 402 does not say from which release it sells';
  const { as_of, valid_until } = release;
  if (valid_until !== null && Date.parse(valid_until) < now) {
    return `its release was valid until ${valid_until}; ask when the service has a newer one`;
  }
  const apart = date === null ? Number.NaN : Date.parse(date) - now;
  if (Math.abs(apart) > CLOCKS_APART_MS) {
    const minutes = Math.round(Math.abs(apart) / 60_000);
    return `its clock and yours are ${minutes} minutes apart; set yours, or tell the shop`;
  }
  return Date.parse(as_of) > now + CLOCK_SKEW_MS ? `its release is of ${as_of}, to come` : null;
}

function refusedStale(why: string, challenge: ChallengeBody): ClientError {
  const message = `Cannot buy: ${why}; nothing was signed`;
  return new ClientError(message, { code: 'refused', answer: challenge });
}

function unquoted(challenge: ChallengeBody): ClientError {
  const message =
    'Cannot buy a basket: its 402 does not say what each request costs; nothing was signed';
  return new ClientError(message, { code: 'refused', answer: challenge });
}

function abandoned(url: string, cause: unknown): ClientError {
  const message = `Cannot pay for "${url}": the caller gave up; nothing was sent`;
  return new ClientError(message, { code: 'refused', cause });
}

function elsewhere(network: string, networks: readonly string[]): ClientError {
  const message = `Cannot pay on "${network}": networks has ${networks.join(', ')}; nothing was sent`;
  return new ClientError(message, { code: 'refused' });
}

async function paymentOf(request: Request): Promise<PendingPayment | null> {
  const { url, headers, method } = request;
  for (const header of ['x-payment', 'payment-signature'] as const) {
    const value = headers.get(header);
    if (value === null) continue;
    const paid = { url, header, value };
    return method === 'POST' ? { ...paid, body: await request.clone().text() } : paid;
  }
  return null;
}

/** What a payment header moves, in atomic units, and where; throws for one that does not say. */
export function signedTransfer(header: string): { amount: bigint; network: string } {
  try {
    const { payload, network, accepted } = JSON.parse(atob(header));
    const amount = BigInt(payload.authorization.value);
    return { amount, network: String(network ?? accepted?.network) };
  } catch (cause) {
    const message = 'Cannot send a payment: its header names no amount';
    throw new ClientError(message, { code: 'refused', cause });
  }
}
