import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/catalog/builtin.ts';
import type { Config } from '../../../gatekeeper/settings/config.ts';
import { operationNames } from '../../../gatekeeper/settings/instruments.ts';
import { metricsEndpoint } from '../../../gatekeeper/settings/open-metrics.ts';
import type { Facilitator, SettleOutcome } from '../../../gatekeeper/settle/facilitator.ts';
import { headerFacts } from '../../../gatekeeper/wire/header-facts.ts';
import { built } from '../../command-runs.ts';
import { TIDES } from '../../tide-shop.ts';
import { type Sample, samplesIn, sampleValue } from '../logged-service.ts';
import { rawHttp, rawRequest, stub } from '../raw-http.ts';
import { paymentAt, type TinyGate, tinyGate } from '../tiny-gate.ts';
import { tinyData } from '../tiny-release.ts';

describe('metrics', () => {
  const TOKEN = 'metrics-token-'.padEnd(40, 'x');
  const AUTH = { authorization: `Bearer ${TOKEN}` };
  const PAID = '/gauge?entity=us-denver&signal_id=airquality.aqi';
  const HERE = { address: null, token: TOKEN };
  const OWN = { address: { host: '127.0.0.1', port: 0 }, token: null };

  const open: TinyGate[] = [];
  afterEach(async () => {
    for (const gate of open.splice(0)) await gate.close();
  });

  async function gateWith(
    metrics: Config['metrics'],
    more: Parameters<typeof tinyGate>[0] = {},
  ): Promise<TinyGate> {
    const gate = await tinyGate({ ...more, config: { ...more.config, metrics } });
    open.push(gate);
    return gate;
  }

  /** Where the log says that the metrics are. */
  function ownUrl({ logged }: TinyGate): string {
    return String(logged.find(({ event }) => event === 'started')?.metrics);
  }

  async function scraped(gate: TinyGate): Promise<Sample[]> {
    const answer = await fetch(`${gate.url}/metrics`, { headers: AUTH });
    expect(answer.status).toBe(200);
    return samplesIn(await answer.text());
  }

  async function buy(gate: TinyGate): Promise<number> {
    const header = await paymentAt(gate.url + PAID);
    return (await fetch(gate.url + PAID, { headers: { 'x-payment': header } })).status;
  }

  /** Settles as it is told. */
  function facilitatorThat(settles: { outcome: SettleOutcome }): Facilitator {
    return {
      verify: async () => ({ verdict: 'valid' }),
      settle: async () => settles.outcome,
      supported: async () => ({ verdict: 'supported', kinds: [] }),
    };
  }

  describe('/metrics at the address of the service', () => {
    it('is shown to whoever knows the token, and to nobody else', async () => {
      const gate = await gateWith(HERE);
      expect((await fetch(`${gate.url}/metrics`, { headers: AUTH })).status).toBe(200);
      expect((await fetch(`${gate.url}/metrics?x=1`, { headers: AUTH })).status).toBe(200);
      for (const headers of [{}, { authorization: `Bearer ${TOKEN}x` }]) {
        const answer = await fetch(`${gate.url}/metrics`, { headers });
        expect([answer.status, await answer.text()]).toEqual([
          401,
          expect.not.stringContaining('signalpress_'),
        ]);
      }
    });

    it.each([
      ['nobody asked for metrics', null],
      ['they have an address of their own', OWN],
    ])('is unknown where %s', async (_, metrics) => {
      const gate = await gateWith(metrics);
      expect((await fetch(`${gate.url}/metrics`, { headers: AUTH })).status).toBe(404);
    });

    it('is read while a crowd of the same address is told to wait; a guess is not', async () => {
      const gate = await gateWith(HERE, { config: { rateLimit: 1 } });
      const statuses = [];
      for (let asked = 0; asked < 5; asked += 1) {
        statuses.push((await fetch(`${gate.url}/gauge/sample`)).status);
      }
      expect(statuses).toContain(429);
      expect((await fetch(`${gate.url}/metrics`)).status).toBe(429);
      const samples = await scraped(gate);
      expect(sampleValue(samples, 'signalpress_limited_total', { limit: 'rate' })).toBeGreaterThan(
        1,
      );
    });

    it('I49: leaves its token in no line of the log', async () => {
      const gate = await gateWith(HERE);
      await scraped(gate);
      expect(JSON.stringify(gate.logged)).not.toContain(TOKEN);
      expect(gate.logged[0]).toMatchObject({ settings: { metrics: null, metrics_token: 'set' } });
    });
  });

  describe('/metrics at an address of their own', () => {
    it('is read there alone, by programs of this machine', async () => {
      const gate = await gateWith(OWN);
      const url = ownUrl(gate);
      const answer = await fetch(url);
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([
        200,
        null,
      ]);
      expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
      const samples = samplesIn(await answer.text());
      expect(sampleValue(samples, 'signalpress_state', { state: 'serves' })).toBe(1);
      expect((await fetch(new URL('/', url))).status).toBe(404);
      expect((await fetch(url, { method: 'POST' })).status).toBe(405);
      const head = await fetch(url, { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
    });

    it('is not read by a page of the web whose name points here', async () => {
      const gate = await gateWith(OWN);
      const { port } = new URL(ownUrl(gate));
      const asked = rawRequest('/metrics', ['Host: page.example']);
      expect((await rawHttp(Number(port), asked)).text).toMatch(/^HTTP\/1\.1 403 /);
    });

    it('asks for the token where one is set', async () => {
      const gate = await gateWith({ ...OWN, token: TOKEN });
      const url = ownUrl(gate);
      expect((await fetch(url)).status).toBe(401);
      expect((await fetch(url, { headers: AUTH })).status).toBe(200);
    });

    it('ends with the gatekeeper', async () => {
      const gate = await tinyGate({ config: { metrics: OWN } });
      const url = ownUrl(gate);
      expect((await fetch(url)).status).toBe(200);
      await gate.close();
      await expect(fetch(url)).rejects.toThrow();
    });

    it('keeps the gatekeeper from starting where somebody else listens', async () => {
      const { port, close } = await stub();
      const metrics = { address: { host: '127.0.0.1', port }, token: null };
      await expect(tinyGate({ config: { metrics } })).rejects.toThrow(
        `Cannot start: SIGNALPRESS_METRICS "127.0.0.1:${port}": taken by another process; stop it, or set`,
      );
      await close();
    });
  });

  describe('the metrics', () => {
    it('count answers by operation and status', async () => {
      const gate = await gateWith(HERE);
      await fetch(`${gate.url}/gauge/sample`);
      await fetch(`${gate.url}/gauge/sample`);
      await fetch(gate.url + PAID);
      await fetch(`${gate.url}/nowhere`);
      await fetch(`${gate.url}/healthz`);
      const samples = await scraped(gate);
      const count = (operation: string, status: string) =>
        sampleValue(samples, 'signalpress_answers_total', { operation, status });
      expect(count('/gauge/sample', '200')).toBe(2);
      expect(count('/gauge', '402')).toBe(1);
      expect(count('unknown', '404')).toBe(1);
      expect(count('/healthz', '200')).toBe(1);
      expect(count('/gauge', '200')).toBeUndefined();
      const cache = { cache: 'ready', outcome: 'hit' };
      expect(sampleValue(samples, 'signalpress_cache_look_ups_total', cache)).toBe(1);
      expect(sampleValue(samples, 'signalpress_answer_seconds_count', { kind: 'price' })).toBe(1);
    });

    it('count a scrape once, however many read at once', async () => {
      const gate = await gateWith(HERE);
      await fetch(`${gate.url}/gauge/sample`);
      const all = await Promise.all(Array.from({ length: 20 }, () => scraped(gate)));
      const labels = { operation: '/gauge/sample', status: '200' };
      for (const samples of [...all, await scraped(gate)]) {
        expect(sampleValue(samples, 'signalpress_answers_total', labels)).toBe(1);
      }
    });

    it('tell the stages of a purchase, and how payments ended', async () => {
      const settles: { outcome: SettleOutcome } = {
        outcome: { verdict: 'settled', transaction: '0x1' },
      };
      const facilitator = facilitatorThat(settles);
      const gate = await gateWith(HERE, { facilitator, config: { verifyFirst: true } });
      expect(await buy(gate)).toBe(200);
      settles.outcome = { verdict: 'refused', reason: 'insufficient_funds' };
      expect(await buy(gate)).toBe(402);
      settles.outcome = { verdict: 'none', detail: 'no answer' };
      expect(await buy(gate)).toBe(503);
      gate.now += 90_000;
      const samples = await scraped(gate);
      const stages = ['check', 'answer', 'verify', 'claim', 'settle'];
      for (const stage of stages) {
        expect(sampleValue(samples, 'signalpress_purchase_stage_seconds_count', { stage })).toBe(3);
      }
      for (const state of ['settled', 'refused', 'unknown']) {
        const ended = (network: string) =>
          sampleValue(samples, 'signalpress_payments_concluded_total', { state, network });
        expect([ended('base-sepolia'), ended('base')]).toEqual([1, undefined]);
      }
      for (const verdict of ['settled', 'refused', 'none']) {
        const labels = { facilitator: 'given', call: 'settle', verdict };
        expect(sampleValue(samples, 'signalpress_facilitator_calls_total', labels)).toBe(1);
      }
      expect(sampleValue(samples, 'signalpress_answer_seconds_count', { kind: 'sale' })).toBe(1);
      expect(sampleValue(samples, 'signalpress_journal_sync_seconds_count')).toBeGreaterThan(3);
      expect(sampleValue(samples, 'signalpress_open_payments', { state: 'unknown' })).toBe(1);
      expect(sampleValue(samples, 'signalpress_oldest_open_payment_seconds')).toBe(90);
    });

    it('say which facilitators are asked, by their hosts and never by their paths', async () => {
      const facilitatorUrls = ['http://127.0.0.1:9/path-key', 'http://127.0.0.1:9/other-key'];
      const config = { facilitatorUrls, payTo: `0x${'ab'.repeat(20)}` };
      const gate = await gateWith(HERE, { config });
      const samples = await scraped(gate);
      for (const facilitator of ['127.0.0.1:9', '127.0.0.1:9 (2)']) {
        for (const [state, value] of Object.entries({ closed: 1, suspect: 0, open: 0 })) {
          const labels = { facilitator, state };
          expect(sampleValue(samples, 'signalpress_facilitator_circuit', labels)).toBe(value);
        }
      }
      expect(JSON.stringify(samples)).not.toContain('-key');
    });

    it('tell what is served, and when it becomes stale', async () => {
      const gate = await gateWith(HERE);
      const samples = await scraped(gate);
      expect(sampleValue(samples, 'signalpress_release_sequence')).toBe(1);
      expect(sampleValue(samples, 'signalpress_release_valid_seconds')).toBeUndefined();
      const age = sampleValue(samples, 'signalpress_release_age_seconds') ?? 0;
      gate.now += 60_000;
      expect(sampleValue(await scraped(gate), 'signalpress_release_age_seconds')).toBe(age + 60);
      expect(sampleValue(samples, 'signalpress_connections')).toBeGreaterThan(0);
    });
  });

  const scrape = (authorization: string | null, target = '/metrics') => {
    const sent = authorization === null ? [] : ['Authorization', authorization];
    return { target, facts: headerFacts(['Host', 'gate', ...sent]) };
  };
  const shown = { contentType: 'text/plain', text: async () => 'a 1\n' };

  describe('metricsEndpoint()', () => {
    it('shows the metrics to whoever knows the token', async () => {
      const endpoint = metricsEndpoint(shown, TOKEN);
      expect(endpoint.isScrape(scrape(`Bearer ${TOKEN}`))).toBe(true);
      expect(endpoint.isScrape(scrape(`Bearer ${TOKEN}`, '/metricsx'))).toBe(false);
      const { status, body } = await endpoint.reply('GET', `Bearer ${TOKEN}`);
      expect([status, String(body)]).toEqual([200, 'a 1\n']);
    });

    it.each([null, '', TOKEN, 'Bearer ', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`, `bearer ${TOKEN}`])(
      'shows nothing to %j, and asks for the token',
      async (authorization) => {
        const endpoint = metricsEndpoint(shown, TOKEN);
        expect(endpoint.isScrape(scrape(authorization))).toBe(false);
        const { status, headers, body } = await endpoint.reply('GET', authorization);
        expect(status).toBe(401);
        expect(Object.fromEntries(headers)).toMatchObject({
          'www-authenticate': 'Bearer realm="metrics"',
          'cache-control': 'no-store',
        });
        expect(String(body)).not.toContain(TOKEN);
      },
    );

    it('shows them to everybody where no token is set', async () => {
      expect((await metricsEndpoint(shown, null).reply('GET', null)).status).toBe(200);
    });

    it('takes no other method', async () => {
      const { status, headers } = await metricsEndpoint(shown, null).reply('POST', null);
      expect([status, Object.fromEntries(headers).allow]).toEqual([405, 'GET, HEAD']);
    });
  });

  const HASH = `sha256:${'ab'.repeat(32)}`;

  describe('operationNames()', () => {
    it.each([
      ['/gauge', 200, '/gauge'],
      ['/gauge', 402, '/gauge'],
      [`/v/${HASH}`, 200, '/v/:record_hash'],
      ['/healthz', 200, '/healthz'],
      ['/metrics', 200, '/metrics'],
      ['/llms.txt', 200, 'file'],
      ['/log/tile/0/000', 304, 'file'],
      ['/nowhere', 404, 'unknown'],
      ['/nowhere', 405, 'unknown'],
      ['(refused)', 429, 'refused'],
      ['(refused target)', 400, 'refused'],
    ])('names %s with %i "%s"', (path, status, operation) => {
      expect(operationNames(() => BUILTIN)(path, status)).toBe(operation);
    });

    it('names the bundles of the catalogue that is served, and no others', () => {
      const operations = operationNames(() => TIDES);
      expect(operations('/gauge/tide-region', 402)).toBe('/gauge/tide-region');
      expect(operations('/gauge/environment-region', 404)).toBe('unknown');
    });

    it('makes no name of what strangers ask, however many they are', () => {
      const operations = operationNames(() => BUILTIN);
      const names = new Set<string>();
      for (let at = 0; at < 20_000; at += 1) {
        names.add(operations(`/made-up/${at}`, 404));
        names.add(operations(`/v/${at}`, 422));
        names.add(operations(`/log/tile/0/${at}`, 200));
      }
      expect([...names].sort()).toEqual(['/v/:record_hash', 'file', 'unknown']);
    });
  });

  const ROOT = join(import.meta.dirname, '../../../gatekeeper');
  const SOURCES = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );

  /** Files that load a module as soon as they are loaded; types are gone by then. */
  function loadersOf(name: string): string[] {
    const loads = new RegExp(`^import (?!type )[^;]*from '[^']*${name}';`, 'm');
    return SOURCES.filter((path) => loads.test(readFileSync(join(ROOT, path), 'utf8')));
  }

  describe('the library of metrics', () => {
    it('is loaded by nothing that a start without metrics loads', () => {
      expect(loadersOf('prom-client')).toEqual(['settings/instruments.ts']);
      expect(loadersOf('/instruments.ts')).toEqual(['settings/open-metrics.ts']);
      expect(loadersOf('/open-metrics.ts')).toEqual([]);
      expect(readFileSync(join(ROOT, 'rooms.ts'), 'utf8')).toContain(
        "() => import('./settings/open-metrics.ts')",
      );
    });

    it('would be seen where it is loaded', () => {
      expect(loadersOf('/metered.ts')).toContain('heart/payment/open-payment-services.ts');
    });
  });
});

describe('metrics of several workers (needs a build)', () => {
  const MAIN = 'gatekeeper/signalpress-gate.js';
  const TRIES = 20;
  const ASKED_MAX = 1000;

  const running = new Set<ChildProcess>();
  afterEach(() => {
    for (const child of running) child.kill('SIGKILL');
    running.clear();
  });

  function listening(port: number): Promise<Server | null> {
    const server = createServer();
    return new Promise((done) => {
      server.once('error', () => done(null));
      server.listen(port, '127.0.0.1', () => done(server));
    });
  }

  /** The first of two ports in a row that nobody listens at. */
  async function freePair(): Promise<number> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const first = await listening(0);
      if (first === null) continue;
      const { port } = first.address() as AddressInfo;
      const second = await listening(port + 1);
      first.close();
      second?.close();
      if (second !== null) return port;
    }
    throw new Error('no two ports in a row are free');
  }

  async function answersAt(port: number): Promise<number | null> {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
      const labels = { operation: '/gauge/sample', status: '200' };
      const samples = samplesIn(await answer.text());
      if (sampleValue(samples, 'signalpress_connections') === undefined) return null;
      return sampleValue(samples, 'signalpress_answers_total', labels) ?? 0;
    } catch {
      return null;
    }
  }

  it('stand at a port of each, and add up to what was answered', async () => {
    const dataDir = tinyData();
    const port = await freePair();
    const env = {
      SIGNALPRESS_DATA: dataDir,
      SIGNALPRESS_PORT: '0',
      SIGNALPRESS_TEST_PAYMENTS: '1',
      SIGNALPRESS_WORKERS: '2',
      SIGNALPRESS_METRICS: `127.0.0.1:${port}`,
    };
    const cwd = mkdtempSync(join(tmpdir(), 'signalpress-run-'));
    const child = spawn(process.execPath, [built(MAIN)], { cwd, env });
    running.add(child);
    let output = '';
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    const places = [port, port + 1];
    const all = () => Promise.all(places.map(answersAt));
    for (let tries = 0; tries < 400 && (await all()).includes(null); tries += 1) await pause(50);
    const url = /listens on (\S+)/.exec(output)?.[1];
    // Which of them takes a connection is up to the system, so it is asked until each had one.
    let [asked, counts] = [0, [0, 0]];
    while (Math.min(...counts) === 0 && asked < ASKED_MAX) {
      const some = Array.from({ length: 20 }, async () => {
        const answer = await fetch(`${url}/gauge/sample`, { headers: { connection: 'close' } });
        await answer.text();
      });
      await Promise.all(some);
      asked += some.length;
      counts = (await all()) as number[];
      expect(counts.reduce((sum, count) => sum + count)).toBe(asked);
    }
    expect(Math.min(...counts)).toBeGreaterThan(0);
    child.kill('SIGTERM');
  });
});
