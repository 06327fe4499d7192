import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Stub {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** A server on loopback. */
export async function stub(onRequest: RequestListener = () => undefined): Promise<Stub> {
  const server = createServer(onRequest);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const { port, close } = await stub();
  await close();
  return port;
}
