import { BoundedMap } from './maps.ts';

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

/** By name in lower case, the member that a header fills; what is repeated is joined, which nothing that matters allows. */
const MEMBERS = {
  host: 'host',
  accept: 'accept',
  'accept-encoding': 'acceptEncoding',
  'x-payment': 'paymentV1',
  'payment-signature': 'paymentV2',
  'x-receipt': 'receipt',
  'sign-in-with-x': 'signIn',
  'payment-identifier': 'identifier',
  authorization: 'authorization',
  'if-none-match': 'ifNoneMatch',
  range: 'range',
  'if-range': 'ifRange',
  origin: 'origin',
  'content-type': 'contentType',
  'mcp-protocol-version': 'version',
  'mcp-method': 'method',
  'mcp-name': 'name',
  'x-request-id': 'requestId',
  'x-forwarded-for': 'forwardedFor',
  forwarded: 'via',
  via: 'via',
  'x-real-ip': 'via',
  'cf-connecting-ip': 'via',
  'true-client-ip': 'via',
  'content-length': 'contentLength',
  'transfer-encoding': 'transferEncoding',
} as const;
type Member = (typeof MEMBERS)[keyof typeof MEMBERS];
type Seen = Partial<Record<Member, string>>;

/** Members by every spelling that was met, so that a name is folded once; bounded, for names are strangers' text. */
const spellings = new BoundedMap<string, Member | null>(1000);
const NO_PAYMENT: readonly PaymentHeader[] = [];
const HOST = /^[A-Za-z0-9._~%:[\]-]{1,255}$/;

function memberOf(name: string): Member | null {
  const known = spellings.get(name);
  if (known !== undefined) return known;
  const folded = name.toLowerCase();
  const member = Object.hasOwn(MEMBERS, folded) ? MEMBERS[folded as keyof typeof MEMBERS] : null;
  spellings.set(name, member);
  return member;
}

/** Reads raw header names and values in one pass, without building an object of them all. */
export function headerFacts(rawHeaders: readonly string[]): HeaderFacts {
  const seen: Seen = {};
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const member = memberOf(rawHeaders[at] ?? '');
    if (member === null) continue;
    const [before, value = ''] = [seen[member], rawHeaders[at + 1]];
    seen[member] = before === undefined ? value : `${before}, ${value}`;
  }
  const { host = '', version = null, method = null, name = null, contentLength = '0' } = seen;
  const isOne = HOST.test(host);
  return {
    fault: isOne ? null : 'send exactly one Host header',
    host: isOne ? host : '',
    origin: seen.origin ?? null,
    contentType: seen.contentType ?? null,
    rpc: { version, method, name },
    paymentHeaders: paymentHeadersOf(seen),
    accept: seen.accept ?? '',
    acceptEncoding: seen.acceptEncoding ?? '',
    authorization: seen.authorization ?? null,
    ifNoneMatch: seen.ifNoneMatch ?? null,
    range: seen.range ?? null,
    ifRange: seen.ifRange ?? null,
    requestId: seen.requestId ?? null,
    forwardedFor: seen.forwardedFor ?? null,
    via: seen.via ?? null,
    hasBody: contentLength !== '0' || seen.transferEncoding !== undefined,
  };
}

/** One object for each, from the entry of the request to its end, so that each is read once. */
function paymentHeadersOf(seen: Seen): readonly PaymentHeader[] {
  const { paymentV1, paymentV2, receipt, signIn, identifier } = seen;
  if (paymentV1 === undefined && paymentV2 === undefined && receipt === undefined) {
    return signIn === undefined ? NO_PAYMENT : [{ kind: 'sign-in', text: signIn }];
  }
  const named = identifier === undefined ? {} : { identifier };
  const beside = {
    kind: 'payment',
    ...named,
    ...(signIn === undefined ? {} : { signIn }),
  } as const;
  return [
    ...(paymentV1 === undefined ? [] : [{ ...beside, version: 1, text: paymentV1 } as const]),
    ...(paymentV2 === undefined ? [] : [{ ...beside, version: 2, text: paymentV2 } as const]),
    ...(receipt === undefined ? [] : [{ kind: 'receipt', text: receipt } as const]),
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

/** The header of a setting that was checked to be `Name: value`. */
export function headerOf(text: string): Readonly<Record<string, string>> {
  const colon = text.indexOf(':');
  return { [text.slice(0, colon)]: text.slice(colon + 1).trim() };
}
