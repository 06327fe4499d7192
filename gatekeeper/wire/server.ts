import { createServer, type Server } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { RequestHandler, type RequestHandlerOptions } from './request-handler.ts';

/** What clients and a stop are waited for, in milliseconds; the defaults of Node let 200 slow clients hold a service. */
const SERVER_TIMES = {
  /** Until a client has sent its head, and its whole request. */
  headersTimeout: 6000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  /** How long a stop waits for answers that are on their way. */
  drainTimeout: 9000,
} as const;
const SERVER_LIMITS = {
  // A client that uses a connection again in the instant in which it is closed has to send once more, so this is long.
  keepAliveTimeout: 15_000,
  maxHeaderSize: 16_384,
  // A request without it is refused like every other, with words and for every web page to read.
  requireHostHeader: false,
} as const;
const SOCKET_IDLE_MS = 20_000;
const CONNECTIONS_MAX = 4096;
const REQUESTS_PER_SOCKET_MAX = 10_000;
/** How long connections without a request are kept once the port is closed: one may be on its way. */
const LINGER_MS = 1000;

export interface GateServerOptions extends RequestHandlerOptions {
  readonly host: string;
  readonly port: number;
  /** Descriptor of a socket that listens already, in place of host and port. */
  readonly fd?: number;
  /** Milliseconds for which a stop goes on accepting; each answer then asks for another connection. */
  readonly openMs?: number;
  /** In place of SERVER_TIMES. */
  readonly times?: Partial<Record<keyof typeof SERVER_TIMES, number>>;
}

export type GateServer = Awaited<ReturnType<typeof startServer>>;

/** Starts to listen; rejects with the error of the socket. */
export async function startServer(options: GateServerOptions) {
  const handler = new RequestHandler(options);
  const { drainTimeout, ...times } = { ...SERVER_TIMES, ...options.times };
  const server = createServer({ ...SERVER_LIMITS, ...times, noDelay: true });
  server.maxConnections = CONNECTIONS_MAX;
  server.maxRequestsPerSocket = REQUESTS_PER_SOCKET_MAX;
  // Who has asked may close its side at once; what it paid for is sent on the other one.
  Object.assign(server, { httpAllowHalfOpen: true });
  // Bytes bound them: beyond a count they would be dropped, a second Host or payment among them.
  server.maxHeadersCount = 0;
  server.timeout = SOCKET_IDLE_MS;
  server.on('connection', (socket: Socket) => handler.connect(socket));
  server.on('drop', () => options.refused?.('connections'));
  server.on('request', (request, response) => handler.receive(request, response));
  // GET has no body to wait for, and nothing else is expected of us.
  server.on('checkContinue', (request, response) => handler.refuseExpectation(request, response));
  server.on('checkExpectation', (request, response) =>
    handler.refuseExpectation(request, response),
  );
  server.on('clientError', (error, socket) => handler.refuseSocket(error, socket as Socket));
  // A payment may be under way for longer than an idle connection is kept.
  server.on('timeout', (socket: Socket) => {
    if (!handler.isBusy(socket)) socket.destroy();
  });
  const { fd, host, port: wanted } = options;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(fd === undefined ? { port: wanted, host } : { fd }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { address, port } = server.address() as AddressInfo;
  return {
    host: address,
    port,
    connections: () =>
      new Promise<number>((resolve, reject) => {
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
      }),
    /** Stops accepting, after `openMs`; lets answers finish for at most `drainTimeout`, then cuts what is left. */
    close: () => drain(server, handler, { ...options, drainTimeout }),
  };
}

async function drain(
  server: Server,
  handler: RequestHandler,
  { fd, openMs = 0, drainTimeout }: GateServerOptions & { readonly drainTimeout: number },
): Promise<void> {
  handler.draining = true;
  if (openMs > 0) await pause(openMs);
  const cut = setTimeout(() => server.closeAllConnections(), drainTimeout);
  const isHandedOver = openMs > 0 || fd !== undefined;
  const lingering = isHandedOver
    ? setTimeout(() => server.closeIdleConnections(), LINGER_MS)
    : undefined;
  await new Promise<void>((resolve) => {
    // That of node:http would close idle connections at once.
    if (isHandedOver) NetServer.prototype.close.call(server, () => resolve());
    else server.close(() => resolve());
  });
  clearTimeout(lingering);
  clearTimeout(cut);
}
