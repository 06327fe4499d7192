import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a request of ours looked like when it arrived. */
export interface Arrival {
  /** Address of the connection. */
  readonly from: string;
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
}

/** Listens in place of the gatekeeper for a moment, and notes what arrives. */
export interface ProbeServer {
  readonly port: number;
  /** Requests that carry the mark, oldest first. */
  arrivals(mark: string): readonly Arrival[];
  close(): Promise<void>;
}

/** Header that a request of ours is known by. */
export const PROBE_HEADER = 'x-signalpress-probe';
const ARRIVALS_MAX = 100;
/** Strangers are told to come back once the gatekeeper runs. */
const NOT_YET = JSON.stringify({ error: 'Not started yet; ask again', retryable: true });

/** Rejects with the error of the socket. */
export async function probeServer(host: string, port: number): Promise<ProbeServer> {
  const arrived: Arrival[] = [];
  const server = createServer((request, response) => {
    const { url: target = '', headers, socket } = request;
    if (arrived.length < ARRIVALS_MAX) {
      arrived.push({ from: socket.remoteAddress ?? '', target, headers });
    }
    const fixed = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    response.writeHead(503, { ...fixed, 'retry-after': '5' }).end(NOT_YET);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    arrivals: (mark) => arrived.filter(({ headers }) => headers[PROBE_HEADER] === mark),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
