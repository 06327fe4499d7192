import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TEST_PAYEE } from '../../../gatekeeper/settings/settings.ts';
import { NETWORKS } from '../../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../../gatekeeper/settle/payment.ts';
import { payer } from '../payer.ts';
import { halfClosed, rawAnswers, rawHttp, rawRequest } from '../raw-http.ts';
import { BUYER_ADDRESS, type TinyGate, tinyGate } from '../tiny-gate.ts';
import { tinyBytesAt, tinyFiles } from '../tiny-release.ts';

const PAID = '/gauge?signal_id=airquality.aqi&entity=us-chicago';
const STORED = 'record/airquality.aqi/us-chicago.json';
const NETWORK = NETWORKS['base-sepolia'];

let gate: TinyGate;
beforeAll(async () => {
  gate = await tinyGate();
});
afterAll(async () => {
  await gate.close();
});

interface ChallengeBody {
  readonly accepts: readonly [RequirementsV1];
}

async function json(response: Response): Promise<ChallengeBody> {
  return (await response.json()) as ChallengeBody;
}

/** An X-PAYMENT for a target, signed against its own challenge. */
async function paymentFor(target: string): Promise<string> {
  const challenge = await json(await fetch(gate.url + target));
  return payer(NETWORK).header(challenge.accepts[0]);
}

