import { BoundedMap } from '../system/bounded-map.ts';

/** What a tool call repeats of its body, so that intermediaries need not read it; null when absent. */
export interface RpcHeaders {
  readonly version: string | null;
  readonly method: string | null;
  readonly name: string | null;
}

/** An x402 payment, in the header of its version, with what stands beside it to prove its buyer. */
export type X402Header = {
  readonly kind: 'payment';
  readonly version: 1 | 2;
  readonly text: string;
  /** `PAYMENT-IDENTIFIER`: what the payer calls the purchase. */
  readonly identifier?: string;
  /** `SIGN-IN-WITH-X`: a message of the account that paid. */
  readonly signIn?: string;
};
export type ReceiptHeader = { readonly kind: 'receipt'; readonly text: string };
export type TenderHeader = X402Header | ReceiptHeader;
/** The signed message of an account that paid before. */
export type SignInHeader = { readonly kind: 'sign-in'; readonly text: string };
/** The one header that a request wants to be answered for. */
export type PaymentHeader = TenderHeader | SignInHeader;

/** The few request headers that change an answer. */
export interface HeaderFacts {
  /** Why the request is ambiguous and not looked at any further; null when it is not. */
  readonly fault: string | null;
  /** Authority that was asked, '' when it is objected to. */
  readonly host: string;
  /** Web page that asks, in the words of its browser. */
  readonly origin: string | null;
  readonly contentType: string | null;
  readonly rpc: RpcHeaders;
  /** What is offered for the answer; a request with more than one is refused. */
  readonly paymentHeaders: readonly PaymentHeader[];
  readonly accept: string;
  readonly acceptEncoding: string;
  readonly authorization: string | null;
  readonly ifNoneMatch: string | null;
  readonly range: string | null;
  readonly ifRange: string | null;
  readonly requestId: string | null;
  /** Addresses that proxies say they forwarded for; believed of trusted ones alone. */
  readonly forwardedFor: string | null;
  /** What else proxies left on the way, such as `Via`, `Forwarded` or `X-Real-IP`; it only shows that there is one. */
  readonly via: string | null;
  /** A body follows, so the connection must not be used again unless it is read. */
  readonly hasBody: boolean;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
interface Watched extends Writable<Omit<HeaderFacts, 'host'>> {
  host: string | null;
  /** Repeated ones are joined, so that they are refused later. */
  paymentV1: string | null;
  paymentV2: string | null;
  receipt: string | null;
  signIn: string | null;
  identifier: string | null;
}
type Reader = (seen: Watched, value: string) => void;
type Joined = { [Name in keyof Watched]: null extends Watched[Name] ? Name : never }[keyof Watched];

const joining =
  (name: Exclude<Joined, 'fault'>): Reader =>
  (seen, value) => {
    seen[name] = joined(seen[name], value);
  };
const joiningRpc =
  (name: keyof RpcHeaders): Reader =>
  (seen, value) => {
    seen.rpc = { ...seen.rpc, [name]: joined(seen.rpc[name], value) };
  };

/** By name in lower case; a repeated header is joined, which nothing that matters allows. */
const READERS: Readonly<Record<string, Reader>> = {
  host: joining('host'),
  accept: (seen, value) => {
    seen.accept = seen.accept === '' ? value : joined(seen.accept, value);
  },
  'accept-encoding': (seen, value) => {
    seen.acceptEncoding = seen.acceptEncoding === '' ? value : joined(seen.acceptEncoding, value);
  },
  'x-payment': joining('paymentV1'),
  'payment-signature': joining('paymentV2'),
  'x-receipt': joining('receipt'),
  'sign-in-with-x': joining('signIn'),
  'payment-identifier': joining('identifier'),
  authorization: joining('authorization'),
  'if-none-match': joining('ifNoneMatch'),
  range: joining('range'),
  'if-range': joining('ifRange'),
  origin: joining('origin'),
  'content-type': joining('contentType'),
  'mcp-protocol-version': joiningRpc('version'),
  'mcp-method': joiningRpc('method'),
  'mcp-name': joiningRpc('name'),
  'x-request-id': joining('requestId'),
  'x-forwarded-for': joining('forwardedFor'),
  forwarded: joining('via'),
  via: joining('via'),
  'x-real-ip': joining('via'),
  'cf-connecting-ip': joining('via'),
  'true-client-ip': joining('via'),
  'content-length': (seen, value) => {
    seen.hasBody ||= value !== '0';
  },
  'transfer-encoding': (seen) => {
    seen.hasBody = true;
  },
};

/** Readers by every spelling that was met, so that a name is folded once; bounded, for names are strangers' text. */
const spellings = new BoundedMap<string, Reader | null>(1000);
const NO_PAYMENT: readonly PaymentHeader[] = [];
const NO_RPC: RpcHeaders = { version: null, method: null, name: null };
const HOST = /^[A-Za-z0-9._~%:[\]-]{1,255}$/;

function joined(before: string | null, value: string): string {
  return before === null ? value : `${before}, ${value}`;
}

function readerOf(name: string): Reader | null {
  const known = spellings.get(name);
  if (known !== undefined) return known;
  const folded = name.toLowerCase();
  const reader = Object.hasOwn(READERS, folded) ? (READERS[folded] ?? null) : null;
  spellings.set(name, reader);
  return reader;
}

/** Reads raw header names and values in one pass, without building an object of them all. */
export function headerFacts(rawHeaders: readonly string[]): HeaderFacts {
  const seen: Watched = {
    fault: null,
    host: null,
    origin: null,
    contentType: null,
    rpc: NO_RPC,
    paymentHeaders: NO_PAYMENT,
    paymentV1: null,
    paymentV2: null,
    receipt: null,
    signIn: null,
    identifier: null,
    accept: '',
    acceptEncoding: '',
    authorization: null,
    ifNoneMatch: null,
    range: null,
    ifRange: null,
    requestId: null,
    forwardedFor: null,
    via: null,
    hasBody: false,
  };
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const reader = readerOf(rawHeaders[at] ?? '');
    if (reader !== null) reader(seen, rawHeaders[at + 1] ?? '');
  }
  const { host } = seen;
  const isOne = host !== null && HOST.test(host);
  if (!isOne) seen.fault = 'send exactly one Host header';
  seen.host = isOne ? host : '';
  seen.paymentHeaders = paymentHeadersOf(seen);
  // The same object: one is made for every request, and a copy costs as much as reading.
  return seen as HeaderFacts;
}

