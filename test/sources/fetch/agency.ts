import { createHash } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

/** What an agency may do instead of answering. */
export const BROKEN_MOODS = [
  'busy',
  'down',
  'refusing',
  'slow',
  'cut',
  'cut-gzip',
  'cut-chunk',
  'cut-line',
  'wrong-type',
  'page',
  'redirect',
  'bomb',
  'huge',
  'empty',
  'half-json',
  'other-format',
] as const;
export type BrokenMood = (typeof BROKEN_MOODS)[number];
/** A clock that is off, a compressed answer, a long header, or an address that is gone breaks nothing. */
export type Mood =
  | 'well'
  | 'gone'
  | 'skewed'
  | 'gzip'
  | 'moved'
  | 'long-winded'
  | BrokenMood
  | RareMood;
/** What else an agency may do: to the connection, or against the protocol. */
type RareMood =
  | 'silent'
  | 'trickle'
  | 'reset'
  | 'loop'
  | 'bad-gzip'
  | 'unasked-304'
  | 'stale-304'
  | 'marked';

export interface Reply {
  readonly body: string | Uint8Array;
  readonly type: string;
}

export interface Asked {
  readonly host: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly status: number;
  /** Epoch milliseconds of the agency's clock. */
  readonly at: number;
  /** How long it asked to wait, as it said it. */
  readonly retryAfter: string | null;
}

const MEGABYTE = 1 << 20;
const SKEW_MS = 3 * 3_600_000;
const TRICKLE_MS = 40;

/** Agencies on loopback: each official host is played below a path of its name. */
export class Agency {
  /** Answers of a host by path and query. */
  readonly replies = new Map<string, (path: string) => Reply | null>();
  /** By host, or by host and a text of the paths that are meant: "example.org models=". */
  readonly moods = new Map<string, Mood>();
  /** Everything that was asked. */
  readonly asked: Asked[] = [];
  /** `Retry-After` of a busy agency; empty for none. */
  retryAfter: string | (() => string) = '3600';
  now: () => number = Date.now;
  readonly #server = createServer((request, response) => this.#answer(request, response));
  #port = 0;

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  /** Mirrors for these official hosts. */
  origins(hosts: readonly string[]): Record<string, string> {
    return Object.fromEntries(
      hosts.map((host) => [host, `http://127.0.0.1:${this.#port}/${host}`] as const),
    );
  }

  serve(host: string, reply: Reply | ((path: string) => Reply | null)): void {
    this.replies.set(host, typeof reply === 'function' ? reply : () => reply);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const [, host = '', path = ''] = /^\/([^/]+)(\/.*)$/.exec(request.url ?? '') ?? [];
    const mood = this.#moodOf(host, path);
    response.sendDate = false;
    const date = new Date(this.now() + (mood === 'skewed' ? SKEW_MS : 0)).toUTCString();
    response.setHeader('date', date);
    const reply = this.replies.get(host)?.(path) ?? null;
    if (reply === null) response.writeHead(404).end();
    else this.#play(mood, reply, { request, response, path });
    const { headers } = request;
    const wait = response.getHeader('retry-after');
    const retryAfter = typeof wait === 'string' ? wait : null;
    this.asked.push({
      host,
      path,
      headers,
      status: response.statusCode,
      at: this.now(),
      retryAfter,
    });
  }

