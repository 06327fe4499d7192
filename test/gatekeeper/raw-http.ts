import { connect, type Socket } from 'node:net';

/** What came back on a socket, as latin1 text. */
export interface RawAnswer {
  readonly text: string;
  /** Status codes in order. */
  readonly statuses: readonly number[];
}

/** Sends bytes as they are and reads until the server closes or is silent for a while. */
export function rawHttp(
  port: number,
  bytes: string | Buffer,
  silenceMs = 2000,
): Promise<RawAnswer> {
  return exchanged(port, (socket) => socket.write(bytes), silenceMs);
}

/** The same of a client that closes its own side behind what it sends. */
export function halfClosed(port: number, bytes: string): Promise<RawAnswer> {
  return exchanged(port, (socket) => socket.end(bytes), 500);
}

function exchanged(
  port: number,
  send: (socket: Socket) => void,
  silenceMs: number,
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const options = { port, host: '127.0.0.1', allowHalfOpen: true };
    const socket = connect(options, () => send(socket));
    socket.on('end', () => socket.end());
    const done = (): void => {
      socket.destroy();
      const text = Buffer.concat(chunks).toString('latin1');
      const found = text.matchAll(/HTTP\/1\.1 ([0-9]{3}) /g);
      resolve({ text, statuses: [...found].map((one) => Number(one[1])) });
    };
    socket.setTimeout(silenceMs, done);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('close', done);
    socket.on('error', () => {});
  });
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
