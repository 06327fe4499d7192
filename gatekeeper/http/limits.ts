import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HeaderFacts } from './header-facts.ts';
import { jsonReply, type Reply } from './reply.ts';

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
  readonly hold: (answer: SentBytes, now: number) => void;
}

/** A request before anything of it is answered. */
export interface Arrival {
  /** Address of the socket. */
  readonly address: string;
  readonly method: string;
  /** The raw request target. */
  readonly target: string;
  readonly facts: HeaderFacts;
}

/** Whether a request is admitted, and who pays for it. */
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

/** An answer that was handed to the system, whether its client reads it or not. */
interface SentBytes {
  readonly socket: Socket;
  readonly response: ServerResponse;
  readonly account: Account;
  readonly bytes: number;
  /** What was paid for has a bound of its own. */
  readonly isPaid: boolean;
}

/** The account of clients that are not counted. */
export const UNLIMITED: Account = { take: () => 0, charge: () => undefined };

/** The refusal of the rate limit, with the seconds to wait. */
export function tooMany(wait: number): Reply {
  const error = 'Too many requests; nothing was charged. Wait and send the same request again';
  const body = { error, retry_after_s: wait };
  return jsonReply(429, body, [['retry-after', String(wait)]]);
}