describe('I6: a paid path without a payment', () => {
  const canaries = windows(tinyFiles().get(STORED) ?? Buffer.alloc(0));

  /** Pieces of the bought body that nothing free holds. */
  function windows(body: Buffer): string[] {
    const text = body.toString('latin1');
    return Array.from({ length: text.length - 24 }, (_, at) => text.slice(at, at + 24)).filter(
      (piece) =>
        /paid words|us-chicago: |canary|"aqi_index":61|record_hash":"sha256:[1-9a-f]/.test(piece),
    );
  }

  const hidden = [...new Set(canaries.flatMap(inOtherLetters))];

  /** A piece as it is, in hex, backwards, in JSON, in a URL and in base64; one of all windows stands where base64 begins again. */
  function inOtherLetters(piece: string): string[] {
    const bytes = Buffer.from(piece, 'latin1');
    const [hex, backwards] = [bytes.toString('hex'), [...piece].reverse().join('')];
    const escaped = [JSON.stringify(piece).slice(1, -1), encodeURIComponent(piece)];
    const base64 = [bytes.toString('base64'), bytes.toString('base64url')];
    return [piece, hex, hex.toUpperCase(), backwards, ...escaped, ...base64];
  }

  const targets = [
    PAID,
    `http://evil.example${PAID}`,
    `//evil.example${PAID}`,
    PAID.replace('/gauge', '/GAUGE'),
    PAID.replace('/gauge', '/gauge/'),
    PAID.replace('/gauge', '//gauge'),
    PAID.replace('/gauge', '/%67auge'),
    PAID.replace('/gauge', '/gauge%2F'),
    PAID.replace('/gauge', '/gauge;x=1'),
    PAID.replace('/gauge', '/./gauge'),
    PAID.replace('/gauge', '/x/../gauge'),
    PAID.replace('/gauge', '/gauge%00'),
    '/record/airquality.aqi/us-chicago.json',
    '/record%2Fairquality.aqi%2Fus-chicago.json',
    '/current/record/airquality.aqi/us-chicago.json',
    '/dist-data/current/release.json',
    '/index/catalog.txt',
    '/files.txt',
    '/gauge/sample?signal_id=../../record/airquality.aqi/us-chicago',
    '/gauge/sample?signal_id=..%2F..%2Frecord%2Fairquality.aqi%2Fus-chicago',
    '/gauge/raw?signal_id=hydrology.river-level&entity=..%2F..%2F..%2Frecord%2Fairquality.aqi%2Fus-chicago',
  ];
  const disguises = [
    [],
    ['Range: bytes=0-10'],
    ['Range: bytes=0-10', 'If-Range: "x"'],
    ['If-None-Match: *'],
    ['If-Match: *'],
    ['If-Modified-Since: Sat, 21 Nov 2026 11:00:00 GMT'],
    ['Accept-Encoding: gzip, br'],
    ['Accept: text/html'],
    ['X-HTTP-Method-Override: GET', 'X-Original-URL: /gauge/sample'],
    ['X-Rewrite-URL: /gauge', 'X-Forwarded-Prefix: /gauge'],
    ['X-x402-pending-settlement: 1', 'X-PAYMENT-RESPONSE: AAAA'],
    ['X-PAYMENT: '],
    ['X-PAYMENT: null'],
    ['X-PAYMENT: e30='],
    ['PAYMENT-SIGNATURE: e30='],
    ['X-PAYMENT: e30=', 'X-PAYMENT: e30='],
    ['Authorization: Bearer x'],
  ];
  const methods = [
    'GET',
    'HEAD',
    'OPTIONS',
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'TRACE',
    'PROPFIND',
    'M-SEARCH',
  ];

  it.each(methods)('gives nothing away to %s, whatever target and headers', async (method) => {
    const searched = new Set<string>();
    for (const target of targets) {
      const answers = await Promise.all(
        disguises.map((lines) => rawHttp(gate.port, rawRequest(target, lines, method))),
      );
      for (const { text: whole, statuses } of answers) {
        expect(statuses).toHaveLength(1);
        expect([200, 206, 304]).not.toContain(statuses[0]);
        const text = whole.replace(/^date: .*$/im, '');
        if (searched.has(text)) continue;
        searched.add(text);
        expect(hidden.filter((piece) => text.includes(piece))).toEqual([]);
        expect(text).not.toMatch(
          /^(etag|last-modified|content-range|content-encoding|(content-|repr-)?digest):/im,
        );
      }
    }
  });

  it('would be seen: the bought body holds the canaries', async () => {
    const headers = { 'x-payment': await paymentFor(PAID) };
    const bought = await (await fetch(gate.url + PAID, { headers })).text();
    expect(canaries.length).toBeGreaterThan(100);
    expect(canaries.filter((piece) => !bought.includes(piece)).length).toBeLessThan(40);
    const seen = (text: string): boolean => hidden.some((piece) => text.includes(piece));
    const bytes = Buffer.from(bought, 'latin1');
    for (const cut of [0, 1, 2]) {
      expect(seen(bytes.subarray(cut).toString('base64'))).toBe(true);
      expect(seen(bytes.subarray(cut).toString('base64url'))).toBe(true);
    }
    for (const text of [bytes.toString('hex'), encodeURIComponent(bought), JSON.stringify(bought)])
      expect(seen(text)).toBe(true);
    expect(seen('no words of a record')).toBe(false);
    expect(methods.length * targets.length * disguises.length).toBeGreaterThan(3000);
  });

  it('HEAD is the unpaid GET without its body', async () => {
    const get = await fetch(gate.url + PAID);
    const head = await fetch(gate.url + PAID, {
      method: 'HEAD',
      headers: { 'x-payment': await paymentFor(PAID) },
    });
    expect(head.status).toBe(402);
    expect(await head.text()).toBe('');
    const shown = (response: Response): unknown =>
      [...response.headers].filter(
        ([name]) => !/^(date|connection|x-request-id|keep-alive|payment-required)$/.test(name),
      );
    expect(shown(head)).toEqual(shown(get));
    // Each has a message of its own to sign in with.
    const required = 'payment-required';
    expect(head.headers.get(required)).toHaveLength(get.headers.get(required)?.length ?? 0);
  });
});

