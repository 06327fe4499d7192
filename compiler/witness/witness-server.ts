import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { HOUR_MS } from '../contract/iso-time.ts';
import type { VerifierKey } from '../contract/verifier-key.ts';
import { reason } from '../verify/body-check.ts';
import {
  addCheckpoint,
  REQUEST_BYTES_MAX,
  TOO_MANY,
  type WitnessAnswer,
  type WitnessMemory,
} from './witness.ts';
import { clientLimit, clientOf, limitConnections, rateLimit } from './witness-limits.ts';
import type { WitnessStore } from './witness-store.ts';

const ADD_PATH = '/add-checkpoint';
const CHECKPOINT_PATH = /^\/([0-9a-f]{64})\/checkpoint$/;
/** Longest time that a request may take to come in. */
const REQUEST_MS_MAX = 10_000;
/**
 * Requests of one kind of all clients, and all of one client. The longest checkpoint takes two milliseconds: many addresses are
 * needed before a log is kept waiting, and who only reads keeps none.
 */
const REQUESTS = { count: 200, ms: 1000 };
const CLIENT_REQUESTS = { count: 10, ms: 2000 };
/** Cosignatures of one log, each of which costs a write to the disk. */
const COSIGNATURES = { count: 10, ms: 10_000 };
/** Lines of one kind that are logged: strangers can bring about more. */
const LOGGED = { count: 20, ms: HOUR_MS };
const REFUSAL_CHARS_MAX = 8192;

interface ServeOptions {
  readonly store: Pick<WitnessStore, 'key' | 'memory'>;
  readonly logs: readonly VerifierKey[];
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Told of each cosignature, of some refusals, and of each failure. */
  readonly log: (text: string) => void;
}

/** A witness that is listening. */
export interface ServedWitness {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves tlog-witness: `POST /add-checkpoint`, and the newest cosigned checkpoint of each log. */
export async function serveWitness(options: ServeOptions): Promise<ServedWitness> {
  const { store, logs, now, log } = options;
  const memory: WitnessMemory = {
    get: (origin) => store.memory.get(origin),
    put(cosigned) {
      store.memory.put(cosigned);
      log(`cosigned ${cosigned.checkpoint.origin} at size ${cosigned.checkpoint.size}`);
    },
  };
  const parts = { key: store.key, memory, logs, now, mayCosign: rateLimit(COSIGNATURES, now) };
  const [allowsAll, allowsClient] = [rateLimit(REQUESTS, now), clientLimit(CLIENT_REQUESTS, now)];
  const isAllowed = (address: string | null, path: string): boolean =>
    (address === null || allowsClient(address)) && allowsAll(path === ADD_PATH ? 'add' : 'read');
  const isLogged = rateLimit(LOGGED, now);
  const server = createServer((request, response) => {
    answerTo(request, response)
      .then((answer) => send(response, answer))
      .catch((error: unknown) => {
        // Whoever goes away in the middle of a request is no failure of ours.
        if (request.complete && isLogged('failed')) log(`failed: ${reason(error)}`);
        send(response, FAILED);
      });
  });
  const answerTo = async (
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<PlainAnswer> => {
    const path = request.url ?? '';
    if (!isAllowed(clientOf(request), path)) return TOO_MANY;
    if (path !== ADD_PATH) return readAnswer(request.method, path);
    if (request.method !== 'POST')
      return { status: 405, body: 'POST a checkpoint\n', allow: 'POST' };
    const body = await bodyOf(request);
    if (body === null) {
      response.setHeader('connection', 'close');
      return { status: 413, body: `longer than ${REQUEST_BYTES_MAX} bytes\n` };
    }
    return added(body);
  };
  const added = (body: string): WitnessAnswer => {
    const answer = addCheckpoint(body, parts);
    const { status } = answer;
    // Signed by a log, and yet not cosigned.
    if ((status === 422 || status === 503) && isLogged(String(status))) {
      log(`refused, to be looked at: ${answer.body}${body}`.slice(0, REFUSAL_CHARS_MAX));
    }
    return answer;
  };
  const readAnswer = (method: string | undefined, path: string): PlainAnswer => {
    const digest = CHECKPOINT_PATH.exec(path)?.[1];
    const origin = logs.find(({ name }) => hash('sha256', name) === digest)?.name;
    const known = origin === undefined ? null : store.memory.get(origin);
    if (known === null) return { status: 404, body: 'nothing here\n' };
    if (method === 'GET' || method === 'HEAD') return { status: 200, body: known.note };
    return { status: 405, body: 'GET it\n', allow: 'GET, HEAD' };
  };
  return listening(server, options);
}

/** The disk is full, or the memory is. */
const FAILED: WitnessAnswer = {
  status: 503,
  body: 'this witness cannot keep its memory; try again later\n',
};

interface PlainAnswer extends Pick<WitnessAnswer, 'body' | 'type' | 'retryAfterS'> {
  readonly status: WitnessAnswer['status'] | 405 | 413;
  readonly allow?: string;
}

function send(
  response: ServerResponse,
  { status, body, type, allow, retryAfterS }: PlainAnswer,
): void {
  if (response.destroyed) return;
  response.writeHead(status, {
    'content-type': type ?? 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    ...(allow === undefined ? {} : { allow }),
    ...(retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }),
  });
  response.end(body);
}

/** The text of a request; null for one that is too long. Bytes that are no UTF-8 become characters that no request has. */
async function bodyOf(request: IncomingMessage): Promise<string | null> {
  if (Number(request.headers['content-length'] ?? 0) > REQUEST_BYTES_MAX) return null;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > REQUEST_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function listening(
  server: Server,
  { host, port }: Pick<ServeOptions, 'host' | 'port'>,
): Promise<ServedWitness> {
  limitConnections(server);
  server.headersTimeout = REQUEST_MS_MAX;
  server.requestTimeout = REQUEST_MS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
