import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FREE_BYTES_MAX } from '../../../../gatekeeper/rooms/json-content.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../../../gatekeeper/settle/payment.ts';
import { type Gatekeeper, startGatekeeper } from '../../../../gatekeeper/start.ts';
import { sampleGate } from '../../../gate.ts';
import { NOW_MS, payer } from '../../../gatekeeper/payer.ts';
import { tinyConfig, tinyGate } from '../../../gatekeeper/tiny-gate.ts';
import { compiledSample } from '../../../shop.ts';
import { removeFolders } from '../../../snapshot-folder.ts';

const NETWORK = NETWORKS['base-sepolia'];
const UNITS_A_SECOND = 20;
/** Between two purchases: six units each, so that a buyer stays below the limit. */
const PAUSE_MS = 400;
const PAIR = 'signal_id=airquality.aqi&entity=us-denver';

/** Without a limit, so that the bounds of a single request are seen. */
let open: Gatekeeper;
/** Behind a proxy on this machine that names its clients; the default limit allows more than a loaded machine may send. */
let limited: Gatekeeper;

beforeAll(async () => {
  const { data } = await compiledSample();
  open = await sampleGate(data);
  const config = { ...tinyConfig(data), rateLimit: UNITS_A_SECOND, trustedProxy: '127.0.0.1' };
  limited = await startGatekeeper(config, { clock: () => NOW_MS, log: () => undefined });
});
afterAll(async () => {
  await Promise.all([open.close(), limited.close()]);
  removeFolders();
});

const call = (given: object): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'find_signal', arguments: given },
});
const batchOf = (given: object): string => JSON.stringify(Array(20).fill(call(given)));

interface ToolReply {
  readonly result: {
    readonly isError: boolean;
    readonly content: readonly [{ readonly text: string }];
    readonly structuredContent?: { readonly signals: readonly unknown[] };
  };
}

async function tools(body: string, at = open, client = '9.9.9.9'): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': client };
  return fetch(`${at.url}/mcp`, { method: 'POST', headers, body });
}

describe('I54: a batch of tool calls', () => {
  it('answers at most a megabyte, and says of each call beyond it what to send instead', async () => {
    const text = await (await tools(batchOf({ full: true }))).text();
    expect(text.length).toBeLessThanOrEqual(FREE_BYTES_MAX);
    const reported = JSON.parse(text) as ToolReply[];
    expect(reported).toHaveLength(20);
    const refused = reported.filter(({ result }) => result.isError);
    expect(refused.length).toBeGreaterThan(0);
    for (const { result } of refused) {
      expect(result.content[0].text).toMatch(
        /^Cannot answer "find_signal": \d+ bytes, .* narrow it with industry, signal_id, entity, send it alone/,
      );
      expect(result.structuredContent).toBeUndefined();
    }
    expect(reported.filter(({ result }) => !result.isError).length).toBeGreaterThan(0);
  });

  it('gives whole answers to who asks for as much as fits', async () => {
    const reported = (await (
      await tools(batchOf({ industry: 'aviation', full: true }))
    ).json()) as ToolReply[];
    for (const { result } of reported) {
      expect(result.isError).toBe(false);
      expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
    }
  });

  it('counts each of its messages: a few of them use up what a client may', async () => {
    const statuses: number[] = [];
    for (let at = 0; at < 8; at += 1) {
      const answer = await tools(batchOf({ full: true }), limited, '5.5.5.5');
      statuses.push(answer.status);
      if (answer.status === 429) {
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
        expect(await answer.json()).toMatchObject({ retry_after_s: expect.any(Number) });
      } else await answer.arrayBuffer();
    }
    expect(statuses[0]).toBe(200);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(3);
    const other = await tools(JSON.stringify(call({ industry: 'aviation' })), limited, '5.5.5.6');
    expect(other.status).toBe(200);
  });
});