describe('a purchase over the wire', () => {
  it('is a 402, then the body with its receipt, then the same again', async () => {
    const header = await paymentFor(PAID);
    const buy = (): Promise<Response> =>
      fetch(gate.url + PAID, { headers: { ...BUYER_ADDRESS, 'x-payment': header } });
    const first = await buy();
    expect(first.status).toBe(200);
    expect(first.headers.get('cache-control')).toBe('private, no-store');
    expect(first.headers.get('etag')).toBeNull();
    const receipt = Buffer.from(first.headers.get('x-payment-response') ?? '', 'base64');
    expect(JSON.parse(receipt.toString())).toMatchObject({
      success: true,
      network: 'base-sepolia',
    });
    const body = await first.text();
    expect(JSON.parse(body)).toMatchObject({
      entity: 'us-chicago',
      provenance: { freshness: 'fresh' },
    });
    const second = await buy();
    expect([second.status, await second.text()]).toEqual([200, body]);
    expect(gate.logged.at(-1)).toMatchObject({
      path: '/gauge',
      status: 200,
      payer: expect.any(String),
    });
  });

  it('I5: a payment for one request opens no other', async () => {
    const header = await paymentFor(PAID);
    await fetch(gate.url + PAID, { headers: { 'x-payment': header } });
    const other = PAID.replace('us-chicago', 'us-denver');
    const answer = await fetch(gate.url + other, { headers: { 'x-payment': header } });
    expect(answer.status).toBe(402);
  });

  it('goes to the payee that the challenge named, in its case', async () => {
    const challenge = await json(await fetch(gate.url + PAID));
    expect(challenge.accepts[0]).toMatchObject({ payTo: TEST_PAYEE, asset: NETWORK.asset });
    expect(challenge.accepts[0].resource).toBe(
      'https://records.example/gauge?entity=us-chicago&signal_id=airquality.aqi',
    );
  });

  it('I49: leaves no signature and no query in the log', async () => {
    const header = await paymentFor(PAID);
    await fetch(`${gate.url}${PAID}&token=secret-token`, { headers: { 'x-payment': header } });
    const signature = JSON.parse(Buffer.from(header, 'base64').toString()).payload.signature;
    const log = JSON.stringify(gate.logged);
    for (const secret of [header, signature, 'secret-token', 'us-chicago&']) {
      expect(log).not.toContain(secret);
    }
  });
});

describe('names of requests, tags and sizes', () => {
  it.each(['/gauge', '/gauge/sample', '/nowhere', '/gauge?a=%', '/llms.txt', '/gauge/verify'])(
    '%s is answered and logged under the name that its sender gave it',
    async (target) => {
      for (const id of ['from-a-proxy.1', 'from-a-proxy.2']) {
        const { headers } = await fetch(gate.url + target, { headers: { 'x-request-id': id } });
        expect(headers.get('x-request-id')).toBe(id);
        expect(gate.logged.at(-1)).toMatchObject({ id });
      }
    },
  );

  it.each([{}, { 'x-request-id': 'two words' }, { 'x-request-id': 'x'.repeat(65) }])(
    'a request with %j gets a name of its own',
    async (headers) => {
      const names = [];
      for (let asked = 0; asked < 3; asked += 1) {
        const answer = await fetch(`${gate.url}/gauge/sample`, { headers });
        names.push(answer.headers.get('x-request-id'));
        expect(gate.logged.at(-1)).toMatchObject({ id: names.at(-1) });
      }
      expect(new Set(names).size).toBe(3);
      for (const name of names) expect(name).toMatch(/^[0-9a-f]{8}-[0-9a-z]+$/);
    },
  );

  it('an unchanged answer carries the name of its own request', async () => {
    const first = await fetch(`${gate.url}/gauge/sample`);
    const etag = first.headers.get('etag') ?? '';
    const headers = { 'if-none-match': etag, 'x-request-id': 'again' };
    const { status, headers: answered } = await fetch(`${gate.url}/gauge/sample`, { headers });
    expect([status, answered.get('x-request-id')]).toEqual([304, 'again']);
  });

  it('health probes are not logged', async () => {
    const before = gate.logged.length;
    expect((await fetch(`${gate.url}/healthz`)).status).toBe(200);
    expect(gate.logged).toHaveLength(before);
    await fetch(`${gate.url}/gauge/sample`);
    expect(gate.logged).toHaveLength(before + 1);
  });

  it('answers 304 to a tag that still holds and 200 once the answer is of another second', async () => {
    const first = await fetch(`${gate.url}/gauge/sample`);
    const tag = first.headers.get('etag') ?? '';
    const ask = (value: string): Promise<Response> =>
      fetch(`${gate.url}/gauge/sample`, { headers: { 'if-none-match': value } });
    for (const value of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
      const again = await ask(value);
      expect([again.status, await again.text()]).toEqual([304, '']);
      expect(again.headers.get('etag')).toBe(tag);
      expect(again.headers.get('content-type')).toBeNull();
    }
    expect((await ask('"x"')).status).toBe(200);
    const before = gate.now;
    gate.now = before + 5 * 3_600_000;
    const later = await ask(tag);
    gate.now = before;
    expect(later.status).toBe(200);
    expect(await later.json()).toMatchObject({ sample: { provenance: { freshness: 'recent' } } });
  });

  it('tells at /healthz what is served', async () => {
    expect(await (await fetch(`${gate.url}/healthz`)).json()).toMatchObject({
      status: 'ready',
      release: { sequence: 1, age_s: 3600 },
      facilitator: expect.stringContaining('test'),
    });
  });

  it('I43: stays under 16 KB of headers, also for the longest target', async () => {
    const target = `${PAID}${'&'.repeat(7000)}`;
    const { text, statuses } = await rawHttp(gate.port, rawRequest(target));
    expect(statuses).toEqual([402]);
    expect(text.indexOf('\r\n\r\n')).toBeLessThan(12_000);
  });
});