/** One object for each, from the entry of the request to its end, so that each is read once. */
function paymentHeadersOf(seen: Watched): readonly PaymentHeader[] {
  const { paymentV1, paymentV2, receipt, signIn, identifier } = seen;
  if (paymentV1 === null && paymentV2 === null && receipt === null) {
    return signIn === null ? NO_PAYMENT : [{ kind: 'sign-in', text: signIn }];
  }
  const named = identifier === null ? {} : { identifier };
  const beside = { kind: 'payment', ...named, ...(signIn === null ? {} : { signIn }) } as const;
  return [
    ...(paymentV1 === null ? [] : [{ ...beside, version: 1, text: paymentV1 } as const]),
    ...(paymentV2 === null ? [] : [{ ...beside, version: 2, text: paymentV2 } as const]),
    ...(receipt === null ? [] : [{ kind: 'receipt', text: receipt } as const]),
  ];
}

/** Whether a request offers something for its answer, or claims to have paid. */
export function pays({ paymentHeaders }: HeaderFacts): boolean {
  return paymentHeaders.length > 0;
}

/** Whether `Accept` is that of a browser that opens a link: it names HTML, and JSON nowhere. */
export function wantsPage(accept: string): boolean {
  return accept.includes('text/html') && !accept.includes('json');
}
