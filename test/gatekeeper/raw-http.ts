import { connect } from 'node:net';

/** What came back on a socket, as latin1 text. */
export interface RawAnswer {
  readonly text: string;
  /** Status codes in order. */
  readonly statuses: readonly number[];
}

/** Sends bytes as they are and reads until the server closes or is silent for a while. */
export function rawHttp(port: number, bytes: string | Buffer, silenceMs = 150): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
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
