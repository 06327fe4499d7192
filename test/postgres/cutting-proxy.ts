import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands between a gatekeeper and its database. */
export interface CuttingProxy {
  /** URL of the database through the proxy. */
  readonly url: string;
  /** What happens to connections from here on. */
  set(mode: ProxyMode): void;
  /** Cuts all connections now. */
  cut(): void;
  close(): Promise<void>;
}

export type ProxyMode =
  | 'pass'
  /** What the gatekeeper says arrives, and the connection is cut before the answer does. */
  | 'lose-answers'
  /** Nobody is let in. */
  | 'closed'
  /** Nothing passes any more in either direction, and nothing is cut. */
  | 'frozen';

/** Time in which the database works on what arrived before its answer is lost. */
const WORK_MS = 150;

export async function cuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let mode: ProxyMode = 'pass';
  const server = createServer((client) => {
    if (mode === 'closed') return void client.destroy();
    const database = connect(Number(port), hostname);
    const end = (): void => {
      client.destroy();
      database.destroy();
    };
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (bytes) => {
      if (mode !== 'frozen') database.write(bytes);
    });
    database.on('data', (bytes) => {
      if (mode === 'pass' || mode === 'closed') client.write(bytes);
      if (mode === 'lose-answers') setTimeout(end, WORK_MS);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    set(next) {
      mode = next;
    },
    cut,
    async close() {
      cut();
      await new Promise((done) => server.close(done));
    },
  };
}
