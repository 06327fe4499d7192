import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Config } from '../../../gatekeeper/config/config.ts';
import type { Facilitator, SettleOutcome } from '../../../gatekeeper/money/facilitator.ts';
import { NETWORKS } from '../../../gatekeeper/money/networks.ts';
import type { RequirementsV1 } from '../../../gatekeeper/money/payment.ts';
import { payer } from '../payer.ts';
import { rawHttp, rawRequest } from '../raw-http.ts';
import { type TinyGate, tinyGate } from '../tiny-gate.ts';
import { type Sample, samplesIn, sampleValue } from './scrape.ts';

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
  const { accepts } = (await (await fetch(gate.url + PAID)).json()) as {
    accepts: [RequirementsV1];
  };
  const header = await payer(NETWORKS['base-sepolia']).header(accepts[0]);
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
    expect(sampleValue(samples, 'signalpress_limited_total', { limit: 'rate' })).toBeGreaterThan(1);
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
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, null]);
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
    const other = createServer();
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    const { port } = other.address() as AddressInfo;
    const metrics = { address: { host: '127.0.0.1', port }, token: null };
    await expect(tinyGate({ config: { metrics } })).rejects.toThrow(
      `Cannot start: SIGNALPRESS_METRICS "127.0.0.1:${port}": taken by another process; stop it, or set`,
    );
    other.close();
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