describe('I42: framing', () => {
  const get = 'GET /gauge/sample HTTP/1.1\r\nHost: gate\r\n';
  it.each([
    ['2,000 headers', '', [200]],
    ['a second host behind 2,000 headers', 'Host: b\r\n', [400]],
  ])('counts bytes, not headers: %s', async (_, last, want) => {
    const bytes = `${get}${'a:\r\n'.repeat(2000)}${last}\r\n`;
    expect((await rawAnswers(gate.port, bytes, 1)).statuses).toEqual(want);
  });

  it('sells nothing for a payment header that is repeated behind 2,000 others', async () => {
    const line = `X-PAYMENT: ${await paymentFor(PAID)}`;
    const others = Array(2000).fill('a:');
    const ask = (...lines: string[]) => rawHttp(gate.port, rawRequest(PAID, lines));
    expect((await ask(line, ...others, line)).statuses).toEqual([402]);
    expect((await ask(...others, line)).statuses).toEqual([200]);
  });

  it('answers what came before a malformed request', async () => {
    const header = await paymentFor(PAID);
    const paid = `GET ${PAID} HTTP/1.1\r\nHost: gate\r\nX-PAYMENT: ${header}\r\n\r\n`;
    const { statuses } = await rawHttp(gate.port, `${paid}${get}\r\nGARBAGE\r\n\r\n`);
    expect(statuses).toEqual([200, 200]);
  });

  it('answers a client that closes its side behind its request, also what it pays for', async () => {
    const from = 'X-Forwarded-For: 203.0.113.9';
    const paid = `GET ${PAID} HTTP/1.1\r\nHost: gate\r\n${from}\r\nX-PAYMENT: ${await paymentFor(PAID)}\r\n\r\n`;
    const statuses = async (bytes: string): Promise<readonly number[]> =>
      (await halfClosed(gate.port, bytes)).statuses;
    expect(await statuses(`${get}\r\n`)).toEqual([200]);
    expect(await statuses(paid)).toEqual([200]);
    expect(await statuses(`${paid}${get}\r\n`)).toEqual([200, 200]);
    expect(await statuses('GET /gauge HTTP/1.1\r\nHo')).not.toContain(200);
    expect(await statuses('')).toEqual([]);
  });

  it('CONNECT gets nothing', async () => {
    const bytes = 'CONNECT other:443 HTTP/1.1\r\nHost: other:443\r\n\r\n';
    expect((await rawHttp(gate.port, bytes)).text).not.toContain('200');
  });

  it('I43: takes 16 KB of headers and refuses more with 431', async () => {
    const filled = (size: number): string => {
      const head = rawRequest('/gauge/sample', ['X: ']);
      return head.replace('X: ', `X: ${'x'.repeat(size - head.length)}`);
    };
    expect((await rawHttp(gate.port, filled(15_000))).statuses).toEqual([200]);
    expect((await rawHttp(gate.port, filled(17_000))).statuses).toEqual([431]);
    expect((await rawHttp(gate.port, filled(1_000_000))).statuses).toEqual([431]);
  });

  it('I43: takes a payment header of 8 KB as far as its own refusal, and no longer one', async () => {
    for (const size of [10_239, 10_240, 10_241]) {
      const lines = [`X-PAYMENT: ${'A'.repeat(size)}`];
      const { text, statuses } = await rawHttp(gate.port, rawRequest(PAID, lines));
      expect(statuses).toEqual([402]);
      expect(text.includes('longer than 10240')).toBe(size > 10_240);
    }
  });
});

