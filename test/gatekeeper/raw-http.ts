import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** What came back on a socket, as latin1 text. */
export interface RawAnswer {
  readonly text: string;
  /** Status codes in order. */
  readonly statuses: readonly number[];
}

/** Silence that ends an exchange, in milliseconds. */
const SILENCE_MS = 2000;
/** Silence in which one answer too many would arrive, in milliseconds. */
const AFTER_LAST_MS = 30;

/** Sends bytes as they are and reads until the server closes or is silent for a while. */
export function rawHttp(
  port: number,
  bytes: string | Buffer,
  silenceMs = SILENCE_MS,
): Promise<RawAnswer> {
  return exchanged(
    port,
    (socket) => socket.write(bytes),
    () => silenceMs,
  );
}

/** The same, and soon silent enough once as many whole answers came as were wanted. */
export function rawAnswers(
  port: number,
  bytes: string | Buffer,
  wanted: number,
): Promise<RawAnswer> {
  const silenceMs = (text: string): number =>
    wholeAnswers(text) < wanted ? SILENCE_MS : AFTER_LAST_MS;
  return exchanged(port, (socket) => socket.write(bytes), silenceMs);
}

/** The same of a client that closes its own side behind what it sends. */
export function halfClosed(port: number, bytes: string): Promise<RawAnswer> {
  return exchanged(
    port,
    (socket) => socket.end(bytes),
    () => 500,
  );
}

function exchanged(
  port: number,
  send: (socket: Socket) => void,
  silenceMs: (text: string) => number,
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const options = { port, host: '127.0.0.1', allowHalfOpen: true };
    const socket = connect(options, () => send(socket));
    socket.on('end', () => socket.end());
    const read = (): string => Buffer.concat(chunks).toString('latin1');
    const done = (): void => {
      socket.destroy();
      const text = read();
      const found = text.matchAll(/HTTP\/1\.1 ([0-9]{3}) /g);
      resolve({ text, statuses: [...found].map((one) => Number(one[1])) });
    };
    socket.setTimeout(silenceMs(''), done);
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      socket.setTimeout(silenceMs(read()));
    });
    socket.on('close', done);
    socket.on('error', () => {});
  });
}

/** How many answers of a connection have all the bytes that their heads announce. */
function wholeAnswers(text: string): number {
  let whole = 0;
  for (let at = 0; ; whole += 1) {
    const body = text.indexOf('\r\n\r\n', at) + 4;
    if (body < 4) return whole;
    const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text.slice(at, body))?.[1];
    at = body + Number(length ?? 0);
    if (at > text.length) return whole;
  }
}

/** One request that asks the server to close afterwards, so that no silence is waited for. */
export function rawRequest(
  target: string,
  headers: readonly string[] = [],
  method = 'GET',
): string {
  return [
    `${method} ${target} HTTP/1.1`,
    'Host: gate',
    'Connection: close',
    ...headers,
    '',
    '',
  ].join('\r\n');
}

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
