import type { Spend } from './cost.ts';
import type { HeaderFacts } from './header-facts.ts';
import type { Reply } from './reply.ts';
import type { RequestTrace } from './request-id.ts';

/** A request as far as its answer depends on it. */
export interface HttpRequest {
  readonly method: string;
  /** The raw request target. */
  readonly target: string;
  readonly facts: HeaderFacts;
  /** What the request is called; nothing where no client asks. */
  readonly trace?: RequestTrace | undefined;
  /** Takes what the answer costs beyond a plain one, while it is made. */
  readonly spend: Spend;
  /** The whole body of a POST, or the reply that refuses it; asked for once, after everything else fits. */
  readonly readBody: () => Promise<Buffer | Reply>;
}

/** A reply with what the socket side needs to know about it. */
export interface HttpResponse {
  readonly reply: Reply;
  /** What the log calls the request: never a query, which may hold a token. */
  readonly path: string;
  /** Strong validator of a free 200. */
  readonly etag: string | null;
  /** Milliseconds that the reply may be repeated to the same unpaid target. */
  readonly keepMs: number;
  readonly unpaid: boolean;
  /** Other clients get it under another content coding. */
  readonly isCoded?: true | undefined;
  /** Who paid, for the log. */
  readonly payer?: string | undefined;
}

/** A response that nobody keeps, with who paid for it. */
export function plainResponse(reply: Reply, path: string): HttpResponse {
  return { reply, path, etag: null, keepMs: 0, unpaid: false, payer: reply.payer };
}

/** Answers requests from one release; another release has another responder. */
export interface Responder {
  readonly respond: (request: HttpRequest) => Promise<HttpResponse>;
  /** What answers that are coded depend on beside their target: the same text where the same bytes fit. */
  readonly variant: (facts: HeaderFacts) => string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** An answer that was sent. */
export interface SentAnswer {
  /** Names the request, in the answer too. */
  readonly id: string;
  readonly method: string;
  /** Never a query, which may hold a token. */
  readonly path: string;
  readonly status: number;
  readonly bytes: number;
  readonly ms: number;
  /** Who paid, where somebody did. */
  readonly payer?: string | undefined;
  /** Whether the answer was kept ready, was made for this request, or needed no release at all. */
  readonly from: 'ready' | 'made' | 'early';
  /** Address of the socket. */
  readonly address: string;
  readonly forwardedFor: string | null;
}