describe('I24: a damaged file', () => {
  it('is a 503, is not sold, and is served again once it is whole', async () => {
    let broken = false;
    const damaged = await tinyGate({
      read: async (path, size) => {
        const bytes = Buffer.from(tinyBytesAt(path) ?? 'x');
        if (broken) bytes[size >> 1] = (bytes[size >> 1] ?? 0) ^ 1;
        return bytes;
      },
    });
    broken = true;
    const ask = (headers = {}): Promise<Response> => fetch(damaged.url + PAID, { headers });
    const header = await paymentFor(PAID);
    for (const headers of [{}, { 'x-payment': header }]) {
      const answer = await ask(headers);
      expect(answer.status).toBe(503);
      expect(await answer.text()).not.toMatch(/canary/);
    }
    expect(damaged.logged).toContainEqual(
      expect.objectContaining({ error: expect.stringContaining('hash differs') }),
    );
    broken = false;
    expect((await ask()).status).toBe(402);
    expect((await ask({ 'x-payment': header })).status).toBe(200);
    await damaged.close();
  });
});

describe('I46: a rate limit', () => {
  it('answers 429 with Retry-After and believes no forwarding header', async () => {
    const limited = await tinyGate({ config: { rateLimit: 5, trustedProxy: '' } });
    const answers: Response[] = [];
    for (let at = 0; at < 30; at += 1) {
      const headers = { 'x-forwarded-for': `10.0.0.${at}`, 'x-payment': 'AAAA' };
      answers.push(await fetch(limited.url + PAID, { headers }));
    }
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(10);
    // A loaded machine is asked for more than a second's worth.
    const wait = refused[0]?.headers.get('retry-after') ?? '';
    expect(wait).toMatch(/^[1-9]$/);
    expect(await refused[0]?.json()).toMatchObject({ retry_after_s: Number(wait) });
    await limited.close();
  });
});

describe('I47: a stop', () => {
  it('answers what is on its way, then takes nothing more', async () => {
    let release: () => void = () => undefined;
    let waiting = Promise.resolve();
    let reached: () => void = () => undefined;
    const stopping = await tinyGate({
      read: async (path) => {
        reached();
        await waiting;
        return Buffer.from(tinyBytesAt(path) ?? 'x');
      },
    });
    waiting = new Promise<void>((resolve) => {
      release = resolve;
    });
    const isReading = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const asked = fetch(`${stopping.url}/merkle/spec`);
    await isReading;
    const closed = stopping.close();
    release();
    const answer = await asked;
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    await closed;
    await expect(fetch(`${stopping.url}/merkle/spec`)).rejects.toThrow();
  });

  it('goes on serving for the time that is set, tells balancers and asks for new connections', async () => {
    const stopping = await tinyGate({ config: { drainSeconds: 1 } });
    const agent = new Agent({ keepAlive: true });
    const ask = async (target: string): Promise<readonly unknown[]> => {
      const response = await fetchOver(agent, stopping.url + target);
      return [response.statusCode, response.headers.connection];
    };
    expect(await ask('/healthz')).toEqual([200, 'keep-alive']);
    const started = performance.now();
    const closed = stopping.close();
    expect(await ask('/healthz')).toEqual([503, 'close']);
    expect(await ask('/merkle/spec')).toEqual([200, 'close']);
    await closed;
    expect(performance.now() - started).toBeGreaterThan(900);
    await expect(fetch(`${stopping.url}/merkle/spec`)).rejects.toThrow();
    agent.destroy();
  });

  it('answers what arrives on an open connection just after the port was closed', async () => {
    const stopping = await tinyGate({ config: { drainSeconds: 1 } });
    const socket = connect(stopping.port, '127.0.0.1');
    const texts: string[] = [];
    socket.on('data', (piece) => texts.push(String(piece)));
    const request = 'GET /merkle/spec HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
    socket.write(request);
    await vi.waitFor(() => expect(texts.join('')).toContain('200 OK'));
    texts.length = 0;
    const closed = stopping.close();
    await vi.waitFor(() => expect(fetch(`${stopping.url}/healthz`)).rejects.toThrow(), 3000);
    const ended = new Promise((resolve) => socket.on('close', resolve));
    socket.write(request);
    await Promise.all([closed, ended]);
    expect(texts.join('')).toMatch(/200 OK[\s\S]*connection: close/i);
  });
});

/** One request over the connections of an agent. */
function fetchOver(agent: Agent, url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume().on('end', () => resolve(response));
    }).on('error', reject);
  });
}
