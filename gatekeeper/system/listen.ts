import type { Server } from 'node:http';
import type { AddressInfo, ListenOptions } from 'node:net';

/** A server that listens. */
export interface ListeningServer {
  readonly port: number;
  /** Cuts off whoever is connected. */
  close(): Promise<void>;
}

/** Rejects with the error of the socket. */
export async function listen(server: Server, options: ListenOptions): Promise<ListeningServer> {
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(options, done);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      return closed;
    },
  };
}
