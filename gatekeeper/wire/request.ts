import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Spend } from './cost.ts';
import type { HeaderFacts } from './header-facts.ts';
import { jsonReply, type Reply } from './reply.ts';

/** What one request is called: in its answer and the log, and towards facilitators. */
export interface RequestTrace {
  readonly id: string;
  readonly sentId: string;
  /** The network address that it came from; null where that is not known for sure. It is sent to nobody. */
  readonly client?: string | null;
  /** Whether its client still waits for the answer; without it, it does. */
  readonly isAwaited?: () => boolean;
}

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
  /** What was asked for and is not there. */
  readonly wanted?: string | undefined;
  /** Whether the answer was kept ready, was made for this request, or needed no release at all. */
  readonly from: 'ready' | 'made' | 'early';
  /** Address of the socket. */
  readonly address: string;
  readonly forwardedFor: string | null;
}

/** Two paths that are no operations of the table. */
export const HEALTH_PATH = '/healthz';
export const METRICS_PATH = '/metrics';

export function isHealth(target: string): boolean {
  return isPath(target, HEALTH_PATH);
}

export function isMetrics(target: string): boolean {
  return isPath(target, METRICS_PATH);
}

function isPath(target: string, path: string): boolean {
  return target === path || target.startsWith(`${path}?`);
}

/** What keeps one client from taking what others need; `limits/` holds all of it. */
export interface Limits {
  /** Counts a connection until it is closed; false for one too many of its address. */
  readonly takesConnection: (socket: Socket) => boolean;
  /** Decides on a request before anything else of it is looked at. `now` in milliseconds of a steady clock. */
  readonly admit: (arrival: Arrival, now: number) => Entry;
  /** The network address that a request came from; null where a proxy hides it. */
  readonly clientOf: (arrival: Arrival) => string | null;
  /** The whole body of a request, or the reply that refuses it, at the cost of an account; never rejects. */
  readonly readBody: (request: IncomingMessage, account: Account) => Promise<Buffer | Reply>;
  /** Whether a client has read enough of its answers to get another one that is free. */
  readonly isReading: (socket: Socket) => boolean;
  /** Charges for an answer that is on its way, and holds it until its client has read it, for a while only. */
  readonly hold: (
    answer: {
      readonly socket: Socket;
      readonly response: ServerResponse;
      readonly account: Account;
      readonly bytes: number;
      /** What was paid for has a bound of its own. */
      readonly isPaid: boolean;
    },
    now: number,
  ) => void;
}

/** A request before anything of it is answered. */
export interface Arrival {
  readonly address: string;
  readonly method: string;
  readonly target: string;
  readonly facts: HeaderFacts;
}

export interface Entry {
  /** 0 lets it in, otherwise the seconds to wait. */
  readonly wait: number;
  /** Pays for its body and its answer. */
  readonly account: Account;
}

/** What one client may still use, in units: one is what a plain free answer costs. */
export interface Account {
  /** Takes the price of a request; 0 lets it pass, otherwise the seconds to wait. `now` in milliseconds of any steady clock. */
  take(cost: number, now: number): number;
  /** Takes what the answer cost beyond it. */
  charge(cost: number, now: number): void;
}

export const UNLIMITED: Account = { take: () => 0, charge: () => undefined };

/** The refusal of the rate limit, with the seconds to wait. */
export function tooMany(wait: number): Reply {
  const error = 'Too many requests; nothing was charged. Wait and send the same request again';
  const body = { error, retry_after_s: wait };
  return jsonReply(429, body, [['retry-after', String(wait)]]);
}
