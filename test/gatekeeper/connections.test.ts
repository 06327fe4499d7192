import { connect, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { NETWORKS } from '../../gatekeeper/money/networks.ts';
import type { RequirementsV1 } from '../../gatekeeper/money/payment.ts';
import { payer } from './payer.ts';
import { rawHttp, rawRequest } from './raw-http.ts';
import { type TinyGate, tinyGate } from './tiny-gate.ts';

const PAID = '/gauge?signal_id=airquality.aqi&entity=us-chicago';

/** A tenth of what the service gives. */
const TIMES = { headersTimeout: 600, requestTimeout: 1000, connectionsCheckingInterval: 100 };

let gate: TinyGate;
beforeAll(async () => {
  gate = await tinyGate({ times: TIMES });
});
afterAll(async () => {
  await gate.close();
});

async function freshPayment(): Promise<string> {
  const challenge = await fetch(gate.url + PAID);
  const { accepts } = (await challenge.json()) as { accepts: readonly [RequirementsV1] };
  return payer(NETWORKS['base-sepolia']).header(accepts[0]);
}

describe('I41: slow clients', () => {
  function opened(count: number, bytes: string): Socket[] {
    return Array.from({ length: count }, () => {
      const socket = connect(gate.port, '127.0.0.1', () => socket.write(bytes));
      return socket.on('error', () => undefined);
    });
  }

  /** How many of the sockets the server has not closed in time. */
  async function left(sockets: readonly Socket[], ms: number): Promise<number> {
    const deadline = performance.now() + ms;
    const open = (): number => sockets.filter((socket) => !socket.closed).length;
    while (open() > 0 && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return open();
  }

  it('200 slow heads, 50 slow bodies, 50 silent ones and 50 that never read are cut off or held while good ones read and buy', async () => {
    const head = 'Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 9';
    const slow = [
      ...opened(200, 'GET /gauge/sample HTTP/1.1\r\nHost: ga'),
      ...opened(50, `POST /mcp HTTP/1.1\r\n${head}\r\n\r\n{`),
    ];
    for (const socket of slow) socket.resume();
    const silent = opened(50, '');
    const deaf = opened(50, 'GET /gauge/sample HTTP/1.1\r\nHost: gate\r\n\r\n'.repeat(200));
    const before = process.memoryUsage.rss();
    for (let at = 0; at < 200; at += 1) {
      const headers: Record<string, string> =
        at % 10 === 0 ? { 'x-payment': await freshPayment() } : {};
      const target = at % 10 === 0 ? PAID : '/gauge/sample';
      expect((await fetch(gate.url + target, { headers })).status).toBe(200);
    }
    expect(await left(slow, 12_000)).toBe(0);
    expect(process.memoryUsage.rss() - before).toBeLessThan(200_000_000);
    for (const socket of [...slow, ...silent, ...deaf]) socket.destroy();
  });
});

describe('I48: connections of our own', () => {
  const EVIL = 'http://evil.example:81/x';
  const requests = [
    rawRequest(EVIL),
    rawRequest(`/gauge/sample?url=${EVIL}&callback=${EVIL}`),
    rawRequest(`/trust/precheck?service=${EVIL}`),
    rawRequest(`/proof/${EVIL}`),
    rawRequest(PAID, [`Referer: ${EVIL}`, `Origin: ${EVIL}`, `X-Forwarded-Host: evil.example`]),
    rawRequest(PAID, [`X-Original-URL: ${EVIL}`, `Forwarded: host=evil.example`, `Via: ${EVIL}`]),
    'GET /gauge HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
    'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n',
    ...['/verify', '/mcp'].map((path) => posted(path, `{"url":"${EVIL}","jsonrpc":"2.0"}`)),
    posted('/verify', JSON.stringify({ _citation: { issuer: EVIL, '@context': EVIL } })),
    posted(
      '/mcp',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"gauge","arguments":{"entity":"http://evil.example/"}}}',
    ),
  ];

  function posted(path: string, body: string): string {
    const lines = ['Content-Type: application/json', `Content-Length: ${body.length}`];
    return rawRequest(path, lines, 'POST') + body;
  }

  it('are made to nobody, whatever host a URL, a header, a body or a payment names', async () => {
    const connecting = vi.spyOn(Socket.prototype, 'connect');
    const payment = await freshPayment();
    const object = JSON.parse(Buffer.from(payment, 'base64').toString());
    const elsewhere = { ...object, facilitator: EVIL, resource: EVIL, extra: { url: EVIL } };
    const named = Buffer.from(JSON.stringify(elsewhere)).toString('base64');
    for (const bytes of [
      ...requests,
      rawRequest(PAID, [`X-PAYMENT: ${payment}`]),
      rawRequest(PAID, [`X-PAYMENT: ${named}`]),
    ]) {
      await rawHttp(gate.port, bytes);
    }
    const asked = connecting.mock.calls.map((args) => JSON.stringify(args));
    connecting.mockRestore();
    expect(asked.length).toBeGreaterThanOrEqual(requests.length + 2);
    expect(asked.filter((to) => !to.includes(String(gate.port)))).toEqual([]);
  });

  it('would be seen', async () => {
    const connecting = vi.spyOn(Socket.prototype, 'connect');
    await fetch('http://127.0.0.1:59999/').catch(() => undefined);
    const asked = connecting.mock.calls.map((args) => JSON.stringify(args));
    connecting.mockRestore();
    expect(asked.filter((to) => !to.includes(String(gate.port))).length).toBeGreaterThan(0);
  });
});
