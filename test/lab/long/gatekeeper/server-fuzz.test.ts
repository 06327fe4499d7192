import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawHttp } from '../../../gatekeeper/raw-http.ts';
import { type TinyGate, tinyGate } from '../../../gatekeeper/tiny-gate.ts';

const REQUESTS = 20_000;
const PER_CONNECTION = 200;
const BROKEN = 600;

let gate: TinyGate;
beforeAll(async () => {
  gate = await tinyGate();
});
afterAll(async () => {
  await gate.close();
});

/** The same numbers in every run. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const PIECES = [
  ...['/gauge', '/v/', '/gauge/verify', '/gauge/region', '/trust/precheck', '/manifest', '/proof/'],
  ...['/gauge/coverage', '/gauge/catalog', '/resolve', '/mcp', '/', '//', '/..', '/./', ';', ':'],
  ...['?', '&', '=', '+', '%', '%2', '%2F', '%00', '%0d%0a', '%ff', '%C3%BC', '%F0%9F%98%80', '~'],
  ...['signal_id', 'entity', 'hash', 'loc', 'dim', 'days', 'page', 'all', 'format', '__proto__'],
  ...['constructor', 'toString', 'airquality.aqi', 'us-denver', 'sha256:', 'abababab', 'AAPL'],
  ...[
    '0',
    '-1',
    '1e9',
    '99999999999999999999',
    'NaN',
    'null',
    '[]',
    '{}',
    '"',
    "'",
    '<b>',
    '|',
    '`',
  ],
  ...[
    'http://',
    'evil.example',
    '@',
    ',',
    '!',
    '$',
    '(',
    ')',
    '*',
    'x'.repeat(200),
    '[object Object]',
  ],
];
const HEADERS = [
  'X-PAYMENT: e30=',
  'X-PAYMENT: not base64',
  `X-PAYMENT: ${Buffer.from('{"x402Version":1}').toString('base64')}`,
  `PAYMENT-SIGNATURE: ${Buffer.from('{"x402Version":2,"accepted":[]}').toString('base64')}`,
  'If-None-Match: "x", W/"y", *',
  'If-None-Match: ,,,"',
  'Accept: text/html',
  'Accept: */*;q=NaN',
  'Authorization: Bearer x',
  'Range: bytes=-1',
  'X-Forwarded-For: 1.1.1.1',
  'Cookie: \xe9\xff',
  'Content-Length: 0',
];
const METHODS = ['GET', 'GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'SEARCH'];

/** A target that is well-formed HTTP and odd in every other way. */
function target(next: (below: number) => number): string {
  const pieces = Array.from({ length: 1 + next(9) }, () => PIECES[next(PIECES.length)] ?? '');
  const origin = next(10) === 0 ? 'http://evil.example' : '';
  return `${origin}/${pieces.join('').replaceAll(' ', '').slice(next(2))}`;
}

function request(next: (below: number) => number): string {
  const method = METHODS[next(METHODS.length)] ?? 'GET';
  const lines = new Set(Array.from({ length: next(3) }, () => HEADERS[next(HEADERS.length)] ?? ''));
  const head = [`${method} ${target(next)} HTTP/1.1`, 'Host: gate', ...lines, '', ''];
  return head.join('\r\n');
}

/** Bytes that may be no HTTP at all. */
function noise(next: (below: number) => number): Buffer {
  const bytes = Buffer.from(request(next), 'latin1');
  for (let flips = 1 + next(6); flips > 0; flips -= 1) bytes[next(bytes.length)] = next(256);
  return bytes;
}

describe('I40: whatever is asked', () => {
  it(`${REQUESTS} seeded requests get one answer each and no failure`, async () => {
    const next = random(20_261_121);
    const counts = new Map<number, number>();
    const started = gate.logged.length;
    for (let sent = 0; sent < REQUESTS; sent += PER_CONNECTION) {
      const batch = Array.from({ length: PER_CONNECTION }, () => request(next));
      const last = 'GET /healthz HTTP/1.1\r\nHost: gate\r\nConnection: close\r\n\r\n';
      const bytes = Buffer.from(batch.join('') + last, 'latin1');
      const { statuses, text } = await rawHttp(gate.port, bytes, 5000);
      expect(statuses).toHaveLength(PER_CONNECTION + 1);
      expect(text).not.toMatch(/\n {4}at |TypeError|RangeError|paid words about .* us-chicago/);
      for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    // 501 is what this version honestly says of paths that a later one answers.
    const failures = [...counts.keys()].filter((status) => status >= 500 && status !== 501);
    expect(failures).toEqual([]);
    expect([...counts.keys()]).toEqual(expect.arrayContaining([200, 400, 402, 404, 405, 422]));
    expect(gate.logged.slice(started).filter(({ event }) => event !== undefined)).toEqual([]);
  });

  it(`${BROKEN} requests with broken bytes leave it standing`, async () => {
    const next = random(7);
    for (let sent = 0; sent < BROKEN; sent += 50) {
      const batch = Array.from({ length: 50 }, () => rawHttp(gate.port, noise(next), 60));
      for (const { statuses } of await Promise.all(batch)) {
        expect(statuses.filter((status) => status >= 500 && status !== 501)).toEqual([]);
      }
    }
    expect((await fetch(`${gate.url}/healthz`)).status).toBe(200);
    expect(JSON.stringify(gate.logged)).not.toContain('request_failed');
  });
});
