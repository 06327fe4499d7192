import { Agent, request } from 'undici';
import { messageOf } from '../../format/errors.ts';
import { networkFault } from '../../format/network-fault.ts';
import { CALENDAR_BYTES_MAX, parseTimestamp, type Timestamp } from '../../format/ots-proof.ts';

const CALENDAR_TIMEOUT_MS = 10_000;
const ACCEPT = 'application/vnd.opentimestamps.v1';

/** What a calendar answered; `later` means that it knows the digest but has no block for it yet. */
export type CalendarAnswer =
  | { readonly kind: 'timestamp'; readonly timestamp: Timestamp }
  | { readonly kind: 'later' }
  | { readonly kind: 'failed'; readonly reason: string };

/** Asks calendars; trusts nothing of what they answer. */
export interface CalendarClient {
  submit(url: string, digest: Uint8Array): Promise<CalendarAnswer>;
  /** Asks what has become of a message that the calendar promised to anchor. */
  complete(url: string, message: Uint8Array): Promise<CalendarAnswer>;
  close(): Promise<void>;
}

export function calendarClient(timeoutMs = CALENDAR_TIMEOUT_MS): CalendarClient {
  const dispatcher = new Agent({ connections: 2, connect: { timeout: timeoutMs } });
  const ask = async (call: CalendarRequest, message: Uint8Array): Promise<CalendarAnswer> => {
    try {
      return await answerOf(call, message, { dispatcher, timeoutMs });
    } catch (error) {
      const reason = networkFault(error)?.words ?? messageOf(error);
      return { kind: 'failed', reason };
    }
  };
  return {
    submit: (url, digest) => ask({ url: `${url}/digest`, method: 'POST', body: digest }, digest),
    complete: (url, message) => {
      const hex = Buffer.from(message).toString('hex');
      return ask({ url: `${url}/timestamp/${hex}`, method: 'GET', body: null }, message);
    },
    close: () => dispatcher.destroy(),
  };
}

interface CalendarRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly body: Uint8Array | null;
}

async function answerOf(
  { url, method, body }: CalendarRequest,
  message: Uint8Array,
  { dispatcher, timeoutMs }: { dispatcher: Agent; timeoutMs: number },
): Promise<CalendarAnswer> {
  const answer = await request(url, {
    method,
    body: body === null ? null : Buffer.from(body),
    headers: { accept: ACCEPT, 'content-type': 'application/octet-stream' },
    dispatcher,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    // An answer that trickles in would outlast both timeouts.
    signal: AbortSignal.timeout(timeoutMs),
  });
  const bytes = await readWhole(answer.body);
  if (method === 'GET' && answer.statusCode === 404) return { kind: 'later' };
  if (answer.statusCode !== 200) return { kind: 'failed', reason: `status ${answer.statusCode}` };
  return { kind: 'timestamp', timestamp: parseTimestamp(bytes, message) };
}

async function readWhole(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > CALENDAR_BYTES_MAX) {
      body.destroy();
      throw new RangeError(`Cannot read the answer: longer than ${CALENDAR_BYTES_MAX} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
