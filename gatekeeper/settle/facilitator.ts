import { isLoopback } from '../wire/listen.ts';
import type { RequestTrace } from '../wire/request.ts';
import type { Network } from './networks.ts';
import type { Authorization, Listing, Payment, Requirements, X402Version } from './payment.ts';

export interface FacilitatorRequest {
  readonly x402Version: X402Version;
  readonly paymentPayload: PaymentPayload;
  readonly paymentRequirements: Requirements;
  /** The request that this is for; it is not part of what is sent, except for its name. */
  readonly trace?: RequestTrace;
  /** Its payer never paid here: while the facilitator gets too many calls, those of known payers come first. Not sent either. */
  readonly isStranger?: boolean;
}
interface SignedPayload {
  readonly signature: string;
  readonly authorization: Authorization;
}
/** A payment as it travels, in the shape of its version. */
export type PaymentPayload =
  | {
      readonly x402Version: 1;
      readonly scheme: string;
      readonly network: string;
      readonly payload: SignedPayload;
    }
  | ({
      readonly x402Version: 2;
      readonly accepted: Requirements;
      readonly payload: SignedPayload;
      readonly resource?: Omit<Listing['resource'], 'serviceName'> & Partial<Listing['resource']>;
    } & Pick<Listing, 'extensions'>);

/**
 * No verdict at all: the call may have had its effect, unless it is `unsent`. That may be said only when it is known that
 * this one call moved no money and never will: no byte of it left this process, or nothing was handed to the chain and
 * nothing will be. It says nothing of earlier calls for the same payment. So it ends a first settlement for sure
 * (nobody was charged), and proves nothing about a repeat.
 */
export interface NoVerdict {
  readonly verdict: 'none';
  readonly detail: string;
  /** Of what came in place of an answer. */
  readonly status?: number;
  /** What kept the call from being made, where it was a setting of ours. */
  readonly setting?: string;
  /** It gets too many calls and takes this one again after so many milliseconds. */
  readonly retryMs?: number;
  readonly unsent?: true;
  /** Besides `unsent`: no buyer waited any more, so it was not to be sent. */
  readonly abandoned?: true;
  /** Besides `unsent`: our own account could not send it (no gas money, gas above the cap), and nobody is waited for. */
  readonly declined?: true;
}

/** Money moves only while somebody waits for it. */
export const ABANDONED: NoVerdict = {
  verdict: 'none',
  detail: 'the buyer went away before it was sent',
  unsent: true,
  abandoned: true,
};

export type ValidityOutcome =
  | { readonly verdict: 'valid' }
  | { readonly verdict: 'invalid'; readonly reason: string }
  | NoVerdict;
interface SettledOutcome {
  readonly verdict: 'settled';
  readonly transaction: string;
  /** Of the transfer, where the chain itself shows it for this very authorization in that transaction. */
  readonly block?: bigint;
}
export type SettleOutcome =
  | SettledOutcome
  | {
      readonly verdict: 'refused';
      readonly reason: string;
      /** A transaction was named beside the refusal, so one may have been sent. */
      readonly namesTransaction?: true;
      /** The chain itself says that the token did not take the authorization. */
      readonly isProven?: true;
    }
  | NoVerdict;
export type SupportedOutcome =
  | { readonly verdict: 'supported'; readonly kinds: readonly PaymentKind[] }
  | NoVerdict;
export interface PaymentKind {
  readonly x402Version: number;
  readonly scheme: string;
  readonly network: string;
}

/** What a settler of a network offers: the scheme `exact` in both versions, each under its own name of the network. */
export function exactKinds({
  name,
  caip2,
}: Network): readonly (PaymentKind & { x402Version: X402Version })[] {
  return [
    { x402Version: 1, scheme: 'exact', network: name },
    { x402Version: 2, scheme: 'exact', network: caip2 },
  ];
}

export interface Facilitator {
  verify(request: FacilitatorRequest): Promise<ValidityOutcome>;
  /** `isFirst` if nobody was ever asked to settle this payment: its claim was made just now. */
  settle(request: FacilitatorRequest, isFirst?: boolean): Promise<SettleOutcome>;
  supported(): Promise<SupportedOutcome>;
}

/** A decoded payment, without what else the payer sent; in v2 with the listing of our own challenge, for catalogues. */
export function facilitatorRequest(
  payment: Payment,
  requirements: Requirements,
  listing?: Listing,
): FacilitatorRequest {
  const { version, scheme, network, signature, authorization } = payment;
  const payload = { signature, authorization };
  const paymentPayload: PaymentPayload =
    version === 1
      ? { x402Version: version, scheme, network, payload }
      : { x402Version: version, accepted: requirements, payload, ...listing };
  return { x402Version: version, paymentPayload, paymentRequirements: requirements };
}

export function authorizationOf({ paymentPayload }: FacilitatorRequest): Authorization {
  return paymentPayload.payload.authorization;
}

/** Whether a buyer still waits for what becomes of it. */
export function isAwaited({ trace }: FacilitatorRequest): boolean {
  return trace?.isAwaited?.() ?? true;
}

/** What a token takes once: a payer may use a nonce on each network. */
export function authorizationKey(request: FacilitatorRequest): string {
  const { network, asset } = request.paymentRequirements;
  const { from, nonce } = authorizationOf(request);
  return `${network}|${asset}|${from}|${nonce}`.toLowerCase();
}

export function provenBy({
  transaction,
  block,
}: Required<Pick<SettledOutcome, 'transaction' | 'block'>>): SettledOutcome {
  return { verdict: 'settled', transaction, block };
}

/** A URL that requests may go to; throws a RangeError if anyone on the way could read or change what is sent. */
export function remoteUrl(text: string, whose: string): URL {
  if (!URL.canParse(text)) {
    throw new RangeError(`Cannot use ${whose} "${text}": not a URL; give https://host/path`);
  }
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    // A path may hold the operator's key for that service.
    throw new RangeError(
      `Cannot use ${whose} "${url.origin}": not https; only a loopback address may be http`,
    );
  }
  return url;
}

/** Throws a RangeError for more than an origin and a path, because calls carry nothing else. */
export function facilitatorUrl(text: string): URL {
  const url = remoteUrl(text, 'facilitator');
  const extra = url.username + url.password + url.search + url.hash;
  if (extra === '') return url;
  throw new RangeError(
    `Cannot use facilitator "${url.origin}": its user, password or query would not be sent; put the key into SIGNALPRESS_FACILITATOR_AUTH`,
  );
}
