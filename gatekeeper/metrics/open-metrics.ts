import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { addressText, type MetricsAddress, type MetricsSettings } from '../config/setting-forms.ts';
import { jsonReply, NO_STORE, type Reply } from '../http/reply.ts';
import {
  type Arrival,
  isMetrics,
  METRICS_PATH,
  plainResponse,
  type Responder,
} from '../http/request.ts';
import { listen } from '../system/listen.ts';
import { isLoopbackHost } from '../system/loopback.ts';
import { messageOf } from '../system/message-of.ts';
import { StartError } from '../system/start-error.ts';
import { type Instruments, type InstrumentsOptions, instruments } from './instruments.ts';

/** Metrics that can be read. */
export interface OpenMetrics extends Pick<Instruments, 'meters' | 'watch'> {
  /** Opens /metrics at the address of the service; null where they have one of their own. */
  readonly endpoint: MetricsEndpoint | null;
  /** Where they have an address of their own; null where they have none. */
  readonly url: string | null;
  close(): Promise<void>;
}

/** Loaded only where metrics are on: their library costs a start some 30 ms. */
export async function openMetrics(
  { address, token }: MetricsSettings,
  options: InstrumentsOptions,
): Promise<OpenMetrics> {
  const { meters, watch, ...shown } = instruments(options);
  const endpoint = metricsEndpoint(shown, token);
  if (address === null) return { meters, watch, endpoint, url: null, close: async () => {} };
  const server = await startMetricsServer({ address, endpoint, hasToken: token !== null });
  const { url, close } = server;
  return { meters, watch, endpoint: null, url, close };
}

const METHODS = ['GET', 'HEAD'];
const ASKS: readonly [string, string] = ['www-authenticate', 'Bearer realm="metrics"'];

/** Answers METRICS_PATH to whoever may read it. */
export interface MetricsEndpoint {
  /** Whoever knows the token reads the metrics even while a crowd is kept waiting. */
  isScrape(arrival: Pick<Arrival, 'target' | 'facts'>): boolean;
  reply(method: string, authorization: string | null): Promise<Reply>;
  /** The same responder with METRICS_PATH beside its own paths. */
  beside(responder: Responder): Responder;
}

/** Without a token everybody is let in, so its address must be loopback then. */
export function metricsEndpoint(
  { text, contentType }: Pick<Instruments, 'text' | 'contentType'>,
  token: string | null,
): MetricsEndpoint {
  const wanted = token === null ? null : digest(`Bearer ${token}`);
  const isOpenTo = (authorization: string | null): boolean =>
    wanted === null || timingSafeEqual(digest(authorization ?? ''), wanted);
  const reply: MetricsEndpoint['reply'] = async (method, authorization) => {
    if (!isOpenTo(authorization)) {
      const error = 'Metrics are for the operator; send "Authorization: Bearer <token>"';
      return jsonReply(401, { error }, [ASKS]);
    }
    if (!METHODS.includes(method)) {
      const error = `${method} is not a method of the metrics; send GET`;
      return jsonReply(405, { error, allow: METHODS }, [['allow', METHODS.join(', ')]]);
    }
    return {
      status: 200,
      headers: [['content-type', contentType], NO_STORE],
      body: Buffer.from(await text(), 'utf8'),
    };
  };
  return {
    isScrape: ({ target, facts }) => isMetrics(target) && isOpenTo(facts.authorization),
    reply,
    beside: ({ respond, ...responder }) => ({
      ...responder,
      async respond(request) {
        if (!isMetrics(request.target)) return respond(request);
        const given = await reply(request.method, request.facts.authorization);
        return plainResponse(given, METRICS_PATH);
      },
    }),
  };
}

/** Of one length, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Readers are few; a crowd must not take the sockets of the service. */
const CONNECTIONS_MAX = 32;
const PATIENCE_MS = 5000;

interface MetricsServerOptions {
  readonly address: MetricsAddress;
  readonly endpoint: MetricsEndpoint;
  /** Whether readers must know a token; without one only pages of this machine may ask. */
  readonly hasToken: boolean;
}

/** Serves the metrics at an address of their own; throws a StartError where it cannot listen. */
export async function startMetricsServer(
  options: MetricsServerOptions,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { host, port } = options.address;
  const server = createServer(
    { headersTimeout: PATIENCE_MS, requestTimeout: PATIENCE_MS },
    (request, response) => {
      request.resume();
      replyTo(request, options).then(
        (reply) => send(response, reply, request.method === 'HEAD'),
        (error: unknown) => send(response, jsonReply(500, { error: messageOf(error) }), false),
      );
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  // Workers of one program would share the port, and readers would meet each in turn.
  const bound = await listen(server, { port, host, exclusive: true }).catch(
    (cause: NodeJS.ErrnoException) => {
      throw unlistenable(options.address, cause);
    },
  );
  const address = addressText({ host, port: bound.port });
  return { url: `http://${address}${METRICS_PATH}`, close: bound.close };
}

async function replyTo(
  { url = '', method = '', headers }: IncomingMessage,
  { endpoint, hasToken }: MetricsServerOptions,
): Promise<Reply> {
  if (!hasToken && !isLoopbackHost(headers.host)) {
    return jsonReply(403, { error: 'Ask by an address of this machine, such as 127.0.0.1' });
  }
  if (!isMetrics(url)) return jsonReply(404, { error: `There is only ${METRICS_PATH}` });
  return endpoint.reply(method, headers.authorization ?? null);
}

function send(response: ServerResponse, reply: Reply, isHead: boolean): void {
  const { status, headers, body } = reply;
  response.writeHead(status, [
    ...headers.flat(),
    'content-length',
    String(Buffer.byteLength(body)),
  ]);
  response.end(isHead ? undefined : body);
}

function unlistenable(address: MetricsAddress, cause: NodeJS.ErrnoException): StartError {
  const state =
    cause.code === 'EADDRINUSE'
      ? 'taken by another process; stop it, or set another port'
      : `refused with ${cause.code}; set an address of this machine`;
  const setting = `SIGNALPRESS_METRICS "${addressText(address)}"`;
  return new StartError(`Cannot start: ${setting}: ${state}`, { cause });
}
