import type { Socket } from 'node:net';

/** Time for the refusal to reach the client before the connection is cut. */
const LINGER_MS = 500;

const STATUS_OF: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

const ERROR_OF: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'Headers longer than 16 KB; payment headers hold at most 8 KB',
};

/** Answers once what is no HTTP request, then cuts the connection. */
export function refuseFraming(code: string, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const status = STATUS_OF[code] ?? '400 Bad Request';
  endWith(socket, status, ERROR_OF[code] ?? 'Not a valid HTTP request');
}

/** Answers a connection beyond those that its address may hold, then cuts it. */
export function refuseCrowd(socket: Socket): void {
  endWith(socket, '503 Service Unavailable', 'Too many connections from your address; use fewer');
}

function endWith(socket: Socket, status: string, error: string): void {
  const body = JSON.stringify({ error, no_charge: true });
  const head = [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    'Content-Type: application/json',
    'Cache-Control: no-store',
    'Access-Control-Allow-Origin: *',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** Cuts a connection once the answers that wait on it had time to be written. */
export function endSoon(socket: Socket): void {
  setTimeout(() => socket.destroySoon(), LINGER_MS).unref();
}
