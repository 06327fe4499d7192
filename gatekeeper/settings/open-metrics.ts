import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { messageOf } from '../../compiler/format/errors.ts';
import { isLoopbackHost, listen } from '../wire/listen.ts';
import { jsonReply, NO_STORE, type Reply } from '../wire/reply.ts';
import {
  type Arrival,
  isMetrics,
  METRICS_PATH,
  plainResponse,
  type Responder,
} from '../wire/request.ts';
import { StartError } from '../wire/start-error.ts';
import { instruments } from './instruments.ts';
import { addressText, type MetricsAddress, type MetricsSettings } from './settings.ts';

type Instruments = ReturnType<typeof instruments>;

export type OpenMetrics = Awaited<ReturnType<typeof openMetrics>>;

/** Loaded only where metrics are on: their library costs a start some 30 ms. */
export async function openMetrics(
  { address, token }: MetricsSettings,
  options: Parameters<typeof instruments>[0],
) {
  const { meters, watch, ...shown } = instruments(options);
  const endpoint = metricsEndpoint(shown, token);
  // The endpoint opens /metrics at the address of the service, where they have none of their own.
  if (address === null) return { meters, watch, endpoint, url: null, close: async () => {} };
  const server = await startMetricsServer(address, endpoint, token !== null);
  return { meters, watch, endpoint: null, ...server };
}

const METHODS = ['GET', 'HEAD'];
const ASKS: readonly [string, string] = ['www-authenticate', 'Bearer realm="metrics"'];

type MetricsEndpoint = ReturnType<typeof metricsEndpoint>;

/** Answers METRICS_PATH to whoever may read it. Without a token everybody is let in, so its address must be loopback then. */
export function metricsEndpoint(
  { text, contentType }: Pick<Instruments, 'text' | 'contentType'>,
  token: string | null,
) {
  // Digests are of one length, whatever was sent.
  const digest = (sent: string): Buffer => createHash('sha256').update(sent).digest();
  const wanted = token === null ? null : digest(`Bearer ${token}`);
  const isOpenTo = (authorization: string | null): boolean =>
    wanted === null || timingSafeEqual(digest(authorization ?? ''), wanted);
  const reply = async (method: string, authorization: string | null): Promise<Reply> => {
    if (!isOpenTo(authorization)) {
      const error = 'Metrics are for the operator; send "Authorization: Bearer <token>"';
      return jsonReply(401, { error }, [ASKS]);
    }
    if (!METHODS.includes(method)) {
      const error = `${method} is not a method of the metrics; send GET`;
      return jsonReply(405, { error, allow: METHODS }, [['allow', METHODS.join(', ')]]);
    }
    const body = Buffer.from(await text(), 'utf8');
    return { status: 200, headers: [['content-type', contentType], NO_STORE], body };
  };
  return {
    /** Whoever knows the token reads the metrics even while a crowd is kept waiting. */
    isScrape: ({ target, facts }: Pick<Arrival, 'target' | 'facts'>): boolean =>
      isMetrics(target) && isOpenTo(facts.authorization),
    reply,
    /** The same responder with METRICS_PATH beside its own paths. */
    beside: ({ respond, ...responder }: Responder): Responder => ({
      ...responder,
      async respond(request) {
        if (!isMetrics(request.target)) return respond(request);
        const given = await reply(request.method, request.facts.authorization);
        return plainResponse(given, METRICS_PATH);
      },
    }),
  };
}

/** Readers are few; a crowd must not take the sockets of the service. */
const CONNECTIONS_MAX = 32;
const PATIENCE_MS = 5000;

/** Serves the metrics at an address of their own; throws a StartError where it cannot listen. */
async function startMetricsServer(
  address: MetricsAddress,
  endpoint: MetricsEndpoint,
  hasToken: boolean,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { host, port } = address;
  const replyTo = async ({ url = '', method = '', headers }: IncomingMessage): Promise<Reply> => {
    // Without a token only pages of this machine may ask.
    if (!hasToken && !isLoopbackHost(headers.host))
      return jsonReply(403, { error: 'Ask by an address of this machine, such as 127.0.0.1' });
    if (!isMetrics(url)) return jsonReply(404, { error: `There is only ${METRICS_PATH}` });
    return endpoint.reply(method, headers.authorization ?? null);
  };
  const times = { headersTimeout: PATIENCE_MS, requestTimeout: PATIENCE_MS };
  const server = createServer(times, async (request, response) => {
    request.resume();
    const { status, headers, body } = await replyTo(request).catch((error: unknown) =>
      jsonReply(500, { error: messageOf(error) }),
    );
    const length = String(Buffer.byteLength(body));
    response.writeHead(status, [...headers.flat(), 'content-length', length]);
    response.end(request.method === 'HEAD' ? undefined : body);
  });
  server.maxConnections = CONNECTIONS_MAX;
  // Workers of one program would share the port, and readers would meet each in turn.
  const bound = await listen(server, { port, host, exclusive: true }).catch(
    (cause: NodeJS.ErrnoException) => {
      const state =
        cause.code === 'EADDRINUSE'
          ? 'taken by another process; stop it, or set another port'
          : `refused with ${cause.code}; set an address of this machine`;
      const setting = `SIGNALPRESS_METRICS "${addressText(address)}"`;
      throw new StartError(`Cannot start: ${setting}: ${state}`, { cause });
    },
  );
  const url = `http://${addressText({ host, port: bound.port })}${METRICS_PATH}`;
  return { url, close: bound.close };
}
