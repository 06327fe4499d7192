import { mkdtempSync, readFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeTinyRelease } from '../gatekeeper/tiny-release.ts';
import { type Balancer, missingBalancer, startBalancer } from './balancer.ts';
import { freePorts, type GateProcess, gateProcess } from './gate-process.ts';
import { startLoad } from './load.ts';

const DRAIN_S = 3;
const BUYERS = 4;

interface Answer {
  readonly status: number;
  readonly body: string;
}

function askAt({ url, ca }: Pick<Balancer, 'url' | 'ca'>, target: string, headers = {}) {
  return new Promise<Answer>((resolve, reject) => {
    const send = url.startsWith('https:') ? request : plainRequest;
    const asked = send(url + target, { headers, ca }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      const body = (): string => Buffer.concat(pieces).toString('utf8');
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: body() }));
    });
    asked.on('error', reject).end();
  });
}

const KINDS = (['nginx', 'haproxy'] as const).map((kind) => ({
  kind,
  missing: missingBalancer(kind),
}));

describe.each(KINDS)('$kind in front of two gatekeepers', ({ kind, missing }) => {
  if (missing !== null) {
    // A balancer is a package of the system: where it cannot be had, the name of the test says which one is missing.
    it.skip(`(${missing})`, () => undefined);
    return;
  }
  let gates: readonly GateProcess[] = [];
  let balancer: Balancer;

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'signalpress-pair-'));
    const data = join(folder, 'data');
    writeTinyRelease(data);
    const env = {
      SIGNALPRESS_DATA: data,
      SIGNALPRESS_STATE: join(folder, 'state'),
      SIGNALPRESS_TEST_PAYMENTS: '1',
      SIGNALPRESS_TRUSTED_PROXY: '127.0.0.1',
      SIGNALPRESS_DRAIN_SECONDS: String(DRAIN_S),
      SIGNALPRESS_RATE_LIMIT: '0',
    };
    gates = (await freePorts(2)).map((port) => gateProcess({ port, cwd: folder, env }));
    for (const gate of gates) await gate.start();
    balancer = await startBalancer({ kind, ports: gates.map(({ port }) => port) });
  });

  afterAll(async () => {
    await balancer?.close();
    for (const gate of gates) await gate.stop('SIGKILL');
  });

  const ask = (target: string, headers = {}, url = balancer.url): Promise<Answer> =>
    askAt({ url, ca: balancer.ca }, target, headers);

  it('passes on long payment headers, and no longer ones than the gatekeeper reads', async () => {
    const target = '/gauge?entity=us-denver&signal_id=airquality.aqi';
    const long = await ask(target, { 'x-payment': 'A'.repeat(12_000) });
    expect([long.status, JSON.parse(long.body).x402Version]).toEqual([402, 1]);
    expect((await ask(target, { 'x-payment': 'A'.repeat(40_000) })).status).toBeGreaterThan(399);
  });

  it('leads plain HTTP to TLS', async () => {
    expect((await ask('/gauge/sample', {}, balancer.plainUrl)).status).toBe(308);
  });

  it.each([
    '/gauge//sample',
    '/gauge/../gauge/sample',
    '/gauge/%73ample',
    `/v/sha256%3A${'a'.repeat(64)}`,
    '/gauge?signal_id=airquality.aqi&entity=us%2Ddenver&entity=us-denver',
    '/healthz?x=%2F',
  ])('passes %s on as it is', async (target) => {
    const direct = `http://127.0.0.1:${gates[0]?.port}`;
    expect(await ask(target)).toEqual(await ask(target, {}, direct));
  });

  it('sells without one failed answer while both gatekeepers are restarted in turn', async () => {
    const load = startLoad(balancer.url, { ca: balancer.ca, buyers: BUYERS });
    await pause(500);
    for (const gate of gates) {
      expect(await gate.stop('SIGTERM')).toBe(0);
      await gate.start();
      // The balancer finds the new one before the other one goes.
      await pause(2500);
    }
    const { answers, purchases, failures } = await load.stop();
    expect(failures).toEqual([]);
    expect(purchases).toBeGreaterThan(0);
    expect(answers).toBeGreaterThanOrEqual(4 * purchases);
  });

  it('sells on when one gatekeeper is killed; what it was settling is in doubt, not refused', async () => {
    const load = startLoad(balancer.url, { ca: balancer.ca, buyers: BUYERS });
    await pause(500);
    await gates[0]?.stop('SIGKILL');
    await pause(1500);
    const { failures, purchases } = await load.stop();
    const doubts = failures.filter((words) => words.includes('503 {"error":"The outcome of your'));
    expect(failures).toEqual(doubts);
    expect(doubts.length).toBeLessThanOrEqual(2 * BUYERS);
    expect(purchases).toBeGreaterThan(0);
  });

  it('tells buyers when none is left, which the load notices', async () => {
    const load = startLoad(balancer.url, { ca: balancer.ca, buyers: 1 });
    await Promise.all(gates.map((gate) => gate.stop('SIGKILL')));
    await pause(1500);
    const { failed, failures } = await load.stop();
    expect(failed).toBeGreaterThan(0);
    expect(failures.at(-1)).toMatch(/50[234]/);
    if (kind !== 'haproxy') return;
    const { status, body } = await ask('/gauge/sample');
    expect(status).toBe(503);
    expectNoPromise(body);
  });
});

/** A gatekeeper that went away may have settled the payment before. */
function expectNoPromise(body: string): void {
  const { error, retryable } = JSON.parse(body);
  expect(retryable).toBe(true);
  expect(error).toContain('send the same one again; do not sign a new one');
  expect(error).not.toMatch(/(not|nothing|never|nobody)\b[^.]*\bcharged/i);
}

describe.skipIf(missingBalancer('haproxy') !== null)(
  'haproxy where a gatekeeper breaks off',
  () => {
    it('I9: says in JSON to send the same payment again, and never that nothing was charged', async () => {
      const broken = createServer((socket) => {
        socket.once('data', (bytes) => {
          const isCheck = String(bytes).includes('/healthz');
          socket.end(isCheck ? 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n' : 'half an ans');
        });
        socket.on('error', () => undefined);
      });
      await new Promise<void>((done) => broken.listen(0, '127.0.0.1', done));
      const { port } = broken.address() as AddressInfo;
      const balancer = await startBalancer({ kind: 'haproxy', ports: [port, port] });
      try {
        const headers = { 'x-payment': 'AAAA' };
        await expect
          .poll(async () => (await askAt(balancer, '/gauge/sample', headers)).status)
          .toBe(502);
        expectNoPromise((await askAt(balancer, '/gauge/sample', headers)).body);
      } finally {
        await balancer.close();
        broken.close();
      }
    });

    it('I9: says the same whatever went wrong', () => {
      const text = readFileSync('gatekeeper/deploy/haproxy.cfg', 'utf8');
      const said = [...text.matchAll(/http-error status (\d+) .* string '([^']*)'/g)];
      expect(said.map(([, status]) => status)).toEqual(['502', '503', '504']);
      for (const [, , body = ''] of said) expectNoPromise(body);
      expect(() => expectNoPromise(UNTRUE)).toThrow();
    });
  },
);

/** What is true only of a request that no gatekeeper ever got. */
const UNTRUE = JSON.stringify({
  error: 'Nothing was charged; send the same one again; do not sign a new one.',
  retryable: true,
});
