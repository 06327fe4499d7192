import { request } from 'undici';
import { networkFault } from '../../compiler/contract/network-fault.ts';
import { messageOf } from '../system/message-of.ts';

/** What another service answered to a GET. */
export interface WebAnswer {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The first bytes of the body. */
  readonly text: string;
}

/** Nothing came back; `code` says why, such as `nothing listens there (ECONNREFUSED)`. */
export interface Unanswered {
  readonly code: string;
}

/** Sends a GET; never rejects. */
export type AskWeb = (
  url: string,
  headers?: Readonly<Record<string, string>>,
) => Promise<WebAnswer | Unanswered>;

const ASK_TIMEOUT_MS = 10_000;
/** Bytes of a body that are looked at: what is asked for is short. */
const TEXT_BYTES_MAX = 65_536;

/** Follows no redirect, because it would lead to a host that nobody configured. */
export const ask: AskWeb = async (url, headers = {}) => {
  try {
    const signal = AbortSignal.timeout(ASK_TIMEOUT_MS);
    const answer = await request(url, { headers, signal });
    let text = '';
    for await (const part of answer.body) {
      text += String(part);
      if (text.length > TEXT_BYTES_MAX) break;
    }
    return { status: answer.statusCode, headers: answer.headers, text };
  } catch (error) {
    return { code: networkFault(error)?.words ?? messageOf(error).slice(0, 100) };
  }
};

/** The time that an answer says it was made at, in milliseconds since the epoch; null where it says none. */
export function dateOf(answer: WebAnswer | Unanswered): number | null {
  if ('code' in answer) return null;
  const ms = Date.parse(String(answer.headers.date));
  return Number.isNaN(ms) ? null : ms;
}