  #busy(response: ServerResponse): void {
    const wait = typeof this.retryAfter === 'string' ? this.retryAfter : this.retryAfter();
    if (wait !== '') response.setHeader('retry-after', wait);
    response.writeHead(429).end('later');
  }

  #moodOf(host: string, path: string): Mood {
    const meant = [...this.moods].find(([key]) => {
      const [ofHost, part = ''] = key.split(' ');
      return ofHost === host && path.includes(part);
    });
    return meant?.[1] ?? 'well';
  }

  #play(
    mood: Mood,
    { body, type }: Reply,
    {
      request,
      response,
      path,
    }: { request: IncomingMessage; response: ServerResponse; path: string },
  ): void {
    const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`;
    const ok = (more = {}) => response.writeHead(200, { 'content-type': type, etag, ...more });
    switch (mood) {
      case 'well':
      case 'skewed':
        if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
        else ok().end(body);
        return;
      case 'long-winded':
        // As JSON each quote takes two characters.
        ok({ etag: `"${'"'.repeat(40_000)}"` }).end(body);
        return;
      case 'gzip':
        ok({ 'content-encoding': 'gzip' }).end(gzipSync(body));
        return;
      case 'moved':
        if (path.includes('moved=1')) ok().end(body);
        else {
          const to = `${path}${path.includes('?') ? '&' : '?'}moved=1`;
          response.writeHead(301, { location: to }).end();
        }
        return;
      case 'gone':
        response.writeHead(410).end();
        return;
      case 'busy':
        this.#busy(response);
        return;
      case 'down':
        response.writeHead(500, { 'content-type': 'text/html' }).end('<html>oops</html>');
        return;
      case 'refusing':
        response.writeHead(403).end('who are you');
        return;
      case 'slow':
        ok().write('{');
        return;
      case 'cut':
        ok({ 'content-length': String(Buffer.byteLength(body) + 100) });
        response.write(body, () => response.destroy());
        return;
      case 'cut-gzip':
        ok({ 'content-encoding': 'gzip' }).end(gzipSync(body).subarray(0, -6));
        return;
      case 'cut-chunk':
        ok().write(halfOf(body), () => response.destroy());
        return;
      case 'cut-line':
        // As of HTTP/1.0: the answer ends where the connection does.
        response.useChunkedEncodingByDefault = false;
        response.shouldKeepAlive = false;
        ok().end(halfOf(body));
        return;
      case 'wrong-type':
        response.writeHead(200, { 'content-type': 'image/png' }).end(body);
        return;
      case 'page':
        ok().end('<!DOCTYPE html><html><body>Service unavailable</body></html>');
        return;
      case 'redirect':
        response.writeHead(302, { location: 'https://login.example.com/' }).end();
        return;
      case 'loop':
        response.writeHead(302, { location: path }).end();
        return;
      case 'silent':
        return;
      case 'trickle':
        ok();
        sendSlowly(response, Buffer.from(body));
        return;
      case 'reset':
        request.socket.resetAndDestroy();
        return;
      case 'bad-gzip':
        ok({ 'content-encoding': 'gzip' }).end(Buffer.from(body));
        return;
      case 'unasked-304':
        response.writeHead(304, { etag: '"other"' }).end();
        return;
      case 'stale-304':
        if (request.headers['if-none-match'] === undefined) ok().end(body);
        else response.writeHead(304, { etag }).end();
        return;
      case 'marked':
        ok().end(Buffer.concat([Buffer.from('\ufeff'), Buffer.from(body)]));
        return;
      case 'bomb':
        ok({ 'content-encoding': 'gzip' });
        // Members of a gzip follow each other; each is a megabyte of blanks.
        sendMany(response, gzipSync(Buffer.alloc(MEGABYTE, ' ')), 400);
        return;
      case 'huge':
        ok();
        sendMany(response, Buffer.alloc(MEGABYTE, ' '), 200);
        return;
      case 'empty':
        ok().end();
        return;
      case 'half-json':
        ok().end(Buffer.from(body).subarray(0, Math.floor(Buffer.byteLength(body) / 2)));
        return;
      case 'other-format':
        ok().end(type.includes('json') ? '{"version":2,"items":[]}' : 'version 2\nnothing\n');
    }
  }
}

function sendSlowly(response: ServerResponse, bytes: Uint8Array, from = 0): void {
  if (response.destroyed) return;
  response.write(bytes.subarray(from, from + 1));
  const next = (): void => sendSlowly(response, bytes, (from + 1) % bytes.length);
  setTimeout(next, TRICKLE_MS).unref();
}

/** The first half of an answer, up to the end of a line where it has any. */
function halfOf(body: string | Uint8Array): Uint8Array {
  const bytes = Buffer.from(body);
  const half = bytes.length >> 1;
  const line = bytes.lastIndexOf('\n', half);
  return bytes.subarray(0, line < 1 ? half : line + 1);
}

function sendMany(response: ServerResponse, piece: Uint8Array, count: number): void {
  let sent = 0;
  const go = (): void => {
    while (sent < count && !response.destroyed) {
      sent += 1;
      if (!response.write(piece)) {
        response.once('drain', go);
        return;
      }
    }
    response.end();
  };
  go();
}