describe('I54: many bodies at once', () => {
  const CLIENTS = 1000;
  const RATE = 500;
  /** Sixteen units each. */
  const BODY = JSON.stringify({ a: 'x'.repeat(32 * 1024) });
  const HEAD = [
    'POST /verify HTTP/1.1',
    'Host: gate',
    'X-Forwarded-For: 4.4.4.4',
    'Connection: close',
    `Content-Length: ${BODY.length}`,
  ].join('\r\n');

  /** A connection whose head was sent; its body follows when it is asked for. */
  function opened(port: number): Promise<() => Promise<string | undefined>> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(`${HEAD}\r\n\r\n`));
      const chunks: Buffer[] = [];
      const answered = new Promise<string | undefined>((done) => {
        socket.on('close', () =>
          done(/^HTTP\/1\.1 (\d{3}) /.exec(String(Buffer.concat(chunks)))?.[1]),
        );
      });
      socket.on('error', reject).on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.on('ready', () => {
        resolve(() => {
          socket.write(BODY);
          return answered;
        });
      });
    });
  }

  it('of one client are judged as far as it can pay, and another client is answered', async () => {
    const gate = await tinyGate({ config: { rateLimit: RATE, trustedProxy: '127.0.0.1' } });
    try {
      const sends = await Promise.all(Array.from({ length: CLIENTS }, () => opened(gate.port)));
      // All of them are let in before the first body arrives.
      await new Promise((resolve) => setTimeout(resolve, 300));
      const answers = sends.map((send) => send());
      const polite = await fetch(`${gate.url}/verify`, {
        method: 'POST',
        headers: { 'x-forwarded-for': '4.4.4.5' },
        body: '{"a":1}',
      });
      const statuses = await Promise.all(answers);
      expect(polite.status).toBe(200);
      const judged = statuses.filter((status) => status === '200').length;
      expect(judged).toBeGreaterThan(0);
      expect(judged).toBeLessThan(CLIENTS / 2);
      expect(statuses.filter((status) => status === '429')).toHaveLength(CLIENTS - judged);
    } finally {
      await gate.close();
    }
  });
});

describe('I43: answers that nobody reads', () => {
  const request = (body: string): string =>
    `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  /** Sends everything at once, reads after a while, and says what came. */
  function readLate(bytes: string, waitMs: number): Promise<string> {
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      const socket = connect(Number(new URL(open.url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
      socket.write(bytes);
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.pause();
      setTimeout(() => socket.resume(), waitMs);
      setTimeout(() => socket.destroy(), waitMs + 2000);
    });
  }

  it('end with a refusal on their connection, long before all of them are made', async () => {
    const many = 60;
    const text = await readLate(request(batchOf({ full: true })).repeat(many), 1500);
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((found) => found[1]);
    expect(statuses.filter((status) => status === '200').length).toBeGreaterThan(3);
    expect(statuses.filter((status) => status === '200').length).toBeLessThan(many / 2);
    // What is still unread when the connection ends may be lost with it, also the words of the refusal.
    if (statuses.includes('503')) expect(text).toContain('Earlier answers are unread');
    expect(text.length).toBeLessThan((many / 2) * FREE_BYTES_MAX);
  });

  it('are sent one after the other to who reads them', async () => {
    for (let at = 0; at < 12; at += 1) {
      const answer = await tools(batchOf({ full: true }));
      expect(answer.status).toBe(200);
      await answer.arrayBuffer();
    }
  });
});

describe('I46: a flood of 422', () => {
  const ask = (target: string, headers: Record<string, string>): Promise<Response> =>
    fetch(limited.url + target, { headers });

  it('is refused, and a buyer beside it is served all the time', async () => {
    const flood = Array.from({ length: 400 }, (_, at) => at);
    const statuses: number[] = [];
    let running = true;
    const buying = buyer(() => running);
    for (let at = 0; at < flood.length; at += 50) {
      const some = flood.slice(at, at + 50).map(async (n) => {
        const target = `/gauge?signal_id=airquality.aqi&entity=nobody-${n}-${'x'.repeat(50)}`;
        const { status } = await ask(target, { 'x-forwarded-for': '6.6.6.6' });
        statuses.push(status);
      });
      await Promise.all(some);
    }
    running = false;
    expect(statuses.filter((status) => status === 422).length).toBeGreaterThanOrEqual(30);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(50);
    const bought = await buying;
    expect(bought.length).toBeGreaterThan(0);
    expect(new Set(bought)).toEqual(new Set([200]));
  });

  /** Buys one record after the other, each after its 402; the statuses of what was paid for. */
  async function buyer(goesOn: () => boolean): Promise<number[]> {
    const wallet = payer(NETWORK);
    const from = { 'x-forwarded-for': '7.7.7.7' };
    const statuses: number[] = [];
    while (goesOn() || statuses.length < 3) {
      const offer = await ask(`/gauge?${PAIR}`, from);
      expect(offer.status).toBe(402);
      const { accepts } = (await offer.json()) as { accepts: readonly [RequirementsV1] };
      const header = await wallet.header(accepts[0]);
      statuses.push((await ask(`/gauge?${PAIR}`, { ...from, 'x-payment': header })).status);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    return statuses;
  }
});
