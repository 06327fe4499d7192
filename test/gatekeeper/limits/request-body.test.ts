import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BodyReader } from '../../../gatekeeper/limits/open-limits.ts';
import { rawHttp } from '../raw-http.ts';

const BODIES_BYTES_MAX = 32 * 1024 * 1024;
const BODY_BYTES_MAX = 256 * 1024;

const reader = new BodyReader();
let server: Server;
let port = 0;
let heldMax = 0;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    request.on('data', () => {
      heldMax = Math.max(heldMax, reader.held);
    });
    const body = await reader.read(request);
    if (Buffer.isBuffer(body)) response.end(`${body.length} ${body.subarray(0, 4)}`);
    else response.writeHead(body.status).end(body.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function post(body: string, framing = `Content-Length: ${body.length}`): string {
  return `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${framing}\r\n\r\n${body}`;
}

function chunked(body: string): string {
  const framed = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  return post(framed, 'Transfer-Encoding: chunked');
}

describe('I43: BodyReader.read()', () => {
  const sized: readonly (readonly [string, number])[] = [
    ['one byte less', BODY_BYTES_MAX - 1],
    ['the limit', BODY_BYTES_MAX],
  ];
  it.each(sized)('takes %s, with a length and in chunks', async (_, size) => {
    const body = 'a'.repeat(size);
    for (const bytes of [post(body), chunked(body)]) {
      expect((await rawHttp(port, bytes)).text).toContain(`${size} aaaa`);
    }
  });

  it('refuses one byte more, and a megabyte, with a length and in chunks', async () => {
    for (const size of [BODY_BYTES_MAX + 1, 4 * BODY_BYTES_MAX]) {
      const body = 'a'.repeat(size);
      expect((await rawHttp(port, chunked(body))).statuses).toEqual([413]);
      expect((await rawHttp(port, post('', `Content-Length: ${size}`))).statuses).toEqual([413]);
    }
  });

  it('takes an empty body and gives every byte of its budget back', async () => {
    expect((await rawHttp(port, post(''))).text).toContain('0 ');
    expect(reader.held).toBe(0);
    expect(heldMax).toBeGreaterThan(0);
    expect(heldMax).toBeLessThanOrEqual(BODIES_BYTES_MAX);
  });

  it('gives its budget back when the client goes away in the middle', async () => {
    await rawHttp(port, post('abc', 'Content-Length: 9'), 50);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(reader.held).toBe(0);
  });

  it('refuses while other bodies hold the budget, and takes the same body afterwards', async () => {
    const busy = new BodyReader();
    const body = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.alloc(10);
    };
    const request = (iterator: () => AsyncGenerator<Buffer>): Parameters<BodyReader['read']>[0] =>
      ({ headers: {}, complete: true, iterator }) as never;
    let answer: () => void = () => undefined;
    const hold = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const slow = busy.read(
      request(async function* () {
        yield Buffer.alloc(BODIES_BYTES_MAX);
        await hold;
      }),
      BODIES_BYTES_MAX,
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(await busy.read(request(body))).toMatchObject({ status: 503 });
    answer();
    await slow;
    expect(await busy.read(request(body))).toEqual(Buffer.alloc(10));
  });
});
