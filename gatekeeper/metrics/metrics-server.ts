import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { addressText, type MetricsAddress } from '../config/setting-forms.ts';
import { isMetrics, METRICS_PATH } from '../http/own-paths.ts';
import { jsonReply, type Reply } from '../http/reply.ts';
import { listen } from '../system/listen.ts';
import { isLoopbackHost } from '../system/loopback.ts';
import { messageOf } from '../system/message-of.ts';
import { StartError } from '../system/start-error.ts';
import type { MetricsEndpoint } from './metrics-endpoint.ts';

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
